#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <grp.h>
#include <stdexcept>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cudaenv::test {

namespace fs = std::filesystem;

TemporaryTree::TemporaryTree() {
    std::string pattern = (fs::temp_directory_path() / "cudaenv-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
        throw std::runtime_error("no temporary directory at " + pattern);
    }
    ::chmod(pattern.c_str(), 0755); // as_nobody looks into it
    m_path = fs::canonical(pattern).string();
}

TemporaryTree::~TemporaryTree() {
    std::error_code ignored; // a leftover under /tmp fails no test
    fs::remove_all(m_path, ignored);
}

std::string TemporaryTree::file(const std::string& relative, const std::string& content,
                                unsigned mode) const {
    const auto path = m_path + '/' + relative;
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << content;
    ::chmod(path.c_str(), mode);
    return path;
}

std::string TemporaryTree::link(const std::string& relative, const std::string& target) const {
    const auto path = m_path + '/' + relative;
    fs::create_directories(fs::path(path).parent_path());
    fs::create_symlink(target, path);
    return path;
}

std::string TemporaryTree::directory(const std::string& relative) const {
    const auto path = m_path + '/' + relative;
    fs::create_directories(path);
    return path;
}

std::string as_nobody(const std::function<std::string()>& body) {
    if (::geteuid() != 0) {
        SKIP("needs root, to become another user; run as root");
    }
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        constexpr uid_t k_nobody = 65534;
        if (::setgroups(0, nullptr) != 0 || ::setgid(k_nobody) != 0 || ::setuid(k_nobody) != 0) {
            ::_exit(77);
        }
        const auto text = body();
        const ssize_t written = ::write(ends[1], text.data(), text.size());
        ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    ::close(ends[1]);
    std::string text;
    char block[4096];
    for (ssize_t got = 0; (got = ::read(ends[0], block, sizeof block)) > 0;) {
        text.append(block, static_cast<std::size_t>(got));
    }
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        SKIP("this root may not become another user (a container without that right)");
    }
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) == 0);
    return text;
}

} // namespace cudaenv::test
