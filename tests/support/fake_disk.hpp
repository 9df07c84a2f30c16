// A machine's files in memory, behind the FileSystem port: trees are written down in the test,
// every access is logged, and the user it plays is no root.
#pragma once

#include "host/file_system.hpp"

#include <map>
#include <string>
#include <vector>

namespace cudaenv::test {

class FakeDisk final : public host::FileSystem {
public:
    // Each creates the parents too. Files are not executable unless said so.
    FakeDisk& file(const std::string& path, std::string content = {});
    FakeDisk& program(const std::string& path, std::string content = "\x7f"
                                                                     "ELF");
    FakeDisk& directory(const std::string& path);
    FakeDisk& link(const std::string& path, std::string target);
    // Another name of the same inode.
    FakeDisk& hard_link(const std::string& path, const std::string& existing);
    // Neither readable nor, for a directory, to be entered.
    FakeDisk& unreadable(const std::string& path);
    // Does not answer: to touch it, or what is below it, throws.
    FakeDisk& silenced(const std::string& path);

    Result<std::string> read_file(const std::string& path,
                                  std::size_t limit = host::k_read_limit) override;
    Result<std::vector<std::string>> list_directory(const std::string& path) override;
    Result<std::string> real_path(const std::string& path) override;
    Result<host::FileStatus> status(const std::string& path) override;
    Result<std::string> read_link(const std::string& path) override;
    std::vector<std::string> silent(std::span<const std::string> paths) override;

    // "read /etc/os-release", "list /opt", in order.
    [[nodiscard]] const std::vector<std::string>& log() const { return m_log; }
    [[nodiscard]] bool touched(const std::string& access) const;

private:
    struct Node {
        enum class Kind { File, Directory, Link } kind = Kind::Directory;
        std::string content; // or a link's target
        bool executable = false;
        bool readable = true;
        std::uint64_t inode = 0;
        std::uint64_t size = 0;
    };
    Node& add(const std::string& path, Node::Kind kind);
    // The real path of `path`; with Last::Kept a symlink as last part stays one.
    enum class Last { Followed, Kept };
    Result<std::string> resolve(const std::string& path, Last last);

    std::map<std::string, Node> m_nodes;
    std::vector<std::string> m_silenced;
    std::vector<std::string> m_log;
    std::uint64_t m_next_inode = 1;
};

} // namespace cudaenv::test
