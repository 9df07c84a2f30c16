#include "host/silent_paths.hpp"

#include "base/ranges.hpp"
#include "base/text.hpp"
#include "host/file_system.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <sys/statfs.h>
#include <system_error>
#include <thread>

namespace cudaenv::host {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Beside 16 busy processes a thread was never kept from running for half as long.
constexpr milliseconds k_patience{600};
// A thread that has not come back by then gets another beside it for the paths that are left.
constexpr milliseconds k_stalled{20};

// Local file systems answer, or the whole machine does not. Whatever is not listed may be silent.
constexpr auto k_local = std::to_array<std::string_view>(
    {"bcachefs", "btrfs",     "devtmpfs", "erofs", "exfat", "ext2",  "ext3",    "ext4",  "f2fs",
     "fusectl",  "hugetlbfs", "iso9660",  "jfs",   "msdos", "ntfs3", "overlay", "ramfs", "reiserfs",
     "rootfs",   "squashfs",  "tmpfs",    "udf",   "vfat",  "xfs",   "zfs"});

// Where threads of this process still wait.
class GivenUp {
public:
    bool contains(const std::string& place) {
        const std::lock_guard lock(m_mutex);
        return m_places.contains(place);
    }
    void add(const std::string& place) {
        const std::lock_guard lock(m_mutex);
        m_places.insert(place);
    }
    void remove(const std::string& place) {
        const std::lock_guard lock(m_mutex);
        m_places.erase(m_places.find(place));
    }

private:
    std::mutex m_mutex;
    std::multiset<std::string> m_places;
};

// Never destroyed: a thread may come back while the process ends.
GivenUp& given_up() {
    static auto* const places = new GivenUp;
    return *places;
}

enum class State { Open, Asked, Answered, GivenUp };

struct Path {
    std::string path;
    std::string place; // the mount that may be silent, or the path itself
    State state = State::Open;
};

struct Round {
    std::mutex mutex;
    std::condition_variable changed;
    AskPath ask;
    std::vector<Path> paths;
    std::size_t answered = 0;

    // None where all were asked, or lie where somebody waits already: one mount, one thread.
    Path* next() {
        const auto waits = [&](const Path& path) {
            return std::ranges::any_of(paths, [&](const Path& other) {
                return other.place == path.place && other.state == State::Asked;
            });
        };
        return find_pointer_if(
            paths, [&](const Path& path) { return path.state == State::Open && !waits(path); });
    }
};

void ask(const std::shared_ptr<Round>& round) {
    std::unique_lock lock(round->mutex);
    while (Path* const one = round->next()) {
        one->state = State::Asked;
        lock.unlock();
        round->ask(one->path);
        lock.lock();
        if (one->state == State::GivenUp) {
            given_up().remove(one->place);
            return;
        }
        one->state = State::Answered;
        ++round->answered;
        round->changed.notify_one();
    }
}

// Where something is mounted that is no file system of files, or one that goes with its desktop.
constexpr auto k_never_silent =
    std::to_array<std::string_view>({"/proc", "/sys", "/dev", "/run/user"});

bool is_below(std::string_view path, std::string_view directory) {
    return directory == "/" || (path.starts_with(directory) &&
                                (path.size() == directory.size() || path[directory.size()] == '/'));
}

// The kernel writes a space, tab, newline or backslash as three octal digits: "/sw\\040x".
std::string without_escapes(std::string_view word) {
    std::string text;
    for (std::size_t i = 0; i < word.size(); ++i) {
        const auto digits = word.substr(i + 1, 3);
        unsigned value = 0;
        if (word[i] == '\\' &&
            std::from_chars(digits.data(), digits.data() + digits.size(), value, 8).ptr ==
                digits.data() + 3) {
            text += static_cast<char>(value);
            i += 3;
        } else {
            text += word[i];
        }
    }
    return text;
}

// The innermost of `mounts` that the path lies on by its name; links may lead elsewhere. The path
// itself without one.
std::string place_of(const std::string& path, std::span<const std::string> mounts) {
    const std::string* found = nullptr;
    for (const std::string& mount : mounts) {
        if (is_below(path, mount) && (found == nullptr || mount.size() >= found->size())) {
            found = &mount;
        }
    }
    return found == nullptr ? path : *found;
}

// What may be silent of what is mounted; none where that is not known.
std::optional<std::vector<std::string>> mounted() {
    DiskFileSystem disk;
    FileSystem& files = disk;
    const auto info = files.read_file("/proc/self/mountinfo", std::size_t{1024} * 1024);
    return info ? std::optional(remote_mounts(*info)) : std::nullopt;
}

// False: this process may have no more threads.
bool start_asking(const std::shared_ptr<Round>& round) {
    try {
        std::thread(ask, round).detach();
        return true;
    } catch (const std::system_error&) {
        return false;
    }
}

} // namespace

