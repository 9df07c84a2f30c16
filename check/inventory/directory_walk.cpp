#include "check/inventory/directory_walk.hpp"

#include "check/inventory/claimed_path.hpp"
#include "host/file_system.hpp"

#include <climits>

#include <array>
#include <cerrno>
#include <fcntl.h>

namespace cudaenv::inventory {

namespace {

// O_PATH: to be gone through, a directory need not be readable.
constexpr int k_flags = O_PATH | O_DIRECTORY | O_CLOEXEC;

Way way_of(int error) {
    switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG: // no file system has such a name
        return Way::Absent;
    default:
        return Way::Unreadable;
    }
}

std::string text_of_link(int above, const char* name) {
    std::array<char, PATH_MAX> text{};
    const ssize_t size = ::readlinkat(above, name, text.data(), text.size());
    return size <= 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(size));
}

} // namespace

std::string path_of_open(int fd) {
    auto path = text_of_link(AT_FDCWD, ("/proc/self/fd/" + std::to_string(fd)).c_str());
    return path.starts_with('/') ? path : std::string();
}

DirectoryWalk::DirectoryWalk(std::string prefix, std::string real_prefix)
    : m_real_prefix(std::move(real_prefix)) {
    Step& root = m_steps.emplace_back();
    root.fd.reset(::open(prefix.c_str(), k_flags));
    if (!root.fd) {
        root.way = way_of(errno);
    }
    root.name = std::move(prefix);
}

Way DirectoryWalk::go_to(std::string_view directory) {
    std::size_t depth = 1;
    while (!directory.empty()) {
        const auto slash = directory.find('/');
        const auto name = directory.substr(0, slash);
        directory.remove_prefix(slash == std::string_view::npos ? directory.size() : slash + 1);
        if (depth < m_steps.size() && m_steps[depth].name != name) {
            m_steps.resize(depth);
        }
        if (depth == m_steps.size()) {
            if (m_steps.back().way != Way::Inside) {
                return m_steps.back().way; // as is all that lies beneath
            }
            m_steps.push_back(step_from(m_steps.back(), name));
        }
        ++depth;
    }
    m_steps.resize(depth);
    return m_steps.back().way;
}

DirectoryWalk::Step DirectoryWalk::step_from(const Step& above, std::string_view name) const {
    Step step{std::string(name), {}, Way::Inside};
    step.fd.reset(::openat(above.fd.get(), step.name.c_str(), k_flags | O_NOFOLLOW));
    if (step.fd) {
        return step;
    }
    // With O_NOFOLLOW a link fails as not a directory.
    const int error = errno;
    if (error != ENOTDIR && error != ELOOP) {
        step.way = way_of(error);
        return step;
    }
    step.fd.reset(::openat(above.fd.get(), step.name.c_str(), k_flags));
    if (step.fd) {
        step.way = way_to(path_of_open(step.fd.get()));
    } else {
        step.way = way_of(errno);
        if ((errno == ENOENT || errno == EACCES) &&
            way_to(target_of(above.fd.get(), step.name.c_str())) == Way::Outside) {
            step.way = Way::Outside;
        }
    }
    return step;
}

// Where a link leads that cannot be followed, as far as its text says.
std::string DirectoryWalk::target_of(int above, const char* link) const {
    auto target = text_of_link(above, link);
    if (!target.starts_with('/')) {
        target.insert(0, path_of_open(above) + '/');
    }
    ClaimedPaths paths("");
    return paths.absolute(paths.resolve("/", target));
}

Way DirectoryWalk::way_to(const std::string& target) const {
    const bool inside = !m_real_prefix.empty() && (host::is_in_or_below(target, m_real_prefix) ||
                                                   host::is_in_or_below(target, m_steps[0].name));
    return inside ? Way::Inside : Way::Outside;
}

} // namespace cudaenv::inventory
