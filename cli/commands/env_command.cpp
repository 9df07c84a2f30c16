// `cudaenv env` for shells, files and CI.
#include "base/fd.hpp"
#include "base/json_members.hpp"
#include "cli/ask.hpp"
#include "cli/commands/activation_answer.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/environment_formats.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/this_caller.hpp"
#include "protocol/json_field.hpp"
#include "shellhooks/hooks/shell.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace cudaenv::cli {

namespace {

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
    nlohmann::json question = nlohmann::json::object();
    for (const char* key : {"cuda", "prefix", "name"}) {
        if (params.contains(key)) {
            question[key] = params[key];
        }
    }
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
