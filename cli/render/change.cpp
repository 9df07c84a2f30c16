#include "base/json_members.hpp"
#include "cli/render/render.hpp"

namespace cudaenv::cli {

namespace {

std::string_view words_for(std::string_view change) {
    return change == "written"   ? "written"
           : change == "removed" ? "removed"
           : change == "kept"    ? "unchanged"
           : change == "absent"  ? "not there"
           : change == "foreign" ? "not written by cudaenv, unchanged"
                                 : change;
}

} // namespace

std::string render_change(const nlohmann::json& object, const Style& style) {
    Page page(style);
    std::vector<std::vector<std::string>> rows;
    for (const nlohmann::json& file : list_at(object, "files")) {
        rows.push_back({short_path(style, text_at(file, "path")),
                        std::string(words_for(text_at(file, "change")))});
    }
    page.table(text_at(object, "command"), rows);
    if (const std::string next = text_at(object, "next"); !next.empty()) {
        page.command("next", next);
    }
    return page.text();
}

} // namespace cudaenv::cli
