#include "shellhooks/hook.hpp"

#include "shellhooks/quote.hpp"
#include "shellhooks/renderers.hpp"
#include "solver/plan/activation/managed.hpp"

namespace cudaenv::shellhooks {

namespace {

// The commands of conda, mamba and micromamba after which an environment may be another.
constexpr std::string_view k_acting =
    "activate deactivate reactivate install update upgrade remove uninstall";

// Behind the program's path, where a shell has what it set and it can take nothing back.
constexpr std::string_view k_gone = "is gone: what it has set stays in this shell";

std::string managed_words() {
    std::string out;
    for (const std::string_view name : plan::managed_variables()) {
        out += out.empty() ? "" : " ";
        out += name;
    }
    return out;
}

// Where a shell stands, as far as it is seen between two commands without a prompt: expansions
// within double quotes.
std::string place_words(Shell shell) {
    std::string out = "$PWD";
    for (const std::string_view name :
         {"VIRTUAL_ENV", "CONDA_PREFIX", "CUDAENV_CUDA", "CUDAENV_DISABLE"}) {
        out += shell == Shell::Fish ? ":$" : ":${";
        out += name;
        out += shell == Shell::Fish ? "" : "-}";
    }
    return out;
}

std::string replaced(std::string text, std::string_view mark, std::string_view with) {
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += with.size()) {
        text.replace(at, mark.size(), with);
    }
    return text;
}

} // namespace

std::string hook_text(Shell shell, const HookOptions& options) {
    std::string text(hook_template(shell));
    text = replaced(std::move(text), "@CUDAENV_WRAP@", options.wrap ? "1" : "0");
    text = replaced(std::move(text), "@CUDAENV_MANAGED@", managed_words());
    text = replaced(std::move(text), "@CUDAENV_ACTING@", k_acting);
    text = replaced(std::move(text), "@CUDAENV_PLACE@", place_words(shell));
    text = replaced(std::move(text), "@CUDAENV_GONE@", k_gone);
    // Last: a path may hold anything.
    return replaced(std::move(text), "@CUDAENV_PROGRAM@", quote_word(shell, options.program));
}

} // namespace cudaenv::shellhooks
