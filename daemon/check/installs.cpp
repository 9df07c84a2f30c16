#include "daemon/check/installs.hpp"

#include "base/file_identity.hpp"
#include "base/fingerprint.hpp"
#include "base/ranges.hpp"
#include "daemon/check/examination.hpp"

#include <algorithm>
#include <ctime>
#include <sys/stat.h>
#include <system_error>
#include <utility>
#include <vector>

namespace cudaenv::daemon {

namespace {

constexpr std::size_t k_most_looks = 64;
// After an install, which took seconds, a prompt may take this long.
constexpr std::chrono::milliseconds k_patience_after_install{150};
// So long after its last change a record that is not whole may still be written.
constexpr std::int64_t k_being_written_ns = 60'000'000'000;

std::string state_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        return "-\n";
    }
    return std::to_string(status.st_dev) + ' ' + std::to_string(status.st_ino) + ' ' +
           std::to_string(status.st_mtim.tv_sec) + ' ' + std::to_string(status.st_mtim.tv_nsec) +
           '\n';
}

// How the directories are in which records come and go.
std::string stamp_of(const Activation& activation) {
    std::string stamp = state_of(activation.project.prefix + "/conda-meta");
    if (activation.situation.environment) {
        for (const std::string& site : activation.situation.environment->site_packages) {
            stamp += state_of(site);
        }
    }
    return fingerprint(stamp);
}

bool is_being_written(const facts::Inventory& inventory) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    const std::int64_t since = nanoseconds(now) - k_being_written_ns;
    return std::ranges::any_of(inventory.distributions, [&](const facts::Distribution& one) {
        return one.kind == facts::DistributionKind::DistInfo && !one.has_record &&
               one.installed_ns > since;
    });
}

// What is unsaid and not ignored: empty where there is nothing, or where the memory cannot be
// written, so that it would be said at each prompt.
std::string unsaid_line(const Activation& activation, const memory::EnvironmentMemories& memories,
                        const std::string& stamp) {
    const std::string& prefix = activation.project.prefix;
    const memory::EnvironmentMemory memory = memories.read(prefix);
    if (memory.stamp != stamp) {
        return {};
    }
    std::vector<const memory::UnsaidFinding*> said;
    for (const memory::UnsaidFinding& one : memory.unsaid) {
        if (!is_one_of(one.code, activation.project.config.ignored_findings())) {
            said.push_back(&one);
        }
    }
    if (said.empty() || !memories.write(prefix, memory)) {
        return {};
    }
    const std::string line = said.front()->code + ' ' + said.front()->line;
    return said.size() == 1
               ? line + " · cudaenv check " + said.front()->code
               : line + ", and " + std::to_string(said.size() - 1) + " more · cudaenv check";
}

} // namespace

Installs::Outcome Installs::read(const std::string& prefix, const protocol::Caller& caller,
                                 const std::string& stamp, Machine& machine) {
    const auto examination = Examination::of(prefix, caller, machine.inventories());
    if (!examination) {
        return Outcome::Failed;
    }
    if (is_being_written((*examination)->inventory())) {
        return Outcome::BeingWritten;
    }
    memory::EnvironmentMemory memory = (*examination)->memory_now();
    memory.stamp = stamp;
    memory.unsaid.clear();
    // What is no longer found may be said again.
    const auto before = std::exchange(memory.reported, {});
    for (const rules::CheckFinding& found : (*examination)->findings()) {
        if (!found.said_at_prompt) {
            continue;
        }
        const std::string& code = found.finding.code;
        std::string key = key_of(found);
        if (is_one_of(key, before)) {
            memory.reported.push_back(std::move(key));
        } else {
            memory.unsaid.push_back({std::move(key), code, found.finding.title});
        }
    }
    return memories_of(caller).write(prefix, memory) ? Outcome::Kept : Outcome::Failed;
}

void Installs::drop_idle() {
    if (m_looks.size() > k_most_looks) {
        std::erase_if(m_looks, [](const auto& look) { return !look.second.reading.valid(); });
    }
}

InstallNews Installs::news(const Activation& activation, const protocol::Caller& caller,
                           std::chrono::milliseconds patience) {
    const std::string& prefix = activation.project.prefix;
    if (prefix.empty() || activation.disabled) {
        return {};
    }
    const bool says = activation.project.config.warns();
    const std::string stamp = stamp_of(activation);
    const memory::EnvironmentMemories memories = memories_of(caller);
    const auto now = std::chrono::steady_clock::now();
    auto until = now + (says ? patience : std::chrono::milliseconds(0));
    const std::string key = memories.directory() + '\n' + prefix;
    std::unique_lock lock(m_mutex);
    drop_idle();
    while (true) {
        Look& look = m_looks[key];
        if (!look.reading.valid()) {
            if (look.stamp != stamp) {
                look = {stamp, {}, false};
            }
            if (look.done) {
                return {};
            }
            const std::string known = memories.read(prefix).stamp;
            if (known == stamp) {
                break;
            }
            if (says && !known.empty()) { // other than before: something was installed
                until = std::max(until, now + k_patience_after_install);
            }
            try {
                look.reading =
                    std::async(std::launch::async, [prefix, caller, stamp, machine = m_machine] {
                        return read(prefix, caller, stamp, *machine);
                    }).share();
            } catch (const std::system_error&) {
                return {{}, {}, says}; // no thread to be had
            }
        }
        // Also while another state is being read: dropping that future would block until its end.
        const auto reading = look.reading;
        lock.unlock();
        const bool ready = reading.wait_until(until) == std::future_status::ready;
        lock.lock();
        if (!ready) {
            return {{}, {}, says};
        }
        // Whoever comes first takes it.
        Look& again = m_looks[key];
        if (!again.reading.valid() ||
            again.reading.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
            continue;
        }
        const Outcome outcome = std::exchange(again.reading, {}).get();
        if (again.stamp == stamp) {
            if (outcome == Outcome::BeingWritten) {
                return {{}, {}, says};
            }
            break;
        }
    }
    std::string line = says ? unsaid_line(activation, memories, stamp) : std::string();
    m_looks[key].done = says && line.empty();
    return {std::move(line), stamp, false};
}

void Installs::said(const std::string& prefix, const std::string& stamp,
                    const protocol::Caller& caller) {
    const memory::EnvironmentMemories memories = memories_of(caller);
    memory::EnvironmentMemory memory = memories.read(prefix);
    const std::lock_guard lock(m_mutex);
    if (memory.stamp == stamp) {
        for (memory::UnsaidFinding& one : std::exchange(memory.unsaid, {})) {
            memory.reported.push_back(std::move(one.key));
        }
        static_cast<void>(memories.write(prefix, memory)); // else it is said again
    }
    if (Look& look = m_looks[memories.directory() + '\n' + prefix]; look.stamp == stamp) {
        look.done = true;
    }
}

} // namespace cudaenv::daemon
