#include "host/file_system.hpp"

#include "base/directory_names.hpp"
#include "base/fd.hpp"
#include "base/file_identity.hpp"
#include "base/real_path.hpp"
#include "base/whole_io.hpp"
#include "host/silent_paths.hpp"

#include <climits>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cudaenv::host {

namespace {

tl::unexpected<Error> failed(const std::string& path, int error) {
    auto failure = failed_call(error);
    failure.value().path = path;
    return failure;
}

template <typename Key, typename Answer, typename Ask>
const Answer& once(std::map<Key, Answer>& answers, const Key& key, const Ask& ask) {
    const auto found = answers.find(key);
    return found != answers.end() ? found->second : answers.emplace(key, ask()).first->second;
}

} // namespace

Result<std::string> DiskFileSystem::read_file(const std::string& path, std::size_t limit) {
    // O_NONBLOCK: a fifo put where a file is expected must not hold us.
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) {
        return failed(path, errno);
    }
    auto content = read_rest(file.get(), limit);
    if (!content) {
        return failed(path, errno);
    }
    return *std::move(content);
}

Result<std::vector<std::string>> DiskFileSystem::list_directory(const std::string& path) {
    auto names = cudaenv::names_in(path);
    if (!names) {
        return failed(path, errno);
    }
    return *std::move(names);
}

Result<std::string> DiskFileSystem::real_path(const std::string& path) {
    std::string real = resolved_path(path);
    if (real.empty()) {
        return failed(path, errno);
    }
    return real;
}

Result<FileStatus> DiskFileSystem::status(const std::string& path) {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) {
        return failed(path, errno);
    }
    FileStatus status;
    status.kind = S_ISREG(found.st_mode)   ? FileKind::Regular
                  : S_ISDIR(found.st_mode) ? FileKind::Directory
                                           : FileKind::Other;
    status.executable = (found.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
    status.device = found.st_dev;
    status.inode = found.st_ino;
    status.size = static_cast<std::uint64_t>(found.st_size);
    status.mode = found.st_mode & 07777U;
    status.owner = found.st_uid;
    status.group = found.st_gid;
    status.modified_ns = nanoseconds(found.st_mtim);
    return status;
}

Result<std::string> DiskFileSystem::read_link(const std::string& path) {
    std::array<char, PATH_MAX> target{};
    const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    if (length < 0) {
        return failed(path, errno);
    }
    return std::string(target.data(), static_cast<std::size_t>(length));
}

std::vector<std::string> DiskFileSystem::silent(std::span<const std::string> paths) {
    return silent_paths(paths);
}

std::string reason_of(const Error& error) {
    if (error.code == k_not_found) {
        return "does not exist";
    }
    if (error.code == k_permission_denied) {
        return "permission denied";
    }
    if (error.code == k_symlink_loop) {
        return "its symlinks lead in a circle";
    }
    return error.message;
}

std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

bool is_in_or_below(std::string_view path, std::string_view directory) {
    return path.starts_with(directory) &&
           (path.size() == directory.size() || path[directory.size()] == '/');
}

std::string_view parent_path(std::string_view path) {
    const auto slash = path.rfind('/');
    if (slash == std::string_view::npos) {
        return {};
    }
    return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

Result<std::string> RememberingFileSystem::read_file(const std::string& path, std::size_t limit) {
    return once(m_texts, std::pair(path, limit), [&] { return m_files->read_file(path, limit); });
}

Result<std::vector<std::string>> RememberingFileSystem::list_directory(const std::string& path) {
    return once(m_lists, path, [&] { return m_files->list_directory(path); });
}

Result<std::string> RememberingFileSystem::real_path(const std::string& path) {
    return once(m_real_paths, path, [&] { return m_files->real_path(path); });
}

Result<FileStatus> RememberingFileSystem::status(const std::string& path) {
    return once(m_statuses, path, [&] { return m_files->status(path); });
}

Result<std::string> RememberingFileSystem::read_link(const std::string& path) {
    return once(m_links, path, [&] { return m_files->read_link(path); });
}

std::vector<std::string> RememberingFileSystem::silent(std::span<const std::string> paths) {
    return m_files->silent(paths);
}

} // namespace cudaenv::host
