// `cudaenv run`: this process becomes the command, so that its status, signals and terminal are the
// command's own.
#include "base/own_limits.hpp"
#include "cli/commands/activation_answer.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/namespace.hpp"
#include "cli/report.hpp"
#include "cli/this_caller.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace cudaenv::cli {

namespace {

Error no_toolkit(const std::string& why, const std::string& remedy) {
    return unavailable("no-toolkit", why, remedy).value();
}

// Returns only if the command cannot be run: the exit status.
int become(const std::vector<const char*>& words, EnvironmentBlock& environment) {
    std::vector<char*> arguments;
    for (const char* word : words) {
        arguments.push_back(const_cast<char*>(word)); // exec takes, but does not change them
    }
    arguments.push_back(nullptr);
    std::vector<char*> variables;
    for (std::string& entry : environment) {
        variables.push_back(entry.data());
    }
    variables.push_back(nullptr);
    ::environ = variables.data(); // execvp looks the command up on this PATH
    give_back_limits();
    ::execvp(arguments.front(), arguments.data());
    const int problem = errno;
    const std::string name = words.front();
    if (problem == ENOENT || problem == ENOTDIR) {
        struct stat status {};
        const bool there =
            name.find('/') != std::string::npos && ::stat(name.c_str(), &status) == 0;
        say('"' + name + "\" " +
            (there                                 ? "needs an interpreter that does not exist"
             : name.find('/') != std::string::npos ? "does not exist"
                                                   : "is not on PATH"));
        return there ? k_run_not_executable : k_run_not_found;
    }
    say('"' + name + "\" cannot be executed: " + std::strerror(problem));
    return k_run_not_executable;
}

} // namespace

Result<int> run_command(Invocation& invocation) {
    const nlohmann::json& params = invocation.params;
    EnvironmentBlock environment = own_environment();
    protocol::Caller caller = this_caller(Terminal{});
    caller.environment.erase("CUDAENV_DISABLE"); // for shells only; here the user has asked
    CUDAENV_TRY(const auto answer,
                ask_activation(question_of(params), std::move(caller), environment));
    if (params.contains("cuda") && (answer.toolkit.empty() || answer.is_same_major)) {
        return tl::unexpected(no_toolkit(
            "no toolkit for CUDA " + params["cuda"].get<std::string>() + " was found here",
            answer.remedy.empty() ? "`cudaenv toolkits` lists those that are installed"
                                  : answer.remedy));
    }
    environment = with_changes(std::move(environment), answer.changes);
    if (params.contains("usr_local_cuda")) {
        if (answer.toolkit.empty()) {
            return tl::unexpected(no_toolkit("no toolkit was chosen for /usr/local/cuda",
                                             answer.remedy.empty() ? "--cuda V or a pin chooses one"
                                                                   : answer.remedy));
        }
        CUDAENV_TRY_VOID(enter_namespace_with_toolkit(answer.toolkit));
    }
    if (!invocation.output.quiet) {
        for (const std::string& file : answer.skipped) {
            say(file);
        }
        for (const std::string& warning : answer.warnings) {
            say(warning);
        }
        if (invocation.output.verbose && !answer.line.empty()) {
            say(answer.line);
        }
    }
    return become(invocation.command_words, environment);
}

} // namespace cudaenv::cli
