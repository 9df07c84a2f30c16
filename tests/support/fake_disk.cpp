#include "tests/support/fake_disk.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <deque>
#include <stdexcept>

namespace cudaenv::test {

namespace {

tl::unexpected<Error> failed(const char* code, const std::string& path) {
    Error error;
    error.kind = ErrorKind::Unavailable;
    error.code = code;
    error.message = code;
    error.path = path;
    return tl::unexpected(std::move(error));
}

struct Silence : std::logic_error {
    explicit Silence(const std::string& path) : logic_error(path + " does not answer") {}
};

} // namespace

FakeDisk::Node& FakeDisk::add(const std::string& path, Node::Kind kind) {
    for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
        auto [parent, added] = m_nodes.try_emplace(path.substr(0, slash));
        if (added) {
            parent->second.inode = m_next_inode++;
        }
    }
    auto& node = m_nodes[path];
    node.kind = kind;
    node.inode = m_next_inode++;
    return node;
}

FakeDisk& FakeDisk::file(const std::string& path, std::string content) {
    auto& node = add(path, Node::Kind::File);
    node.size = content.size();
    node.content = std::move(content);
    return *this;
}

FakeDisk& FakeDisk::program(const std::string& path, std::string content) {
    auto& node = add(path, Node::Kind::File);
    // A script's size is its text's; a binary counts as a large one.
    node.size = content.starts_with("#!") ? content.size() : 1'000'000;
    node.content = std::move(content);
    node.executable = true;
    return *this;
}

FakeDisk& FakeDisk::directory(const std::string& path) {
    add(path, Node::Kind::Directory);
    return *this;
}

FakeDisk& FakeDisk::link(const std::string& path, std::string target) {
    add(path, Node::Kind::Link).content = std::move(target);
    return *this;
}

FakeDisk& FakeDisk::hard_link(const std::string& path, const std::string& existing) {
    const Node copy = m_nodes.at(existing);
    add(path, copy.kind) = copy;
    return *this;
}

FakeDisk& FakeDisk::unreadable(const std::string& path) {
    m_nodes.at(path).readable = false;
    return *this;
}

FakeDisk& FakeDisk::silenced(const std::string& path) {
    m_silenced.push_back(path);
    return *this;
}

Result<std::string> FakeDisk::resolve(const std::string& path, Last last) {
    std::deque<std::string> left;
    for (const auto part : split(path, '/')) {
        left.emplace_back(part);
    }
    std::string at;
    int links = 0;
    while (!left.empty()) {
        const auto part = left.front();
        left.pop_front();
        if (part.empty() || part == ".") {
            continue;
        }
        if (part == "..") {
            at = at.substr(0, at.rfind('/'));
            continue;
        }
        if (!at.empty() && !m_nodes.at(at).readable) {
            return failed(host::k_permission_denied, path);
        }
        const auto next = at + '/' + part;
        if (std::find(m_silenced.begin(), m_silenced.end(), next) != m_silenced.end()) {
            throw Silence(next);
        }
        const auto found = m_nodes.find(next);
        if (found == m_nodes.end()) {
            return failed(host::k_not_found, path);
        }
        if (found->second.kind == Node::Kind::Link && (last == Last::Followed || !left.empty())) {
            if (++links > 40) {
                return failed(host::k_symlink_loop, path);
            }
            const auto& target = found->second.content;
            const auto parts = split(target, '/');
            for (auto it = parts.rbegin(); it != parts.rend(); ++it) {
                left.emplace_front(*it);
            }
            if (target.starts_with('/')) {
                at.clear();
            }
            continue;
        }
        if (found->second.kind == Node::Kind::File && !left.empty()) {
            return failed(host::k_not_found, path);
        }
        at = next;
    }
    return at.empty() ? "/" : at;
}

Result<std::string> FakeDisk::read_file(const std::string& path, std::size_t limit) {
    m_log.push_back("read " + path);
    CUDAENV_TRY(const auto real, resolve(path, Last::Followed));
    const auto& node = m_nodes.at(real);
    if (!node.readable) {
        return failed(host::k_permission_denied, path);
    }
    if (node.kind != Node::Kind::File) {
        return failed("io", path);
    }
    return node.content.substr(0, limit);
}

Result<std::vector<std::string>> FakeDisk::list_directory(const std::string& path) {
    m_log.push_back("list " + path);
    CUDAENV_TRY(const auto real, resolve(path, Last::Followed));
    if (!m_nodes.at(real).readable) {
        return failed(host::k_permission_denied, path);
    }
    if (m_nodes.at(real).kind != Node::Kind::Directory) {
        return failed(host::k_not_found, path);
    }
    std::vector<std::string> names;
    for (const auto& [name, node] : m_nodes) {
        if (name.starts_with(real + '/') && name.find('/', real.size() + 1) == std::string::npos) {
            names.push_back(name.substr(real.size() + 1));
        }
    }
    return names;
}

Result<std::string> FakeDisk::real_path(const std::string& path) {
    m_log.push_back("real " + path);
    return resolve(path, Last::Followed);
}

Result<host::FileStatus> FakeDisk::status(const std::string& path) {
    m_log.push_back("stat " + path);
    CUDAENV_TRY(const auto real, resolve(path, Last::Followed));
    const auto& node = m_nodes.at(real);
    host::FileStatus status;
    status.kind =
        node.kind == Node::Kind::File ? host::FileKind::Regular : host::FileKind::Directory;
    status.executable = node.executable;
    status.device = 1;
    status.inode = node.inode;
    status.size = node.size;
    status.modified_ns = 1;
    return status;
}

Result<std::string> FakeDisk::read_link(const std::string& path) {
    m_log.push_back("readlink " + path);
    CUDAENV_TRY(const auto real, resolve(path, Last::Kept));
    const auto& node = m_nodes.at(real);
    if (node.kind != Node::Kind::Link) {
        return failed("io", path);
    }
    return node.content;
}

std::vector<std::string> FakeDisk::silent(std::span<const std::string> paths) {
    std::vector<std::string> silent;
    for (const auto& path : paths) {
        try {
            static_cast<void>(resolve(path, Last::Followed));
        } catch (const Silence&) {
            silent.push_back(path);
        }
    }
    return silent;
}

bool FakeDisk::touched(const std::string& access) const {
    return std::find(m_log.begin(), m_log.end(), access) != m_log.end();
}

} // namespace cudaenv::test
