// `cudaenv use`: a program cannot change the shell that called it, so it prints what the hook's
// function `cudaenv` evaluates.
#include "cli/ask.hpp"
#include "cli/command_line.hpp"
#include "cli/commands/commands.hpp"
#include "cli/report.hpp"
#include "cli/this_caller.hpp"
#include "shellhooks/hooks/shell.hpp"
#include "solver/pins/pins.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <unistd.h>

namespace cudaenv::cli {

namespace {

constexpr const char* k_variable = "CUDAENV_CUDA";
// The prompt then waits for its own answer.
constexpr std::chrono::milliseconds k_patience{500};

Error needs_hook() {
    const char* const path = std::getenv("SHELL");
    const hooks::Shell& shell = hooks::hooked_shell_at(path == nullptr ? "" : path);
    return bad_input(
               "no-hook", "`cudaenv use` changes this shell, and this shell does not have the hook",
               "`" + std::string(shell.evaluate_hook) + "` adds it to this shell, `cudaenv init " +
                   std::string(shell.name) + "` to every new one")
        .value();
}

// The constraint on CUDA that an argument names.
Result<std::string> wanted_cuda(const std::string& text, const std::string& place) {
    auto read = pins::parse_pin(text, place);
    if (!read && read.error().code == "unknown-pin" &&
        text.find_first_of("=@<>!~ ,") == std::string::npos) {
        // A single word is a version here, not the name of a pin.
        if (auto version = pins::PinConstraint::parse(text); !version) {
            return at_path(place, std::move(version).error());
        }
    }
    CUDAENV_TRY(const auto pins, std::move(read));
    if (pins.size() != 1 || pins.front().name != "cuda") {
        return bad_input("bad-pin", '"' + text + "\" is not a CUDA version",
                         "expected a version, e.g. 11.3; `cudaenv pin` accepts other pins", place);
    }
    return pins.front().constraint;
}

// Only the daemon knows which CUDA versions exist. The next prompt reports everything else that
// goes wrong, and an unknown version if the daemon is too slow here.
Result<void> check_release(const std::string& cuda, const nlohmann::json& of_request) {
    nlohmann::json params{{"cuda", cuda}};
    for (const char* const name : {"host", "driver", "gpu"}) {
        if (of_request.contains(name)) {
            params[name] = of_request[name];
        }
    }
    auto asked = ask_daemon("release", params, this_caller(Terminal{}),
                            {.afterwards = Afterwards::Execs, .deadline = k_patience});
    if (!asked && asked.error().code == "no-such-cuda") {
        return tl::unexpected(std::move(asked).error());
    }
    return {};
}

} // namespace

Result<int> use(Invocation& invocation) {
    const nlohmann::json& params = invocation.params;
    patch::Change change{k_variable, std::nullopt};
    const bool clears = params.contains("clear");
    if (params.contains("arguments")) {
        const std::string place = "argument " + std::to_string(params["places"][0].get<int>());
        if (clears) {
            return tl::unexpected(at_argument(params["places"][0].get<int>(), "too-many-arguments",
                                              "--clear takes no version", {}));
        }
        auto wanted = wanted_cuda(params["arguments"][0].get<std::string>(), place);
        if (!wanted) {
            if (params.contains("shell")) { // the hook's words are not the user's
                wanted.error().path.clear();
                wanted.error().column = 0;
            }
            return tl::unexpected(std::move(wanted).error());
        }
        change.value = *wanted;
    } else if (!clears) {
        return bad_input("no-argument", "cudaenv use needs a version",
                         "expected 11.3, cuda=11.3 or cu113; --clear removes it");
    }
    if (!params.contains("shell")) {
        return tl::unexpected(needs_hook());
    }
    if (change.value) {
        CUDAENV_TRY_VOID(check_release(*change.value, params));
    }
    const hooks::Shell* const shell = hooks::shell_named(params["shell"].get<std::string>());
    if (shell == nullptr) {
        return defect("unknown shell");
    }
    const std::array<patch::Change, 1> changes{change};
    CUDAENV_TRY_VOID(write_all(STDOUT_FILENO, shell->render_changes(changes)));
    return 0;
}

} // namespace cudaenv::cli
