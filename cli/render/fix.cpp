#include "base/json_members.hpp"
#include "cli/render/render.hpp"

namespace cudaenv::cli {

namespace {

constexpr int k_labels = 14;

// A text; bytes that are not UTF-8 as they are in the object.
std::string shown(const nlohmann::json& object, const char* name) {
    const nlohmann::json& value = member(object, name);
    return value.is_object() ? value.dump() : text_at(object, name);
}

// The program that a step runs.
std::string shown_word(const nlohmann::json& word) {
    return word.is_string() ? word.get<std::string>() : word.dump();
}

std::string codes_of(const nlohmann::json& step) {
    std::string text;
    for (const std::string& code : texts_at(step, "codes")) {
        text += (text.empty() ? "" : ", ") + code;
    }
    return text.empty() ? text_at(step, "code") : text;
}

// The findings that have steps, the steps, and the findings that remain.
void plan_rows(const nlohmann::json& fix, const Style& style, Page& page) {
    std::vector<std::string> unfixed;
    for (const nlohmann::json& finding : list_at(fix, "left")) {
        if (list_at(finding, "repairs").empty()) {
            unfixed.push_back(text_at(finding, "code") + ' ' + text_at(finding, "title"));
            continue;
        }
        const std::string severity = text_at(finding, "severity");
        page.row(text_at(finding, "code") + ' ' + coloured(style, state_of(severity), severity),
                 text_at(finding, "title"));
    }
    std::vector<std::vector<std::string>> rows;
    for (const nlohmann::json& step : list_at(fix, "steps")) {
        const std::string error = shown(step, "error");
        const auto& command = list_at(step, "command");
        rows.push_back(
            {codes_of(step), shown(step, "text") +
                                 (command.empty() ? "" : ", with " + shown_word(command.front())) +
                                 (error.empty() ? "" : ": not possible, " + error)});
    }
    page.table("steps", rows);
    bool first = true;
    for (const std::string& text : unfixed) {
        page.row(first ? "remains" : "", text);
        first = false;
    }
}

void step_row(const nlohmann::json& step, const Style& style, Page& page) {
    const std::string error = shown(step, "error");
    const bool done = flag_at(step, "done");
    page.row(done ? coloured(style, State::Fits, "done")
                  : coloured(style, State::Breaks, "not done"),
             joined({codes_of(step), shown(step, "text")}, "  "));
    for (const std::string& text : {error, shown(step, "note")}) {
        if (!text.empty()) {
            page.row("", text);
        }
    }
    if (const std::string command = text_at(step, "way_out"); !command.empty()) {
        page.command(k_labels, command);
    }
}

} // namespace

// CE102 warning pip replaced conda's six 1.15.0 by six 1.17.0
// steps         CE102  uninstall six 1.17.0
//               CE102  restore the files of conda's six 1.15.0 0
std::string render_fix(const nlohmann::json& fix, const Style& style) {
    Page page(style, k_labels);
    page.row("env", short_path(style, shown(fix, "environment")));
    if (fix.contains("plan")) {
        plan_rows(fix, style, page);
        return page.text();
    }
    const auto& steps = list_at(fix, "steps");
    for (const nlohmann::json& step : steps) {
        step_row(step, style, page);
    }
    const auto& left = list_at(fix, "left");
    if (steps.empty()) {
        page.row("fixes", left.empty() ? "nothing to fix" : "no fix that is safe to apply");
    }
    if (!steps.empty() && left.empty()) {
        page.row("remains", "nothing");
    }
    std::string text = page.text();
    for (const nlohmann::json& finding : left) {
        text += render_finding(finding, style);
    }
    return text;
}

} // namespace cudaenv::cli
