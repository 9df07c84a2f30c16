#include "run_client.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>

namespace cudaenv::test {

namespace fs = std::filesystem;

std::string read_file(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
}

Client::Client() {
    std::string pattern = (fs::temp_directory_path() / "cudaenv-cli-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    const std::string root = fs::canonical(pattern).string();
    directory = root + "/a project";
    fs::create_directories(directory);
    fs::create_directories(root + "/home");
    // No daemon but its own.
    fs::create_directories(root + "/run");
    fs::permissions(root + "/run", fs::perms::owner_all);
    environment = {{"HOME", root + "/home"},
                   {"XDG_RUNTIME_DIR", root + "/run"},
                   {"PATH", "/usr/bin:/bin"},
                   {"LANG", "C.UTF-8"},
                   {"CUDAENV_DAEMON", CUDAENV_DAEMON_PROGRAM}};
}

Client::~Client() {
    std::error_code ignored; // a leftover in the temporary directory is harmless
    fs::remove_all(fs::path(directory).parent_path(), ignored);
}

Ran Client::run(const std::vector<std::string>& arguments, const std::string& input,
                const std::vector<std::string>& before) const {
    std::vector<std::string> words = before;
    words.emplace_back(CUDAENV_CLIENT);
    words.insert(words.end(), arguments.begin(), arguments.end());
    return start(words, input, -1);
}

Ran Client::run_without(int fd, const std::vector<std::string>& arguments) const {
    std::vector<std::string> words = {CUDAENV_CLIENT};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return start(words, {}, fd);
}

// Through files, so that nothing waits for anybody.
Ran Client::start(const std::vector<std::string>& words, const std::string& input,
                  int closed) const {
    const std::string files = fs::path(directory).parent_path().string();
    write_file(files + "/in", input);
    std::vector<char*> arguments;
    for (const std::string& word : words) {
        arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    std::vector<std::string> variables;
    for (const auto& [name, value] : environment) {
        variables.push_back(name + '=' + value);
    }
    std::vector<char*> raw_variables;
    for (std::string& variable : variables) {
        raw_variables.push_back(variable.data());
    }
    raw_variables.push_back(nullptr);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::dup2(::open((files + "/in").c_str(), O_RDONLY), 0);
        ::dup2(::open((files + "/out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
        ::dup2(::open((files + "/err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
        if (closed >= 0) {
            ::close(closed);
        }
        if (::chdir(directory.c_str()) == 0) {
            ::execvpe(arguments[0], arguments.data(), raw_variables.data());
        }
        ::_exit(127);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            read_file(files + "/out"), read_file(files + "/err")};
}

} // namespace cudaenv::test