std::vector<std::string> remote_mounts(std::string_view mountinfo) {
    // "36 35 98:0 /root /mnt rw,noatime master:1 - nfs4 server:/export rw": the mount point is the
    // fifth word, the type the one behind the dash. proc_pid_mountinfo(5).
    std::vector<std::string> mounts;
    for (const std::string_view line : split(mountinfo, '\n')) {
        const auto dash = line.find(" - ");
        if (dash == std::string_view::npos) {
            continue;
        }
        const auto words = split(line.substr(0, dash), ' ');
        const auto type = split(line.substr(dash + 3), ' ').front();
        if (words.size() < 5 || std::ranges::find(k_local, type) != k_local.end()) {
            continue;
        }
        std::string mount = without_escapes(words[4]);
        if (std::ranges::none_of(k_never_silent,
                                 [&](std::string_view top) { return is_below(mount, top); })) {
            mounts.push_back(std::move(mount));
        }
    }
    return mounts;
}

bool may_be_silent(const std::string& path) {
    const auto mounts = mounted();
    return mounts && std::ranges::any_of(
                         *mounts, [&](const std::string& mount) { return is_below(path, mount); });
}

Result<void> all_answer(std::vector<std::string> paths) {
    std::erase(paths, std::string());
    const std::vector<std::string> silent = silent_paths(paths);
    if (silent.empty()) {
        return {};
    }
    return unavailable("silent-file-system", "the disk or file server does not answer", {},
                       silent.front());
}

std::vector<std::string> silent_paths(std::span<const std::string> paths) {
    const auto known = mounted();
    const std::vector<std::string> mounts = known.value_or(std::vector<std::string>());
    if (known && mounts.empty()) {
        return {};
    }
    // Every file system answers statfs(2) itself, where a stat may be answered from a cache.
    return silent_paths(paths, mounts, [](const std::string& path) {
        struct statfs ignored {};
        static_cast<void>(::statfs(path.c_str(), &ignored));
    });
}

std::vector<std::string> silent_paths(std::span<const std::string> paths,
                                      std::span<const std::string> mounts,
                                      const AskPath& ask_path) {
    std::vector<std::string> silent;
    const auto round = std::make_shared<Round>();
    round->ask = ask_path;
    for (const std::string& path : paths) {
        std::string place = place_of(path, mounts);
        if (given_up().contains(place)) {
            silent.push_back(path);
        } else {
            round->paths.push_back({path, std::move(place), State::Open});
        }
    }
    const std::size_t count = round->paths.size();
    const auto until = steady_clock::now() + k_patience;
    if (count == 0 || !start_asking(round)) {
        return silent;
    }
    std::unique_lock lock(round->mutex);
    while (round->answered < count && steady_clock::now() < until) {
        const std::size_t before = round->answered;
        const auto stalled = std::min(until, steady_clock::now() + k_stalled);
        const bool moved =
            round->changed.wait_until(lock, stalled, [&] { return round->answered != before; });
        if (!moved && round->next() != nullptr) {
            start_asking(round);
        }
    }
    for (Path& one : round->paths) {
        if (one.state == State::Answered) {
            continue;
        }
        silent.push_back(one.path);
        if (one.state == State::Asked) {
            given_up().add(one.place);
        }
        one.state = State::GivenUp;
    }
    return silent;
}

} // namespace cudaenv::host
