#include "base/json_members.hpp"
#include "cli/render/render.hpp"

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

} // namespace

std::string render_check(const nlohmann::json& check, const Style& style) {
    Page page(style);
    page.row("env",
             joined({short_path(style, text_at(check, "environment")), extent_of(check)}, " · "));
    std::string findings;
    for (const nlohmann::json& finding : list_at(check, "findings")) {
        findings += render_finding(within(finding, text_at(check, "environment")), style);
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

} // namespace cudaenv::cli
