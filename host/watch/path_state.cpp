#include "host/watch/path_state.hpp"

#include "base/fd.hpp"
#include "base/private_files.hpp"
#include "base/temporary_file.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace cudaenv::watch {

namespace {

constexpr std::int64_t k_second_ns = 1'000'000'000;
constexpr std::time_t k_day = std::time_t{24} * 60 * 60;
constexpr std::time_t k_kept = 30 * k_day;
constexpr int k_directory_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

timespec timespec_of(std::int64_t ns) {
    std::int64_t seconds = ns / k_second_ns;
    std::int64_t rest = ns % k_second_ns;
    if (rest < 0) { // before 1970
        rest += k_second_ns;
        --seconds;
    }
    timespec time{};
    time.tv_sec = static_cast<std::time_t>(seconds);
    time.tv_nsec = static_cast<decltype(time.tv_nsec)>(rest);
    return time;
}

bool has_time(const struct stat& status, const timespec& time) {
    return S_ISREG(status.st_mode) && status.st_mtim.tv_sec == time.tv_sec &&
           status.st_mtim.tv_nsec == time.tv_nsec;
}

std::string name_of(const timespec& time) {
    std::array<char, 48> text{};
    (void)std::snprintf(text.data(), text.size(), "%lld.%09ld", static_cast<long long>(time.tv_sec),
                        static_cast<long>(time.tv_nsec));
    return text.data();
}

// The directory of stamps; none where it is not the user's own alone.
Fd open_private(const std::string& directory) {
    Fd folder(::open(directory.c_str(), k_directory_flags));
    struct stat status {};
    if (!folder || ::fstat(folder.get(), &status) != 0 || !is_ours_alone(status, S_IFDIR)) {
        return {};
    }
    return folder;
}

// As name_of writes it, or what make_stamp left when it was killed.
bool is_name_of_stamp(std::string_view name) {
    if (TemporaryFile::is_temporary(name)) {
        return true;
    }
    if (name.starts_with('-')) {
        name.remove_prefix(1); // before 1970
    }
    const auto is_number = [](std::string_view text) {
        return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    const auto point = std::min(name.find('.'), name.size());
    return is_number(name.substr(0, point)) && name.size() - point == 10 &&
           is_number(name.substr(point + 1));
}

bool make_stamp(const Fd& folder, const std::string& name, const timespec& time) {
    TemporaryFile file(folder.get(), name);
    if (!file) {
        return false;
    }
    timespec now{};
    now.tv_nsec = UTIME_NOW;
    const std::array<timespec, 2> times{now, time};
    struct stat status {};
    // Read back: a file system may round a time, or have an end of times.
    return ::futimens(file.fd(), times.data()) == 0 && ::fstat(file.fd(), &status) == 0 &&
           has_time(status, time) && file.replace();
}

} // namespace

PathState observe(host::FileSystem& files, const std::string& path) {
    const auto status = files.status(path);
    return {path, status ? std::optional(status->modified_ns) : std::nullopt};
}

bool changed(host::FileSystem& files, const std::vector<PathState>& states) {
    return std::ranges::any_of(
        states, [&](const PathState& state) { return observe(files, state.path) != state; });
}

bool is_settled(const PathState& state, std::int64_t began_ns, Clock seen_by) {
    constexpr std::int64_t k_ticks = 20'000'000; // two of the longest
    const std::int64_t earliest_change = began_ns - k_ticks;
    // A time that is further ahead than clocks of one machine differ is an archive's or another
    // machine's: to wait until it has passed would be to ask at each prompt until then.
    const bool is_ahead = state.modified_ns && *state.modified_ns > began_ns + 2 * k_second_ns;
    // A later change is to have a later second.
    return !state.modified_ns || is_ahead ||
           *state.modified_ns < (seen_by == Clock::Seconds
                                     ? earliest_change / k_second_ns * k_second_ns
                                     : earliest_change);
}

std::optional<std::string> stamp_of(const std::string& directory, const PathState& state) {
    if (!state.modified_ns) {
        return std::nullopt;
    }
    const auto time = timespec_of(*state.modified_ns);
    const auto name = name_of(time);
    auto path = directory + '/' + name;
    struct stat status {};
    if (::lstat(path.c_str(), &status) == 0 && status.st_uid == ::geteuid() &&
        has_time(status, time)) {
        // The time of access shows prune_stamps that it is in use; once a day is enough.
        if (status.st_atim.tv_sec < std::time(nullptr) - k_day) {
            timespec now{};
            now.tv_nsec = UTIME_NOW;
            timespec same{};
            same.tv_nsec = UTIME_OMIT;
            const std::array<timespec, 2> times{now, same};
            // Refused on a file system that has become read-only, where nothing is pruned either.
            (void)::utimensat(AT_FDCWD, path.c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
        }
        return path;
    }
    const Fd folder = open_private(directory);
    // The first that is made on a day removes the forgotten ones.
    struct stat last {};
    if (folder && ::fstat(folder.get(), &last) == 0 &&
        last.st_mtim.tv_sec / k_day != std::time(nullptr) / k_day) {
        prune_stamps(directory);
    }
    if (!folder || !make_stamp(folder, name, time)) {
        return std::nullopt;
    }
    return path;
}

void prune_stamps(const std::string& directory) {
    Fd folder = open_private(directory);
    if (!folder) {
        return; // it is not there, or not ours to prune
    }
    const int fd = folder.get();
    const std::unique_ptr<DIR, int (*)(DIR*)> listed(::fdopendir(fd), &::closedir);
    if (!listed) {
        return; // the next prune does it
    }
    (void)folder.release(); // the listing's now
    const std::time_t oldest = std::time(nullptr) - k_kept;
    while (const dirent* entry = ::readdir(listed.get())) {
        struct stat status {};
        if (is_name_of_stamp(entry->d_name) &&
            ::fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode) && status.st_atim.tv_sec < oldest) {
            ::unlinkat(fd, entry->d_name, 0); // gone already is as good
        }
    }
}

} // namespace cudaenv::watch
