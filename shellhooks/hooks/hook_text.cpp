#include "shellhooks/hooks/hook_text.hpp"

#include "base/variables.hpp"
#include "shellhooks/hooks/quote.hpp"
#include "shellhooks/hooks/shell.hpp"

namespace cudaenv::hooks {

namespace {

// The commands of conda, mamba and micromamba that may change the environment.
constexpr std::string_view k_acting =
    "activate deactivate reactivate install update upgrade remove uninstall";

// Follows the program's path when the program was removed under a running shell.
constexpr std::string_view k_gone = "was removed: its settings stay in this shell";

std::string replaced(std::string text, std::string_view mark, std::string_view with) {
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += with.size()) {
        text.replace(at, mark.size(), with);
    }
    return text;
}

std::string managed_words() {
    std::string out;
    for (const std::string_view name : managed_variables()) {
        out += out.empty() ? "" : " ";
        out += name;
    }
    return out;
}

// What a shell compares between two commands without a prompt: expansions within double quotes.
std::string place_words(const Shell& shell) {
    std::string out = "$PWD";
    for (const std::string_view name :
         {"VIRTUAL_ENV", "CONDA_PREFIX", "CUDAENV_CUDA", "CUDAENV_DISABLE"}) {
        out += ':' + replaced(std::string(shell.expansion), "NAME", name);
    }
    return out;
}

} // namespace

std::string hook_text(const Shell& shell, const HookOptions& options) {
    std::string text(shell.hook);
    text = replaced(std::move(text), "@CUDAENV_WRAP@", options.wrap ? "1" : "0");
    text = replaced(std::move(text), "@CUDAENV_MANAGED@", managed_words());
    text = replaced(std::move(text), "@CUDAENV_ACTING@", k_acting);
    text = replaced(std::move(text), "@CUDAENV_PLACE@", place_words(shell));
    text = replaced(std::move(text), "@CUDAENV_GONE@", k_gone);
    // Last: a path may contain anything.
    return replaced(std::move(text), "@CUDAENV_PROGRAM@", quote_word(shell, options.program));
}

} // namespace cudaenv::hooks
