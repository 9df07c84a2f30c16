#include "cli/commands/attach_scripts.hpp"

#include "shellhooks/quote.hpp"
#include "shellhooks/shell.hpp"

#include <array>

namespace cudaenv::cli {

// attach_texts.cpp, made by CMakeLists.txt.
extern const std::string_view k_activate_sh;
extern const std::string_view k_deactivate_sh;
extern const std::string_view k_activate_csh;
extern const std::string_view k_deactivate_csh;
extern const std::string_view k_activate_fish;
extern const std::string_view k_deactivate_fish;

namespace {

using shellhooks::Shell;

constexpr std::string_view k_marker = "# Written by `cudaenv attach`";
constexpr std::string_view k_program = "%PROGRAM%";

struct Template {
    const char* path;
    Shell shell;
    const std::string_view& text;
};

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
    const std::array<Template, 6> templates{{
        {"etc/conda/activate.d/zz-cudaenv.sh", Shell::Posix, k_activate_sh},
        {"etc/conda/activate.d/zz-cudaenv.csh", Shell::Tcsh, k_activate_csh},
        {"etc/conda/activate.d/zz-cudaenv.fish", Shell::Fish, k_activate_fish},
        {"etc/conda/deactivate.d/zz-cudaenv.sh", Shell::Posix, k_deactivate_sh},
        {"etc/conda/deactivate.d/zz-cudaenv.csh", Shell::Tcsh, k_deactivate_csh},
        {"etc/conda/deactivate.d/zz-cudaenv.fish", Shell::Fish, k_deactivate_fish},
    }};
    std::vector<AttachScript> scripts;
    for (const Template& script : templates) {
        scripts.push_back({script.path, with_program(script.text, shellhooks::quote_word(
                                                                      script.shell, program))});
    }
    return scripts;
}

bool is_attach_script(std::string_view text) {
    return text.starts_with(k_marker);
}

} // namespace cudaenv::cli
