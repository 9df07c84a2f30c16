#include "base/json_members.hpp"
#include "cli/render/render.hpp"

#include <array>
#include <cstdio>
#include <map>

namespace cudaenv::cli {

namespace {

// 60052 as "60,052".
std::string with_commas(long long number) {
    std::string text = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
        text.insert(static_cast<std::size_t>(at), ",");
    }
    return text;
}

std::string counted(long long number, const std::string& one, const std::string& several) {
    return with_commas(number) + ' ' + (number == 1 ? one : several);
}

// "412 conda packages, 87 distributions, 60,052 files"
std::string extent_of(const nlohmann::json& check) {
    const long long conda = number_at(check, "conda_packages");
    return joined({conda == 0 ? "" : counted(conda, "conda package", "conda packages"),
                   counted(number_at(check, "distributions"), "distribution", "distributions"),
                   counted(number_at(check, "files"), "file", "files")},
                  ", ");
}

// "2 errors, 1 note"; "No problems found".
std::string summary_of(const nlohmann::json& check) {
    std::map<std::string, long long> numbers;
    for (const nlohmann::json& finding : list_at(check, "findings")) {
        ++numbers[text_at(finding, "severity")];
    }
    std::string text;
    for (const char* severity : {"error", "warning", "note"}) {
        if (const long long number = numbers[severity]; number != 0) {
            text +=
                (text.empty() ? "" : ", ") + counted(number, severity, std::string(severity) + 's');
        }
    }
    if (!text.empty()) {
        return text;
    }
    // Files that were not read may have problems.
    return number_at(check, "unread_count") == 0 ? "No problems found"
                                                 : "No problems found in what could be read";
}

// The environment is shown once, and paths in it relative to it.
nlohmann::json within(nlohmann::json finding, const std::string& prefix) {
    if (const auto evidence = finding.find("evidence");
        evidence != finding.end() && evidence->is_array() && !prefix.empty()) {
        for (nlohmann::json& one : *evidence) {
            if (const std::string path = text_at(one, "path"); path.starts_with(prefix + '/')) {
                one["path"] = path.substr(prefix.size() + 1);
            }
        }
    }
    return finding;
}

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
        page.row_if("", text);
    }
    page.command(k_labels, text_at(step, "way_out"));
}

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

// A command that several findings have is shown with the first of them.
nlohmann::json with_new_command(nlohmann::json finding, std::map<std::string, std::string>& shown) {
    const std::string command = text_at(member(finding, "fix"), "command");
    if (command.empty()) {
        return finding;
    }
    const auto [first, is_new] = shown.try_emplace(command, text_at(finding, "code"));
    if (!is_new) {
        auto& fix = finding["fix"];
        fix["command"] = nullptr;
        fix["text"] = text_at(fix, "text") + ", with the command of " + first->second + " above";
    }
    return finding;
}

} // namespace

std::string render_check(const nlohmann::json& check, const Style& style) {
    Page page(style);
    page.row("env",
             joined({short_path(style, text_at(check, "environment")), extent_of(check)}, " · "));
    std::string findings;
    std::map<std::string, std::string> commands; // with the code of their first finding
    for (const nlohmann::json& finding : list_at(check, "findings")) {
        findings += render_finding(
            with_new_command(within(finding, text_at(check, "environment")), commands), style);
        if (style.verbose) {
            Page files(style, 14);
            bool first = true;
            for (const nlohmann::json& file : list_at(finding, "files")) {
                files.row(first ? "  files" : "",
                          file.is_string() ? file.get<std::string>() : file.dump());
                first = false;
            }
            const auto shown = static_cast<long long>(list_at(finding, "files").size());
            if (const long long all = number_at(finding, "file_count", shown); all > shown) {
                files.row("", "and " + with_commas(all - shown) + " more");
            }
            findings += files.text();
        }
    }
    Page end(style);
    const auto& unread = list_at(check, "unread");
    if (style.verbose) {
        for (const nlohmann::json& note : unread) {
            end.row("unread", text_at(note, "path") + ": " + text_at(note, "reason"));
        }
    }
    const long long ignored = number_at(check, "ignored");
    const long long accepted = number_at(check, "accepted");
    const long long unread_count =
        number_at(check, "unread_count", static_cast<long long>(unread.size()));
    end.row("found",
            joined({summary_of(check), ignored == 0 ? "" : with_commas(ignored) + " ignored",
                    accepted == 0 ? "" : with_commas(accepted) + " accepted",
                    unread_count == 0 || style.verbose
                        ? ""
                        : counted(unread_count, "record", "records") +
                              " could not be read completely (cudaenv check -v)"},
                   " · "));
    return page.text() + findings + end.text();
}

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
                        counted(number_at(one, "files"), "file", "files"),
                        size_text(number_at(one, "bytes")), text_at(one, "kept_at")});
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
