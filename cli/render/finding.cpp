#include "base/json_members.hpp"
#include "cli/render/render.hpp"

namespace cudaenv::cli {

// CE104 error   torch was overwritten by a wheel
//   seen        1,987 of its files replaced
//               in ~/miniforge3/envs/apex/lib/python3.9/site-packages/torch
//   cause       it needs driver 580.65.06; ...
//   fix         cudaenv check --fix CE104       restores the saved build
std::string render_finding(const nlohmann::json& finding, const Style& style) {
    constexpr int k_labels = 14;
    Page page(style, k_labels);
    const std::string severity = text_at(finding, "severity");
    const std::string head = text_at(finding, "code") + ' ' + severity;
    page.row(text_at(finding, "code") + ' ' + coloured(style, state_of(severity), severity),
             (head.size() < k_labels ? "" : " ") + text_at(finding, "title"));
    for (const nlohmann::json& evidence : list_at(finding, "evidence")) {
        const long long line = number_at(evidence, "line");
        std::string place = message_path(style, text_at(evidence, "path"));
        place += line > 0 ? ':' + std::to_string(line) : "";
        page.row("  seen", text_at(evidence, "text"));
        if (!place.empty()) {
            page.row("", "in " + place);
        }
    }
    page.row_if("  cause", text_at(finding, "cause"));
    const nlohmann::json& fix = member(finding, "fix");
    page.row_if("  fix", text_at(fix, "text"));
    page.command(k_labels, text_at(fix, "command"));
    return page.text();
}

// cudaenv: "eleven" is not a version: expected digits and dots, as in 11.3 (argument 1, column 6)
// cudaenv: ./cudaenv.toml line 2, column 1: unknown pin "cudaa"; did you mean "cuda"?
std::string render_error(const nlohmann::json& error, const Style& style) {
    const std::string path = text_at(error, "path");
    const long long line = number_at(error, "line");
    const long long column = number_at(error, "column");
    const std::string place = joined({line > 0 ? "line " + std::to_string(line) : "",
                                      column > 0 ? "column " + std::to_string(column) : ""},
                                     ", ");
    const bool is_argument = path.starts_with("argument ");
    std::string text = "cudaenv: ";
    if (!path.empty() && !is_argument) {
        text += message_path(style, path) + (place.empty() ? "" : ' ' + place) + ": ";
    }
    text += text_at(error, "message");
    if (const std::string hint = text_at(error, "hint"); !hint.empty()) {
        // What is expected completes the sentence; anything else is a second one.
        text += (hint.starts_with("expected") ? ": " : "; ") + hint;
    }
    if (is_argument || (path.empty() && !place.empty())) {
        text += " (" + joined({path, place}, ", ") + ')';
    }
    return in_locale(style, text) + '\n';
}

} // namespace cudaenv::cli
