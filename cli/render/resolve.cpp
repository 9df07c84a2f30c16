#include "base/json_members.hpp"
#include "cli/render/host_parts.hpp"
#include "cli/render/render.hpp"

#include <array>

namespace cudaenv::cli {

namespace {

std::string file_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

std::string listed(const std::vector<std::string>& pieces) {
    std::string text;
    for (const std::string& piece : pieces) {
        text += (text.empty() ? "" : " · ") + piece;
    }
    return text;
}

// "~/venvs/vision · Python 3.11 · torch 2.8.0+cu128 (kept)"
void environment_row(const nlohmann::json& outcome, const Style& style, Page& page) {
    const nlohmann::json& environment = member(outcome, "environment");
    if (!environment.is_object()) {
        return;
    }
    const std::string prefix = text_at(environment, "prefix");
    std::vector<std::string> pieces{prefix.empty() ? text_at(environment, "shown")
                                                   : short_path(style, prefix)};
    if (const std::string python = text_at(environment, "python"); !python.empty()) {
        pieces.push_back("Python " + python);
    }
    for (const std::string& kept : texts_at(outcome, "kept")) {
        pieces.push_back(kept + " (kept)");
    }
    page.row("environment", listed(pieces));
    for (const nlohmann::json& change : list_at(outcome, "changes")) {
        const std::string why = text_at(change, "why");
        page.row("change", text_at(change, "name") + ' ' + text_at(change, "from") + " -> " +
                               text_at(change, "to") + (why.empty() ? "" : ", because " + why));
    }
}

// "solved" for a new environment; "install" for one that is there, without what it has already.
void solved_row(const nlohmann::json& outcome, Page& page) {
    const bool here = member(outcome, "environment").is_object();
    std::vector<std::string> pieces;
    bool cuda_shown = false;
    for (const nlohmann::json& package : list_at(outcome, "packages")) {
        const std::string name = text_at(package, "name");
        const bool shown = flag_at(package, "asked") || flag_at(package, "framework");
        if (shown && name != "python" && !(here && flag_at(package, "kept"))) {
            pieces.push_back(name + ' ' + text_at(package, "version"));
            cuda_shown = cuda_shown || pieces.back().find("+cu") != std::string::npos;
        }
    }
    const bool nothing = here && pieces.empty();
    const auto add = [&](const char* label, const char* key) {
        if (const std::string version = text_at(outcome, key); !version.empty() && !nothing) {
            pieces.push_back(std::string(label) + ' ' + version);
        }
    };
    if (!cuda_shown) {
        add("CUDA", "cuda");
    }
    if (!here) {
        add("python", "python");
    }
    add("cuDNN", "cudnn");
    if (list_at(outcome, "commands").empty()) {
        pieces.emplace_back("nothing to install");
    }
    page.row(here ? "install" : "solved", listed(pieces));
}

void runs_row(const nlohmann::json& outcome, const Style& style, Page& page) {
    std::vector<std::string> pieces;
    for (const nlohmann::json& verdict : list_at(outcome, "runs")) {
        std::string text = text_at(verdict, "text");
        pieces.push_back(text_at(verdict, "answer") == "yes" ? text + ' ' + tick(style, State::Fits)
                                                             : std::move(text));
    }
    if (!pieces.empty()) {
        page.row("runs", listed(pieces));
    }
}

void builds_row(const nlohmann::json& outcome, const Style& style, Page& page) {
    const nlohmann::json& toolkit = member(outcome, "toolkit");
    if (!toolkit.is_object()) {
        return;
    }
    const std::string version = text_at(toolkit, "version");
    std::string text = "nvcc " + version + ' ' + short_path(style, text_at(toolkit, "path")) + ' ' +
                       tick(style, State::Fits);
    if (const nlohmann::json& compiler = member(outcome, "host_compiler"); compiler.is_object()) {
        const std::string range =
            range_of("gcc", member(toolkit, "gcc_min"), member(toolkit, "gcc_max"));
        text += " · " + file_name(text_at(compiler, "path")) + ' ' + tick(style, State::Fits);
        if (!range.empty()) {
            text += " (" + version.substr(0, version.find('.', version.find('.') + 1)) +
                    " accepts " + range + ')';
        }
    }
    page.row("builds", text);
}

// A finding in one row, with its fix below it; of a note `explain` shows the fix.
void finding_rows(std::string_view label, const nlohmann::json& finding, const Style& style,
                  Page& page) {
    const std::string severity = text_at(finding, "severity");
    const State state = severity == "error" ? State::Breaks : State::Warns;
    page.row(label, (severity == "note" ? "" : tick(style, state) + ' ') +
                        text_at(finding, "title") + " (" + text_at(finding, "code") + ')');
    if (severity == "note") {
        return;
    }
    const nlohmann::json& fix = member(finding, "fix");
    page.row_if("", text_at(fix, "text"));
    page.command(Page::k_label_width, text_at(fix, "command"));
}

void findings(const nlohmann::json& outcome, const Style& style, Page& page, std::string& after) {
    const bool full = flag_at(outcome, "explain");
    for (const char* key : {"missing", "warnings"}) {
        for (const nlohmann::json& finding : list_at(outcome, key)) {
            if (full) {
                after += '\n' + render_finding(finding, style);
            } else {
                finding_rows(std::string_view(key) == "missing" ? "missing" : "warning", finding,
                             style, page);
            }
        }
    }
}

void commands(const nlohmann::json& outcome, Page& page) {
    if (list_at(outcome, "commands").empty()) {
        return;
    }
    page.line("run");
    for (const std::string& command : texts_at(outcome, "commands")) {
        page.command(2, command);
    }
    for (const nlohmann::json& alternative : list_at(outcome, "alternatives")) {
        page.line("or");
        for (const std::string& command : texts_at(alternative, "commands")) {
            page.command(2, command);
        }
    }
}

// Every package with its origin, for `explain`.
void package_table(const nlohmann::json& outcome, Page& page) {
    std::vector<std::vector<std::string>> rows;
    for (const nlohmann::json& package : list_at(outcome, "packages")) {
        rows.push_back({text_at(package, "name"), text_at(package, "version"),
                        text_at(package, "build"),
                        joined({text_at(package, "manager"), text_at(package, "channel")}, " · "),
                        flag_at(package, "asked") ? "requested" : ""});
    }
    page.table("packages", rows);
}

// Why each version, if a newer one was available.
void choices(const nlohmann::json& outcome, Page& page) {
    for (const nlohmann::json& choice : list_at(outcome, "choices")) {
        const std::string newest = text_at(choice, "newest");
        page.row("why", text_at(choice, "chosen") + ": " +
                            (newest.empty() ? text_at(choice, "why")
                                            : newest + " is newer, but " + text_at(choice, "why")));
        page.row_if("next best", text_at(choice, "next"));
    }
}

void remarks(const nlohmann::json& outcome, Page& page) {
    for (const std::string& remark : texts_at(outcome, "remarks")) {
        page.row("note", remark);
    }
}

std::string number_word(std::size_t number) {
    constexpr auto k_words = std::to_array<const char*>(
        {"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"});
    return number < k_words.size() ? k_words[number] : std::to_string(number);
}

void fix_list(const nlohmann::json& conflict, Page& page) {
    const auto& fixes = list_at(conflict, "fixes");
    page.blank();
    if (fixes.empty()) {
        page.line("no tested change makes it work");
        return;
    }
    page.line("what would work, smallest change first");
    for (std::size_t i = 0; i < fixes.size(); ++i) {
        const std::string number = std::to_string(i + 1);
        page.paragraph(2, 5, number + (number.size() < 2 ? "  " : " ") + text_at(fixes[i], "text"));
        page.command(5, text_at(fixes[i], "command"));
    }
}

std::string render_conflict(const nlohmann::json& outcome, const Style& style) {
    Page page(style);
    const nlohmann::json& conflict = member(outcome, "conflict");
    const auto& reasons = list_at(conflict, "reasons");
    std::string head = "no solution on this host";
    if (!reasons.empty()) {
        head +=
            ", for " + number_word(reasons.size()) + (reasons.size() == 1 ? " reason" : " reasons");
    }
    page.line(coloured(style, State::Breaks, head));
    for (const nlohmann::json& reason : reasons) {
        page.blank();
        page.paragraph(2, 2, text_at(reason, "text"));
        if (flag_at(outcome, "explain")) {
            for (const std::string& fact : texts_at(reason, "facts")) {
                page.paragraph(4, 6, fact);
            }
        }
    }
    fix_list(conflict, page);
    remarks(outcome, page);
    return page.text();
}

} // namespace

std::string render_resolve(const nlohmann::json& outcome, const Style& style) {
    if (text_at(outcome, "status") == "conflict") {
        return render_conflict(outcome, style);
    }
    Page page(style);
    std::string after;
    environment_row(outcome, style, page);
    solved_row(outcome, page);
    runs_row(outcome, style, page);
    builds_row(outcome, style, page);
    if (flag_at(outcome, "explain")) {
        page.row("request", listed(texts_at(outcome, "request")));
        package_table(outcome, page);
        choices(outcome, page);
    }
    findings(outcome, style, page, after);
    remarks(outcome, page);
    Page last(style);
    commands(outcome, last);
    return page.text() + after + (after.empty() ? "" : "\n") + last.text();
}

} // namespace cudaenv::cli
