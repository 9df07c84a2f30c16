// The port through which host/ looks at this machine's files, so that tests can show it another
// machine. Reads only. Law: a failure says which of the codes below it is, and names the path.
#pragma once

#include "base/failed_call.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cudaenv::host {

// Error codes of a FileSystem: "not-found", "permission-denied", "symlink-loop", "io".
using cudaenv::k_not_found;
using cudaenv::k_permission_denied;
using cudaenv::k_symlink_loop;

enum class FileKind { Regular, Directory, Other };

struct FileStatus {
    FileKind kind = FileKind::Other;
    bool executable = false; // some execute bit is set
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0; // since the epoch
    std::uint32_t mode = 0;       // permission bits
    std::uint32_t owner = 0;
    std::uint32_t group = 0;
};

// Longest prefix of a file that is read; headers tell their version well before it.
inline constexpr std::size_t k_read_limit = std::size_t{256} * 1024;

class FileSystem {
public:
    virtual ~FileSystem() = default;
    // At most `limit` bytes from the beginning.
    virtual Result<std::string> read_file(const std::string& path,
                                          std::size_t limit = k_read_limit) = 0;
    // Names without . and .., sorted.
    virtual Result<std::vector<std::string>> list_directory(const std::string& path) = 0;
    // Absolute, every symlink resolved; fails where any part is missing.
    virtual Result<std::string> real_path(const std::string& path) = 0;
    // Of what a symlink leads to.
    virtual Result<FileStatus> status(const std::string& path) = 0;
    // Where a symlink points, as written; fails for anything else.
    virtual Result<std::string> read_link(const std::string& path) = 0;

    // Those of `paths` that keep whoever touches them waiting: a file server that is gone, a FUSE
    // server that is stopped. Returns within a second.
    virtual std::vector<std::string> silent(std::span<const std::string> paths) = 0;

    [[nodiscard]] bool exists(const std::string& path) { return status(path).has_value(); }
    // None where it cannot be listed.
    [[nodiscard]] std::vector<std::string> names_in(const std::string& directory) {
        return list_directory(directory).value_or(std::vector<std::string>());
    }
};

// This machine's.
class DiskFileSystem final : public FileSystem {
public:
    Result<std::string> read_file(const std::string& path, std::size_t limit) override;
    Result<std::vector<std::string>> list_directory(const std::string& path) override;
    Result<std::string> real_path(const std::string& path) override;
    Result<FileStatus> status(const std::string& path) override;
    Result<std::string> read_link(const std::string& path) override;
    std::vector<std::string> silent(std::span<const std::string> paths) override;
};

// Why a path cannot be used, in a few words: "does not exist", "permission denied", ...
std::string reason_of(const Error& error);

std::string_view base_name(std::string_view path);
// "/" for what lies in the root; "" for a bare name.
std::string_view parent_path(std::string_view path);
// By its text: the directory itself, or a path below it.
bool is_in_or_below(std::string_view path, std::string_view directory);

// Another file system, asked each question once: for one request, whose parts rest on the same
// files and are to be of one moment. Not safe to use from several threads.
class RememberingFileSystem final : public FileSystem {
public:
    explicit RememberingFileSystem(FileSystem& files) : m_files(&files) {}

    Result<std::string> read_file(const std::string& path, std::size_t limit) override;
    Result<std::vector<std::string>> list_directory(const std::string& path) override;
    Result<std::string> real_path(const std::string& path) override;
    Result<FileStatus> status(const std::string& path) override;
    Result<std::string> read_link(const std::string& path) override;
    std::vector<std::string> silent(std::span<const std::string> paths) override;

private:
    FileSystem* m_files;
    std::map<std::pair<std::string, std::size_t>, Result<std::string>> m_texts;
    std::map<std::string, Result<std::vector<std::string>>> m_lists;
    std::map<std::string, Result<std::string>> m_real_paths;
    std::map<std::string, Result<FileStatus>> m_statuses;
    std::map<std::string, Result<std::string>> m_links;
};

} // namespace cudaenv::host
