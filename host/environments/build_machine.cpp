#include "base/ascii.hpp"
#include "base/text.hpp"
#include "host/environments/environments.hpp"

#include <algorithm>
#include <charconv>
#include <sched.h>
#include <string_view>

namespace cudaenv::environments {

namespace {

constexpr const char* k_cgroup_root = "/sys/fs/cgroup";

std::optional<std::int64_t> number_in(std::string_view text) {
    text = trim(text);
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc() || (read.ptr != text.data() + text.size() && !is_space(*read.ptr))) {
        return std::nullopt; // "max"
    }
    return value;
}

// The number behind `name` in "name 123" lines: /proc/meminfo, memory.stat.
std::optional<std::int64_t> number_named(std::string_view text, std::string_view name) {
    for (const auto line : split(text, '\n')) {
        if (line.starts_with(name) && line.size() > name.size() && is_space(line[name.size()])) {
            return number_in(line.substr(name.size()));
        }
    }
    return std::nullopt;
}

int cores_by_affinity() {
    // The kernel refuses a set smaller than its own.
    for (int size = CPU_SETSIZE; size <= CPU_SETSIZE * 64; size *= 2) {
        cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(size));
        if (set == nullptr) {
            break;
        }
        const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(size));
        const int failed = ::sched_getaffinity(0, bytes, set);
        const int count = failed != 0 ? 0 : CPU_COUNT_S(bytes, set);
        CPU_FREE(set);
        if (count > 0) {
            return count;
        }
    }
    return 1;
}

// What the cgroups of this process, up to the root of what it sees, leave it.
class Limits {
public:
    explicit Limits(host::FileSystem& files) : m_files(&files) {
        const auto groups = files.read_file("/proc/self/cgroup");
        if (!groups) {
            return; // no cgroups, no limits
        }
        for (const auto line : split(*groups, '\n')) {
            const auto first = line.find(':');
            const auto second = first == std::string_view::npos ? first : line.find(':', first + 1);
            if (second == std::string_view::npos) {
                continue;
            }
            const auto controllers = line.substr(first + 1, second - first - 1);
            const std::string path(line.substr(second + 1));
            if (controllers.empty()) {
                // /sys/fs/cgroup/unified is where hybrid systems have version 2.
                for (const auto* root : {"", "/unified"}) {
                    walk(k_cgroup_root + std::string(root), path,
                         [this](const std::string& group) { look_at_v2(group); });
                }
                continue;
            }
            for (const auto controller : split(controllers, ',')) {
                const auto root = k_cgroup_root + ('/' + std::string(controller));
                if (controller == "cpu") {
                    walk(root, path, [this](const std::string& group) { look_at_v1_cpu(group); });
                } else if (controller == "memory") {
                    walk(root, path,
                         [this](const std::string& group) { look_at_v1_memory(group); });
                }
            }
        }
    }

    [[nodiscard]] std::optional<std::int64_t> cores() const { return m_cores; }
    [[nodiscard]] std::optional<std::int64_t> memory() const { return m_memory; }

private:
    // From the process's own group to the root. In a container the path may be the host's and not
    // be there, while the root is the container's own group.
    template <typename Look>
    static void walk(const std::string& root, std::string path, Look look) {
        while (path.ends_with('/')) {
            path.pop_back();
        }
        // "/../.." is a group outside of what is seen.
        if (path.find("/..") == std::string::npos) {
            for (; !path.empty(); path.resize(path.rfind('/'))) {
                look(root + path);
                if (path.rfind('/') == std::string::npos) {
                    break; // not absolute: nothing the kernel writes
                }
            }
        }
        look(root);
    }

    std::optional<std::int64_t> number(const std::string& path) {
        const auto text = m_files->read_file(path, 4096);
        return text ? number_in(*text) : std::nullopt;
    }

    // A quota of one and a half cores keeps two busy most of the time.
    void limit_cores(std::int64_t quota, std::int64_t period) {
        if (quota <= 0 || period <= 0) {
            return;
        }
        const std::int64_t cores = quota / period + (quota % period != 0 ? 1 : 0);
        m_cores = std::min(m_cores.value_or(cores), cores);
    }

    // Files that were read and can be dropped at once count as used; without them a machine that
    // has just compiled would seem full.
    void limit_memory(std::int64_t limit, std::optional<std::int64_t> used,
                      std::optional<std::int64_t> droppable) {
        constexpr std::int64_t k_none = std::int64_t{1} << 60; // version 1 writes 2^63 - 4096
        if (limit >= k_none || limit < 0) {
            return;
        }
        const auto held = std::max(used.value_or(0) - droppable.value_or(0), std::int64_t{0});
        const auto left = std::max(limit - held, std::int64_t{0});
        m_memory = std::min(m_memory.value_or(left), left);
    }

    std::optional<std::int64_t> droppable(const std::string& group, const char* name) {
        const auto text = m_files->read_file(group + "/memory.stat", 16384);
        return text ? number_named(*text, name) : std::nullopt;
    }

    void look_at_v2(const std::string& group) {
        if (const auto text = m_files->read_file(group + "/cpu.max", 4096)) {
            const auto blank = text->find(' '); // "50000 100000", "max 100000"
            const auto quota = number_in(std::string_view(*text).substr(0, blank));
            const auto period = blank == std::string::npos
                                    ? std::nullopt
                                    : number_in(std::string_view(*text).substr(blank + 1));
            limit_cores(quota.value_or(0), period.value_or(0));
        }
        for (const auto* name : {"/memory.max", "/memory.high"}) {
            if (const auto limit = number(group + name)) {
                limit_memory(*limit, number(group + "/memory.current"),
                             droppable(group, "inactive_file"));
            }
        }
    }

    void look_at_v1_cpu(const std::string& group) {
        limit_cores(number(group + "/cpu.cfs_quota_us").value_or(0),
                    number(group + "/cpu.cfs_period_us").value_or(0));
    }

    void look_at_v1_memory(const std::string& group) {
        if (const auto limit = number(group + "/memory.limit_in_bytes")) {
            limit_memory(*limit, number(group + "/memory.usage_in_bytes"),
                         droppable(group, "total_inactive_file"));
        }
    }

    host::FileSystem* m_files;
    std::optional<std::int64_t> m_cores;
    std::optional<std::int64_t> m_memory;
};

} // namespace

facts::BuildMachine build_machine(host::FileSystem& files) {
    facts::BuildMachine machine;
    const Limits limits(files);
    machine.cores = cores_by_affinity();
    if (limits.cores()) {
        machine.cores = static_cast<int>(
            std::clamp(*limits.cores(), std::int64_t{1}, static_cast<std::int64_t>(machine.cores)));
    }
    auto memory = limits.memory();
    if (const auto text = files.read_file("/proc/meminfo")) {
        if (const auto kib = number_named(*text, "MemAvailable:")) {
            memory = std::min(memory.value_or(*kib * 1024), *kib * 1024);
        }
    }
    if (memory) {
        machine.memory_bytes = static_cast<std::uint64_t>(*memory);
    }
    return machine;
}

} // namespace cudaenv::environments
