#include "base/json_members.hpp"
#include "cli/render/render.hpp"

#include <array>
#include <cstdio>

namespace cudaenv::cli {

namespace {

// "1.9 GiB", "12 MiB", "340 KiB".
std::string size_text(long long bytes) {
    if (bytes >= 1LL << 30) {
        std::array<char, 32> text{};
        std::snprintf(text.data(), text.size(), "%.1f GiB", static_cast<double>(bytes) / 0x1p30);
        return text.data();
    }
    return bytes >= 1LL << 20 ? std::to_string(bytes >> 20) + " MiB"
                              : std::to_string((bytes + 1023) >> 10) + " KiB";
}

std::string shown(const nlohmann::json& object, const char* name) {
    const nlohmann::json& value = member(object, name);
    return value.is_object() ? value.dump() : text_at(object, name);
}

std::string files_text(long long files) {
    std::string text = std::to_string(files);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
        text.insert(static_cast<std::size_t>(at), ",");
    }
    return text + (files == 1 ? " file" : " files");
}

} // namespace

// kept       torch 1.12.0a0+git664058f  2,114 files  1.9 GiB  2026-11-22 09:30 UTC
//            built from ~/src/pytorch
std::string render_kept(const nlohmann::json& kept, const Style& style) {
    Page page(style);
    const std::string action = text_at(kept, "action");
    const auto& all = list_at(kept, "kept");
    page.row("env", short_path(style, shown(kept, "environment")));
    std::vector<std::vector<std::string>> rows;
    for (const nlohmann::json& one : all) {
        rows.push_back({shown(one, "name") + ' ' + shown(one, "version"),
                        files_text(number_at(one, "files")), size_text(number_at(one, "bytes")),
                        text_at(one, "kept_at")});
    }
    const char* label = action == "forgotten" ? "forgotten" : "kept";
    if (rows.empty()) {
        page.row(label, "nothing");
    } else {
        page.table(label, rows);
    }
    if (action == "kept" && !all.empty()) {
        page.row("in", short_path(style, shown(all.front(), "path")));
        if (const std::string source = shown(all.front(), "source"); !source.empty()) {
            page.row("from", short_path(style, source));
        }
    }
    for (const std::string& note : texts_at(kept, "notes")) {
        page.row("note", note);
    }
    if (action == "kept") {
        page.row("next", "cudaenv check --fix restores it if something replaces it");
    }
    return page.text();
}

} // namespace cudaenv::cli
