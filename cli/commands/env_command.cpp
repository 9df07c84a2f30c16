// `cudaenv env` for shells, files and CI.
#include "base/fd.hpp"
#include "base/json_members.hpp"
#include "base/result.hpp"
#include "cli/ask.hpp"
#include "cli/commands/activation_answer.hpp"
#include "cli/commands/commands.hpp"
#include "cli/report.hpp"
#include "cli/this_caller.hpp"
#include "protocol/json_field.hpp"
#include "shellhooks/hooks/shell.hpp"
#include "shellhooks/patch/patch.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <span>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace cudaenv::cli {

namespace {

// What a step of GitHub Actions appends to the files that GITHUB_ENV and GITHUB_PATH name.
struct GithubText {
    std::string environment;
    std::string path; // the runner puts each line before PATH, the last one first
};

bool is_space(char c) {
    return c == ' ' || c == '\t';
}

// Whether all readers read the unquoted value as it is: compose and python-dotenv expand `$`, cut
// at ` #` and strip the ends; a quote at the start opens a quoted value.
bool means_itself(std::string_view value) {
    if (value.empty()) {
        return true;
    }
    constexpr std::string_view k_never = "$`\n\r\\";
    constexpr std::string_view k_not_first = "'\"#";
    const bool has_control = std::ranges::any_of(value, [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
    });
    return !has_control && value.find_first_of(k_never) == std::string_view::npos &&
           k_not_first.find(value.front()) == std::string_view::npos && !is_space(value.front()) &&
           !is_space(value.back()) && value.find(" #") == std::string_view::npos &&
           value.find("\t#") == std::string_view::npos;
}

// A line that the value does not have, whatever it is.
std::string delimiter_for(std::string_view value) {
    std::string delimiter = "CUDAENV_END";
    while (value.find(delimiter) != std::string_view::npos) {
        delimiter += '_';
    }
    return delimiter;
}

// A .env file that docker, docker compose and python-dotenv read alike: NAME=value without quotes,
// because docker takes quotes for part of the value. Error "no-dotenv": a
// value that no such line can say (a line end, `$`, white space at an end, ...).
Result<std::string> dotenv_text(std::span<const patch::SetVariable> values) {
    std::string text;
    for (const patch::SetVariable& variable : values) {
        if (!means_itself(variable.value)) {
            return unavailable("no-dotenv",
                               "the value of " + variable.name +
                                   " cannot be written into a .env "
                                   "file that docker, compose and python-dotenv read alike",
                               "use `cudaenv env --json`, or `cudaenv run`, which needs no file");
        }
        text += variable.name + '=' + variable.value + '\n';
    }
    return text;
}

// `front`: directories put before PATH. Without the journal, and without variables to unset, which
// these files cannot express. Error "no-github": a directory with a newline.
Result<GithubText> github_text(std::span<const patch::SetVariable> values,
                               const std::vector<std::string>& front) {
    GithubText text;
    for (const patch::SetVariable& variable : values) {
        if (variable.name == "PATH" && !front.empty()) {
            continue;
        }
        const std::string delimiter = delimiter_for(variable.value);
        text.environment +=
            variable.name + "<<" + delimiter + '\n' + variable.value + '\n' + delimiter + '\n';
    }
    for (auto directory = front.rbegin(); directory != front.rend(); ++directory) {
        if (directory->find_first_of("\r\n") != std::string::npos) {
            return unavailable("no-github", "a directory for PATH has a newline in its name", {});
        }
        text.path += *directory + '\n';
    }
    return text;
}

// GITHUB_ENV and GITHUB_PATH name files that the runner reads after the step. Appends in one write,
// as `>>` does. If the variable is not set: standard output.
Result<void> append_to(const char* variable, const std::string& text) {
    const char* const path = std::getenv(variable);
    if (path == nullptr || *path == '\0') {
        return write_all(STDOUT_FILENO, text);
    }
    const Fd fd(::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666));
    if (!fd || !write_all(fd.get(), text)) {
        return unavailable("write-failed",
                           std::string("cannot be written: ") + std::strerror(errno),
                           std::string(variable) + " names it", path);
    }
    return {};
}

Result<void> write_github(const ActivationAnswer& answer, const protocol::Caller& caller) {
    const auto front = answer.front.find("PATH");
    CUDAENV_TRY(const auto text,
                github_text(whole_values(answer, caller), front == answer.front.end()
                                                              ? std::vector<std::string>()
                                                              : front->second));
    CUDAENV_TRY_VOID(append_to("GITHUB_ENV", text.environment));
    return append_to("GITHUB_PATH", text.path);
}

Result<const hooks::Shell*> shell_of(const nlohmann::json& params) {
    if (!params.contains("shell")) {
        return bad_input("usage", "no shell given", "expected --shell SHELL");
    }
    const auto shell = hooks::shell_named(params["shell"].get<std::string>());
    return shell != nullptr ? shell : Result<const hooks::Shell*>(defect("unknown shell"));
}

// Needs no daemon: the journal is in the environment.
Result<int> write_leave(const nlohmann::json& params) {
    CUDAENV_TRY(const auto shell, shell_of(params));
    const protocol::Caller caller = this_caller(Terminal{});
    const auto changes = patch::difference(caller.environment, patch::undo(caller.environment));
    CUDAENV_TRY_VOID(write_all(STDOUT_FILENO, shell->render_changes(changes)));
    return 0;
}

} // namespace

Result<int> env(Invocation& invocation) {
    const nlohmann::json& params = invocation.params;
    int forms = 0;
    for (const char* form : {"shell", "dotenv", "github"}) {
        forms += params.contains(form) ? 1 : 0;
    }
    if (forms == 0 && !params.contains("leave")) {
        return ask_and_show(invocation);
    }
    if (forms + (invocation.output.json ? 1 : 0) > 1) {
        return bad_input("usage", "more than one output format given",
                         "expected one of --shell, --dotenv, --github and --json");
    }
    if (params.contains("leave")) {
        return write_leave(params);
    }
    nlohmann::json question = question_of(params);
    // For the scripts of `attach`; a line in a job's log is read too.
    const char* quiet = std::getenv("CUDAENV_QUIET");
    const bool reports = params.contains("shell") && !invocation.output.quiet &&
                         (quiet == nullptr || *quiet == '\0');
    if (reports) {
        question["tell_installs"] = true;
    }
    const protocol::Caller caller = this_caller(Terminal{});
    CUDAENV_TRY(const auto reply, ask_daemon("activate", std::move(question), caller));
    CUDAENV_TRY(const auto answer, read_activation(reply.object));
    if (params.contains("github")) {
        CUDAENV_TRY_VOID(write_github(answer, caller));
        return 0;
    }
    std::string text;
    if (params.contains("dotenv")) {
        CUDAENV_TRY(text, dotenv_text(whole_values(answer, caller)));
    } else {
        CUDAENV_TRY(const auto shell, shell_of(params));
        text = shell->render_changes(answer.changes);
    }
    CUDAENV_TRY_VOID(write_all(STDOUT_FILENO, text));
    if (!invocation.output.quiet && (quiet == nullptr || *quiet == '\0')) {
        for (const std::string& file : answer.skipped) {
            say(file);
        }
    }
    const nlohmann::json& installs = member(reply.object, "installs");
    if (reports && !installs.is_null()) {
        CUDAENV_TRY(const auto line, protocol::bytes_from_json(installs, "installs"));
        say(line);
        // The environment is printed even if the daemon cannot record that the line was shown.
        static_cast<void>(
            ask_daemon("activate.said", member(reply.object, "installs_said"), caller));
    }
    return 0;
}

} // namespace cudaenv::cli
