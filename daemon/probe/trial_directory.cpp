#include "daemon/probe/trial_directory.hpp"

#include "base/directory_names.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace cudaenv::daemon {

namespace {

constexpr std::string_view k_prefix = "cudaenv-trial-";
constexpr std::string_view k_pattern = "cudaenv-trial-XXXXXX";
// A directory that is removed between its creation and its locking is created again.
constexpr int k_most_tries = 8;
// Compilers nest two or three; a deeper directory is not a trial's.
constexpr int k_deepest = 64;

bool is_our_name(std::string_view name) {
    return name.size() == k_pattern.size() && name.starts_with(k_prefix) &&
           std::ranges::all_of(name.substr(k_prefix.size()), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
           });
}

Fd open_directory(int at, const char* name) {
    return Fd(::openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
}

const std::vector<std::string> k_none;

void empty(int directory, int depth) {
    for (const std::string& name : names_in(directory).value_or(k_none)) {
        if (::unlinkat(directory, name.c_str(), 0) == 0 || depth >= k_deepest) {
            continue;
        }
        if (const Fd inner = open_directory(directory, name.c_str())) {
            empty(inner.get(), depth + 1);
            ::unlinkat(directory, name.c_str(), AT_REMOVEDIR);
        }
    }
}

bool is_same_file(const struct stat& one, const struct stat& other) {
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// Whether `name` is still what is open.
bool is_still(int directory, int at, const char* name) {
    struct stat opened {};
    struct stat named {};
    return ::fstat(directory, &opened) == 0 &&
           ::fstatat(at, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && is_same_file(opened, named);
}

void remove_if_abandoned(int place, const char* name) {
    const Fd left = open_directory(place, name);
    struct stat status {};
    if (!left || ::fstat(left.get(), &status) != 0 || status.st_uid != ::geteuid() ||
        (status.st_mode & 0077) != 0 || ::flock(left.get(), LOCK_EX | LOCK_NB) != 0 ||
        !is_still(left.get(), place, name)) {
        return;
    }
    empty(left.get(), 0);
    ::unlinkat(place, name, AT_REMOVEDIR);
}

void sweep(const std::string& place) {
    const Fd directory(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory) {
        return;
    }
    for (const std::string& name : names_in(directory.get()).value_or(k_none)) {
        if (is_our_name(name)) {
            remove_if_abandoned(directory.get(), name.c_str());
        }
    }
}

} // namespace

Result<TrialDirectory> TrialDirectory::make(const std::string& parent) {
    std::string problems;
    const bool is_tmp = parent == "/tmp";
    for (const std::string& place :
         is_tmp ? std::vector<std::string>{parent} : std::vector<std::string>{parent, "/tmp"}) {
        if (!place.starts_with('/')) {
            continue;
        }
        sweep(place);
        for (int tries = 0; tries < k_most_tries; ++tries) {
            std::string path = place + '/' + std::string(k_pattern);
            if (::mkdtemp(path.data()) == nullptr) { // 0700
                problems += (problems.empty() ? "" : "; ") + place + ": " + std::strerror(errno);
                break;
            }
            Fd held = open_directory(AT_FDCWD, path.c_str());
            if (held && ::flock(held.get(), LOCK_EX) != 0) {
                held.reset(); // locks do not work there, so it cannot be found abandoned either
                return TrialDirectory(std::move(path), {});
            }
            if (held && is_still(held.get(), AT_FDCWD, path.c_str())) {
                return TrialDirectory(std::move(path), std::move(held));
            }
            ::rmdir(path.c_str()); // as a rule it is gone
        }
    }
    return unavailable("no-directory",
                       problems.empty() ? "/tmp: files created there disappear at once" : problems);
}

TrialDirectory::TrialDirectory(TrialDirectory&& other) noexcept
    : m_path(std::exchange(other.m_path, {})), m_held(std::move(other.m_held)) {}

TrialDirectory::~TrialDirectory() {
    if (m_path.empty()) {
        return;
    }
    // What a child that does not die still writes is left.
    if (const Fd opened = open_directory(AT_FDCWD, m_path.c_str())) {
        empty(opened.get(), 0);
        ::rmdir(m_path.c_str());
    }
}

} // namespace cudaenv::daemon
