// Real shells for tests of text that shells read.
#pragma once

#include "shellhooks/hooks/shell.hpp"

#include <map>
#include <string>
#include <vector>

namespace cudaenv::hooks {
extern const Shell k_bash, k_fish, k_posix, k_tcsh, k_xonsh, k_zsh;
} // namespace cudaenv::hooks

namespace cudaenv::tests {

// Every byte a word may hold, the ones that shells read as something, and real words.
std::vector<std::string> nasty_words();

// The program's path; empty where it is not installed.
std::string on_path(const std::string& program);

struct ShellRun {
    int status = -1; // 128 + the signal where one ended it
    std::string out; // standard output
    std::string err;
};
// Runs the program with exactly this environment, standard input empty.
ShellRun run_program(const std::vector<std::string>& arguments,
                     const std::map<std::string, std::string>& environment);

// A directory that is gone with the object.
class TemporaryDirectory {
public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    [[nodiscard]] const std::string& path() const { return m_path; }
    // Writes the file and gives its path.
    [[nodiscard]] std::string write(const std::string& name, const std::string& text) const;

private:
    std::string m_path;
};

} // namespace cudaenv::tests
