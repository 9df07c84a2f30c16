// `cudaenv use`: a program cannot change the shell that called it, so it prints what the hook's
// function `cudaenv` evaluates.
#include "cli/ask.hpp"
#include "cli/caller.hpp"
#include "cli/commands/commands.hpp"
#include "cli/output.hpp"
#include "cli/usage_error.hpp"
#include "shellhooks/render.hpp"
#include "shellhooks/shell.hpp"
#include "solver/plan/pins.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>

namespace cudaenv::cli {

namespace {

constexpr const char* k_variable = "CUDAENV_CUDA";
// The prompt then waits for its own answer.
constexpr std::chrono::milliseconds k_patience{500};

// The shell that the user lives in, for the words of a hint.
std::string_view shell_of_user() {
    const char* const path = std::getenv("SHELL");
    const std::string_view whole = path == nullptr ? "" : path;
    const std::string_view name = whole.substr(whole.rfind('/') + 1);
    for (const shellhooks::Shell shell : shellhooks::hooked_shells()) {
        if (shellhooks::name_of(shell) == name) {
            return name;
        }
    }
    return "bash";
}

Error needs_hook() {
    const std::string shell(shell_of_user());
    const std::string hook = shell == "fish"    ? "cudaenv hook fish | source"
                             : shell == "tcsh"  ? "eval \"`cudaenv hook tcsh`\""
                             : shell == "xonsh" ? "execx($(cudaenv hook xonsh))"
                                                : "eval \"$(cudaenv hook " + shell + ")\"";
    return {ErrorKind::BadInput,
            "no-hook",
            "`cudaenv use` changes this shell, and this shell does not have the hook",
            {},
            0,
            0,
            "`" + hook + "` gives it to this one, `cudaenv init " + shell + "` to all"};
}

// The constraint on CUDA that an argument names.
Result<std::string> wanted_cuda(const std::string& text, const std::string& place) {
    auto read = plan::parse_pin(text, place);
    if (!read && read.error().code == "unknown-pin" &&
        text.find_first_of("=@<>!~ ,") == std::string::npos) {
        // Alone, a word is meant for a version here, not for the name of a pin.
        if (auto version = plan::PinConstraint::parse(text); !version) {
            version.error().path = place;
            return tl::unexpected(std::move(version).error());
        }
    }
    CUDAENV_TRY(const auto pins, std::move(read));
    if (pins.size() != 1 || pins.front().name != "cuda") {
        return tl::unexpected(
            Error{ErrorKind::BadInput, "bad-pin", '"' + text + "\" is not a CUDA version", place, 0,
                  0, "expected a version, as in 11.3; `cudaenv pin` takes the rest"});
    }
    return pins.front().constraint;
}

// Which CUDA exists, only the daemon knows. Whatever else goes wrong there is the prompt's to say,
// also that there is no such CUDA, where the daemon took too long here.
Result<void> check_release(const std::string& cuda) {
    auto asked = ask_daemon("release", {{"cuda", cuda}}, this_caller(Terminal{}),
                            {.afterwards = Afterwards::Execs, .deadline = k_patience});
    if (!asked && asked.error().code == "no-such-cuda") {
        return tl::unexpected(std::move(asked).error());
    }
    return {};
}

} // namespace

Result<int> use(Invocation& invocation) {
    const nlohmann::json& params = invocation.params;
    plan::Change change{k_variable, std::nullopt};
    const bool clears = params.contains("clear");
    if (params.contains("arguments")) {
        const std::string place = "argument " + std::to_string(params["places"][0].get<int>());
        if (clears) {
            return tl::unexpected(at_argument(params["places"][0].get<int>(), "too-many-arguments",
                                              "--clear takes no version", {}));
        }
        auto wanted = wanted_cuda(params["arguments"][0].get<std::string>(), place);
        if (!wanted) {
            if (params.contains("shell")) { // the hook's words are not counted as the user's are
                wanted.error().path.clear();
                wanted.error().column = 0;
            }
            return tl::unexpected(std::move(wanted).error());
        }
        change.value = *wanted;
    } else if (!clears) {
        return bad_input("no-argument", "cudaenv use needs a version",
                         "expected 11.3, cuda=11.3 or cu113; --clear takes it back");
    }
    if (!params.contains("shell")) {
        return tl::unexpected(needs_hook());
    }
    if (change.value) {
        CUDAENV_TRY_VOID(check_release(*change.value));
    }
    const auto shell = shellhooks::shell_named(params["shell"].get<std::string>());
    if (!shell) {
        return defect("a shell of the table has no renderer");
    }
    const std::array<plan::Change, 1> changes{change};
    CUDAENV_TRY_VOID(write_all(STDOUT_FILENO, shellhooks::render_changes(*shell, changes)));
    return 0;
}

} // namespace cudaenv::cli
