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
    if (const std::string cause = text_at(finding, "cause"); !cause.empty()) {
        page.row("  cause", cause);
    }
    const nlohmann::json& fix = member(finding, "fix");
    const std::string command = text_at(fix, "command");
    const std::string text = text_at(fix, "text");
    if (!text.empty()) {
        page.row("  fix", text);
    }
    if (!command.empty()) {
        page.command(k_labels, command);
    }
    return page.text();
}

} // namespace cudaenv::cli
