#include "base/json_members.hpp"
#include "cli/render/render.hpp"

#include <algorithm>

namespace cudaenv::cli {

namespace {

std::string state_line(const nlohmann::json& line, const Style& style) {
    const State state = state_of(text_at(line, "state"));
    const std::string text = text_at(line, "text");
    // Text alone for what fits; a mark for what does not.
    return state == State::Warns || state == State::Breaks ? tick(style, state) + ' ' + text : text;
}

std::string label_of(const nlohmann::json& pin, const char* version) {
    return joined({text_at(pin, "name"), text_at(pin, version)}, " ");
}

std::string change_text(const nlohmann::json& pin, const nlohmann::json& change,
                        const Style& style) {
    const std::string file = text_at(pin, "file");
    const std::string where = file.empty() ? "" : message_path(style, file);
    const std::string before = text_at(change, "before");
    if (text_at(change, "after").empty()) {
        return "no longer pinned in " + where + " (was " + before + ')';
    }
    if (!flag_at(pin, "written") || before == text_at(change, "after")) {
        return "unchanged in " + where;
    }
    return "written to " + where + (before.empty() ? "" : " (was " + before + ')');
}

} // namespace

// cuda 11.3   written to ./cudaenv.toml
//             toolkit /usr/local/cuda-11.3 (11.3.109), compiled with g++-9
// next        cudaenv resolve torch torchvision
std::string render_pin(const nlohmann::json& pin, const Style& style) {
    const auto& changes = list_at(pin, "changes");
    const auto& pins = list_at(pin, "pins");
    const bool shows = changes.empty();
    int labels = Page::k_label_width;
    for (const nlohmann::json& row : shows ? pins : changes) {
        labels = std::max(labels, width_of(label_of(row, shows ? "constraint" : "after")) + 3);
    }
    Page page(style, labels);
    for (const nlohmann::json& change : changes) {
        if (text_at(change, "before").empty() && text_at(change, "after").empty()) {
            continue; // nothing to unpin; a note reports it
        }
        page.row(label_of(change, "after"), change_text(pin, change, style));
    }
    if (shows) {
        for (const nlohmann::json& row : pins) {
            page.row(label_of(row, "constraint"),
                     text_at(row, "source") + " · " + message_path(style, text_at(row, "origin")));
        }
        if (pins.empty()) {
            page.row("pins", "none");
        }
    }
    for (const nlohmann::json& line : list_at(pin, "meaning")) {
        page.row("", state_line(line, style));
    }
    for (const std::string& note : texts_at(pin, "notes")) {
        page.row("note", note);
    }
    if (const std::string next = text_at(pin, "next"); !next.empty()) {
        page.command("next", next);
    }
    return page.text();
}

} // namespace cudaenv::cli
