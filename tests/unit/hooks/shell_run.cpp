#include "shell_run.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

namespace cudaenv::tests {

namespace {

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void open_as(int descriptor, const std::string& path, int flags) {
    const int opened = ::open(path.c_str(), flags, 0600);
    if (opened < 0 || ::dup2(opened, descriptor) < 0) {
        ::_exit(126);
    }
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts) {
        out.push_back(text.data());
    }
    out.push_back(nullptr);
    return out;
}

} // namespace

std::vector<std::string> nasty_words() {
    std::vector<std::string> words = {
        "",
        "numpy>=1.2",
        "torch==1.12.1+cu113",
        "a b",
        "it's",
        "''",
        "\\",
        "\\'",
        "a\\!b",
        "!!",
        "!$",
        "$HOME",
        "${x}",
        "$(id)",
        "`id`",
        "*",
        "?[a-z]",
        "{a,b}",
        "~",
        "~root",
        "=ls",
        "%self",
        "-n",
        "--",
        "#x",
        "a#",
        "\"q\"",
        "a\nb",
        "\n",
        "a\n",
        "a\n\n",
        "\t x",
        ";&|<>()",
        "^x^y",
        "python[version='3.8.*']",
        "é\xff",
        "x=1",
        "@('a')",
        "a,b",
        "history !-1 \\!",
    };
    for (int c = 1; c < 256; ++c) {
        words.push_back(std::string("x") + static_cast<char>(c) + "y");
        words.emplace_back(1, static_cast<char>(c));
    }
    std::mt19937 random(20240607); // the same words every time
    constexpr std::string_view k_alphabet = "a'\"\\ !$`\n\t*?[]{}~=;&|<>()#%^@,-";
    for (int i = 0; i < 200; ++i) {
        std::string word;
        const std::size_t size = random() % 12;
        for (std::size_t k = 0; k < size; ++k) {
            word += k_alphabet[random() % k_alphabet.size()];
        }
        words.push_back(word);
    }
    return words;
}

std::string on_path(const std::string& program) {
    for (const char* directory : {"/bin/", "/usr/bin/", "/usr/local/bin/"}) {
        if (::access((directory + program).c_str(), X_OK) == 0) {
            return directory + program;
        }
    }
    return {};
}

ShellRun run_program(const std::vector<std::string>& arguments,
                     const std::map<std::string, std::string>& environment) {
    const TemporaryDirectory directory;
    const std::string out = directory.path() + "/out";
    const std::string err = directory.path() + "/err";
    std::vector<std::string> argument_texts = arguments;
    std::vector<std::string> environment_texts;
    for (const auto& [name, value] : environment) {
        environment_texts.push_back(name + '=' + value);
    }
    const std::vector<char*> argument_pointers = pointers(argument_texts);
    const std::vector<char*> environment_pointers = pointers(environment_texts);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        open_as(0, "/dev/null", O_RDONLY);
        open_as(1, out, O_WRONLY | O_CREAT);
        open_as(2, err, O_WRONLY | O_CREAT);
        ::execve(argument_pointers[0], argument_pointers.data(), environment_pointers.data());
        ::_exit(127);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    ShellRun run;
    run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    run.out = contents(out);
    run.err = contents(err);
    return run;
}

TemporaryDirectory::TemporaryDirectory() {
    std::string made = (std::filesystem::temp_directory_path() / "cudaenv-shell-XXXXXX").string();
    REQUIRE(::mkdtemp(made.data()) != nullptr);
    m_path = made;
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored; // nothing is left to be done about it
    std::filesystem::remove_all(m_path, ignored);
}

std::string TemporaryDirectory::write(const std::string& name, const std::string& text) const {
    std::string path = m_path + '/' + name;
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    REQUIRE(file.good());
    return path;
}

} // namespace cudaenv::tests
