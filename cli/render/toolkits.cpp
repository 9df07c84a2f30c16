#include "base/json_members.hpp"
#include "cli/render/host_parts.hpp"
#include "cli/render/render.hpp"

namespace cudaenv::cli {

// Each toolkit in two or three lines: what it is, what it accepts and has here, where that is from.
std::string render_toolkits(const nlohmann::json& object, const Style& style) {
    Page page(style);
    const nlohmann::json& toolkits = member(object, "toolkits");
    if (!toolkits.is_array() || toolkits.empty()) {
        page.row("toolkits", "none found");
        return page.text();
    }
    for (const nlohmann::json& toolkit : toolkits) {
        const std::string version = text_at(toolkit, "version");
        const std::string problem = text_at(toolkit, "problem");
        page.row(version.empty() ? "?" : version, short_path(style, text_at(toolkit, "path")),
                 text_at(toolkit, "source"));
        if (!problem.empty()) {
            page.row("", tick(style, State::Breaks) + ' ' + problem);
            continue;
        }
        const std::string nccl = text_at(toolkit, "nccl");
        const auto cells = toolkit_cells(toolkit, style);
        page.row("", joined({flag_at(toolkit, "nvcc") ? "nvcc" : "no nvcc", cells[3],
                             nccl.empty() ? "" : "NCCL " + nccl},
                            " · "));
        std::string here;
        if (const nlohmann::json& compilers = member(toolkit, "compilers_here");
            compilers.is_array()) {
            for (const nlohmann::json& compiler : compilers) {
                here += (here.empty() ? "" : " · ") + compiler_of(compiler);
            }
        }
        const std::string accepts =
            joined({cells[2],
                    range_of("clang", member(toolkit, "clang_min"), member(toolkit, "clang_max"))},
                   " · ");
        if (!accepts.empty()) {
            page.row("", "accepts " + accepts + "; here: " + (here.empty() ? "none" : here));
        }
        if (const std::string fit = fit_of(toolkit, style); !fit.empty()) {
            page.row("", fit);
        }
    }
    return page.text();
}

} // namespace cudaenv::cli
