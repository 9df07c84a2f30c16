#include "base/json_members.hpp"
#include "cli/render/render.hpp"

#include <map>

namespace cudaenv::cli {

namespace {

// A path or value; marked if its bytes are not UTF-8.
std::string shown(const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>()
           : value.is_null() ? std::string()
                             : "(not UTF-8) " + text_at(value, "hex");
}

// LIST=dir:dir${LIST:+:$LIST}, as a careful person would write it: where the list is unset, no
// empty element, which would be the current directory.
std::vector<std::vector<std::string>> list_rows(const nlohmann::json& object) {
    std::map<std::string, std::pair<std::string, std::string>> lists;
    for (const bool is_front : {true, false}) {
        const nlohmann::json& directories = member(object, is_front ? "front" : "back");
        if (!directories.is_object()) {
            continue;
        }
        for (const auto& [name, entries] : directories.items()) {
            auto& list = lists[name];
            for (const nlohmann::json& entry : entries) {
                std::string& end = is_front ? list.first : list.second;
                end += (end.empty() ? "" : ":") + shown(entry);
            }
        }
    }
    std::vector<std::vector<std::string>> rows;
    for (const auto& [name, ends] : lists) {
        const auto& [front, back] = ends;
        std::string text = name + '=' + front;
        text += back.empty()
                    ? "${" + name + ":+:$" + name + '}'
                    : (front.empty() ? "" : ":") + ("${" + name + ":+$" + name + ":}") + back;
        rows.push_back({std::move(text)});
    }
    return rows;
}

std::string_view words_for(std::string_view change) {
    return change == "written"   ? "written"
           : change == "removed" ? "removed"
           : change == "kept"    ? "unchanged"
           : change == "absent"  ? "not there"
           : change == "foreign" ? "not written by cudaenv, unchanged"
                                 : change;
}

} // namespace

std::string render_env(const nlohmann::json& object, const Style& style) {
    Page page(style);
    const std::string line = text_at(object, "line");
    page.row("active", line.empty() ? "nothing: neither a pin nor the environment asks for CUDA"
                                    : in_locale(style, line));
    if (const std::string origin = text_at(object, "origin"); !origin.empty()) {
        page.row("because", joined({text_at(object, "rung"), message_path(style, origin)}, ": "));
    }
    std::vector<std::vector<std::string>> rows;
    if (const nlohmann::json& set = member(object, "set"); set.is_object()) {
        for (const auto& [name, value] : set.items()) {
            rows.push_back({name + '=' + shown(value)});
        }
    }
    for (auto& row : list_rows(object)) {
        rows.push_back(std::move(row));
    }
    page.table("sets", rows);
    for (const std::string& note : texts_at(object, "notes")) {
        page.row("note", in_locale(style, note));
    }
    for (const std::string& warning : texts_at(object, "warnings")) {
        page.row("warning", in_locale(style, warning));
    }
    page.command("next", text_at(object, "remedy"));
    return page.text();
}

std::string render_change(const nlohmann::json& object, const Style& style) {
    Page page(style);
    std::vector<std::vector<std::string>> rows;
    for (const nlohmann::json& file : list_at(object, "files")) {
        rows.push_back({short_path(style, text_at(file, "path")),
                        std::string(words_for(text_at(file, "change")))});
    }
    page.table(text_at(object, "command"), rows);
    page.command("next", text_at(object, "next"));
    return page.text();
}

} // namespace cudaenv::cli
