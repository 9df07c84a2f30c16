// `cudaenv env` for shells, files and CI.
#include "base/fd.hpp"
#include "cli/ask.hpp"
#include "cli/caller.hpp"
#include "cli/commands/activation_answer.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/environment_formats.hpp"
#include "cli/output.hpp"
#include "cli/render/field.hpp"
#include "cli/report.hpp"
#include "protocol/json_field.hpp"
#include "shellhooks/render.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace cudaenv::cli {

namespace {

// GITHUB_ENV and GITHUB_PATH are files that the runner made and reads after the step: appended to
// in one write, as `>>` does it. Where a variable is not set: standard output.
Result<void> append_to(const char* variable, const std::string& text) {
    const char* const path = std::getenv(variable);
    if (path == nullptr || *path == '\0') {
        return write_all(STDOUT_FILENO, text);
    }
    const Fd fd(::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666));
    if (!fd || !write_all(fd.get(), text)) {
        return tl::unexpected(Error{ErrorKind::Unavailable, "write-failed",
                                    std::string("cannot be written: ") + std::strerror(errno), path,
                                    0, 0, std::string(variable) + " names it"});
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

Result<shellhooks::Shell> shell_of(const nlohmann::json& params) {
    if (!params.contains("shell")) {
        return bad_input("usage", "no shell is named", "expected --shell SHELL");
    }
    const auto shell = shellhooks::shell_named(params["shell"].get<std::string>());
    if (!shell) {
        return defect("a shell of the table has no renderer");
    }
    return *shell;
}

// Known without a daemon: the journal is in the environment.
Result<int> write_leave(const nlohmann::json& params) {
    CUDAENV_TRY(const auto shell, shell_of(params));
    const protocol::Caller caller = this_caller(Terminal{});
    const auto changes = plan::difference(caller.environment, plan::undo(caller.environment));
    CUDAENV_TRY_VOID(write_all(STDOUT_FILENO, shellhooks::render_changes(shell, changes)));
    return 0;
}

} // namespace

Result<int> write_environment(Invocation& invocation) {
    const nlohmann::json& params = invocation.params;
    int forms = 0;
    for (const char* form : {"shell", "dotenv", "github"}) {
        forms += params.contains(form) ? 1 : 0;
    }
    if (forms + (invocation.output.json ? 1 : 0) > 1) {
        return bad_input("usage", "more than one form is asked for",
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
    // The scripts of `attach` have no other way to say it; a line of a job's log is heard as well.
    const char* quiet = std::getenv("CUDAENV_QUIET");
    const bool tells = params.contains("shell") && !invocation.output.quiet &&
                       (quiet == nullptr || *quiet == '\0');
    if (tells) {
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
        text = shellhooks::render_changes(shell, answer.changes);
    }
    CUDAENV_TRY_VOID(write_all(STDOUT_FILENO, text));
    if (!invocation.output.quiet && (quiet == nullptr || *quiet == '\0')) {
        for (const std::string& file : answer.skipped) {
            say(file);
        }
    }
    const nlohmann::json& installs = member(reply.object, "installs");
    if (tells && !installs.is_null()) {
        CUDAENV_TRY(const auto line, protocol::bytes_from_json(installs, "installs"));
        say(line);
        // Whether or not it can be kept that it was said, the environment is printed.
        static_cast<void>(
            ask_daemon("activate.said", member(reply.object, "installs_said"), caller));
    }
    return 0;
}

} // namespace cudaenv::cli
