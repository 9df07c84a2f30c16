#include "scratch.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <grp.h>
#include <iterator>
#include <sched.h>
#include <stdexcept>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

Scratch::Scratch() {
    std::string name = (fs::temp_directory_path() / "cudaenv-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
        throw std::runtime_error("no scratch directory: " + std::string(std::strerror(errno)));
    }
    ::chmod(name.c_str(), 0755);
    m_path = fs::canonical(name).string();
}

Scratch::~Scratch() {
    std::error_code ignored; // a leftover in the temporary directory fails no test
    for (const auto& entry : fs::recursive_directory_iterator(m_path, ignored)) {
        if (entry.is_directory(ignored) && !entry.is_symlink(ignored)) {
            fs::permissions(entry.path(), fs::perms::owner_all, fs::perm_options::add, ignored);
        }
    }
    fs::remove_all(m_path, ignored);
}

std::string Scratch::write(const std::string& name, const std::string& text) const {
    const fs::path file = path(name);
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    ::chmod(file.c_str(), 0644);
    return file.string();
}

std::string Scratch::make_directory(const std::string& name) const {
    fs::create_directories(path(name));
    return path(name);
}

std::string Scratch::read(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> Scratch::names(const std::string& directory) const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(path(directory))) {
        out.push_back(entry.path().filename().string());
    }
    std::sort(out.begin(), out.end());
    return out;
}

bool is_root() {
    return ::geteuid() == 0;
}

void give(const std::string& path, uid_t owner) {
    if (::lchown(path.c_str(), owner, owner) != 0) {
        throw std::runtime_error("chown " + path + ": " + std::strerror(errno));
    }
    if (fs::is_directory(path) && !fs::is_symlink(path)) {
        for (const auto& entry : fs::directory_iterator(path)) {
            give(entry.path().string(), owner);
        }
    }
}

std::string in_child(const std::function<std::string()>& work, uid_t user) {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) {
        return "no pipe";
    }
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        std::string said;
        const bool dropped = user == ::geteuid() || (::setgroups(0, nullptr) == 0 &&
                                                     ::setgid(user) == 0 && ::setuid(user) == 0);
        try {
            said = dropped ? work() : "could not become another user";
        } catch (const std::exception& problem) {
            said = problem.what();
        }
        const bool reported =
            ::write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size());
        ::_exit(reported ? 0 : 1);
    }
    ::close(ends[1]);
    std::string said;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
        said.append(buffer, static_cast<std::size_t>(got));
    }
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? said : "the child died";
}

std::string in_mount_namespace(const std::function<std::string()>& work) {
    return in_child(
        [&]() -> std::string {
            if (::unshare(CLONE_NEWNS) != 0 ||
                ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
                return "skip: no mount namespace: " + std::string(std::strerror(errno)) +
                       "; run as root with CAP_SYS_ADMIN";
            }
            return work();
        },
        ::geteuid());
}
