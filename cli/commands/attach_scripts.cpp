#include "cli/commands/attach_scripts.hpp"

#include "shellhooks/hooks/quote.hpp"
#include "shellhooks/hooks/shell.hpp"

namespace cudaenv::cli {

namespace {

constexpr std::string_view k_marker = "# Written by `cudaenv attach`";
constexpr std::string_view k_program = "%PROGRAM%";

std::string with_program(std::string_view text, const std::string& word) {
    std::string out;
    std::size_t from = 0;
    for (std::size_t at = 0; (at = text.find(k_program, from)) != std::string_view::npos;
         from = at + k_program.size()) {
        out.append(text.substr(from, at - from)).append(word);
    }
    return out.append(text.substr(from));
}

} // namespace

std::vector<AttachScript> attach_scripts(const std::string& program) {
    std::vector<AttachScript> scripts;
    const auto add = [&](const hooks::Shell& shell, const char* directory, const char* text) {
        scripts.push_back({"etc/conda/" + std::string(directory) + "/zz-cudaenv." +
                               std::string(shell.attach.extension),
                           with_program(text, hooks::quote_word(shell, program))});
    };
    for (const hooks::Shell* const shell : hooks::shells()) {
        if (shell->attach.activate != nullptr) {
            add(*shell, "activate.d", shell->attach.activate);
            add(*shell, "deactivate.d", shell->attach.deactivate);
        }
    }
    return scripts;
}

bool is_attach_script(std::string_view text) {
    return text.starts_with(k_marker);
}

} // namespace cudaenv::cli
