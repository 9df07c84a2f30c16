#include "base/json_members.hpp"
#include "base/printable.hpp"
#include "cli/render/host_parts.hpp"
#include "cli/render/render.hpp"

#include <algorithm>

namespace cudaenv::cli {

namespace {

void project_row(const nlohmann::json& status, const Style& style, Page& page) {
    const nlohmann::json& project = member(status, "project");
    page.row("project",
             project.is_object()
                 ? joined({short_path(style, text_at(project, "directory")),
                           text_at(project, "local_file").empty() ? "" : "with cudaenv.local.toml"},
                          " · ")
                 : "none: no cudaenv.toml here or above");
}

void pin_rows(const nlohmann::json& status, const Style& style, Page& page) {
    std::vector<std::vector<std::string>> rows;
    for (const nlohmann::json& pin : list_at(status, "pins")) {
        rows.push_back({text_at(pin, "name") + ' ' + text_at(pin, "constraint"),
                        text_at(pin, "source"), message_path(style, text_at(pin, "origin"))});
    }
    if (rows.empty()) {
        page.row("pins", "none");
    } else {
        page.table("pins", rows);
    }
}

void environment_of_status(const nlohmann::json& status, const Style& style, Page& page) {
    const nlohmann::json& environment = member(status, "environment");
    page.row("env", environment.is_object()
                        ? joined({text_at(environment, "name"), text_at(environment, "kind"),
                                  short_path(style, text_at(environment, "prefix"))},
                                 " · ")
                        : "none active");
}

void driver_of_status(const nlohmann::json& status, Page& page) {
    const nlohmann::json& driver = member(status, "driver");
    if (!driver.is_object()) {
        const std::string reason = text_at(status, "driver_absent");
        page.row("driver", reason.empty() ? "unknown" : "none: " + reason);
        return;
    }
    const std::string cuda = text_at(driver, "cuda");
    page.row("driver",
             joined({text_at(driver, "version"), cuda.empty() ? "" : "gives CUDA " + cuda}, " · "));
}

void cuda_row(const nlohmann::json& status, Page& page) {
    const nlohmann::json& cuda = member(status, "cuda");
    if (!cuda.is_object()) {
        return;
    }
    page.row("cuda", joined({text_at(cuda, "version"), text_at(cuda, "reason"),
                             flag_at(status, "applied") ? "" : "not in this shell yet"},
                            " · "));
}

void toolkit_row(const nlohmann::json& status, const Style& style, Page& page) {
    const nlohmann::json& toolkit = member(status, "toolkit");
    if (!toolkit.is_object()) {
        return;
    }
    page.row("toolkit",
             joined({text_at(toolkit, "version"), short_path(style, text_at(toolkit, "path")),
                     fit_of(toolkit, style)},
                    " · "));
}

// "15 min", "2 h 5 min", "40 s"
std::string duration(long long seconds) {
    if (seconds < 60) {
        return std::to_string(seconds) + " s";
    }
    const long long minutes = seconds / 60;
    return joined({minutes >= 60 ? std::to_string(minutes / 60) + " h" : "",
                   minutes % 60 != 0 ? std::to_string(minutes % 60) + " min" : ""},
                  " ");
}

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

std::string render_status(const nlohmann::json& status, const Style& style) {
    Page page(style);
    project_row(status, style, page);
    pin_rows(status, style, page);
    environment_of_status(status, style, page);
    driver_of_status(status, page);
    cuda_row(status, page);
    toolkit_row(status, style, page);
    if (const auto probed = text_at(member(status, "probe"), "text"); !probed.empty()) {
        page.row("probe", probed);
    }
    // Errors first; they come before what is only worth knowing.
    for (const nlohmann::json& finding : list_at(status, "findings")) {
        const bool is_error = text_at(finding, "severity") == "error";
        page.row(text_at(finding, "code"), tick(style, is_error ? State::Breaks : State::Warns) +
                                               ' ' + text_at(finding, "title"));
    }
    for (const std::string& note : texts_at(status, "notes")) {
        page.row("note", note);
    }
    page.command("next", text_at(status, "next"));
    return page.text();
}

std::string render_config(const nlohmann::json& config, const Style& style) {
    Page page(style);
    const nlohmann::json& paths = member(config, "paths");
    if (text_at(config, "action") == "path") {
        page.row("user", text_at(paths, "user").empty() ? "none: no home" : text_at(paths, "user"));
        page.row("system", text_at(paths, "system"));
        return page.text();
    }
    std::vector<std::vector<std::string>> rows;
    for (const nlohmann::json& setting : list_at(config, "settings")) {
        const nlohmann::json& value = member(setting, "value");
        std::string text = value.is_string() ? value.get<std::string>() : value.dump();
        if (text_at(config, "action") == "get") {
            page.line(text); // for scripts: the value and nothing else
            return page.text();
        }
        rows.push_back({text_at(setting, "key"), std::move(text),
                        joined({message_path(style, text_at(setting, "origin")),
                                flag_at(setting, "locked") ? "locked" : ""},
                               " · ")});
    }
    Page table(style, 0);
    if (rows.empty()) {
        table.row("", "written to " + short_path(style, text_at(paths, "user")));
    }
    table.table("", rows);
    for (const std::string& note : texts_at(config, "notes")) {
        table.row("note", note);
    }
    return table.text();
}

// daemon     running, pid 4711, for 5 min
// socket     /run/user/1000/cudaenv/daemon.socket
// build      0.1.0+g1a2b3c4
// requests   12
// exits      after 15 min without requests
std::string render_daemon(const nlohmann::json& daemon, const Style& style) {
    Page page(style);
    if (!flag_at(daemon, "running")) {
        page.row("daemon", "not running");
        page.row_if("", text_at(daemon, "why_not"));
        return page.text();
    }
    page.row("daemon", "running, pid " + std::to_string(number_at(daemon, "pid")) + ", for " +
                           duration(number_at(daemon, "uptime_seconds")));
    page.row("socket", text_at(daemon, "socket"));
    page.row("build", text_at(daemon, "build"));
    page.row("requests", std::to_string(number_at(daemon, "requests")));
    page.row("exits",
             "after " + duration(number_at(daemon, "idle_exit_seconds")) + " without requests");
    return page.text();
}

// 2026-01-31T12:00:00.123Z info  4711 listens on ...
std::string render_log_line(const nlohmann::json& line) {
    std::string level = text_at(line, "level");
    level.resize(5, ' ');
    return printable(text_at(line, "time") + ' ' + level + ' ' +
                     std::to_string(number_at(line, "pid")) + ' ' + text_at(line, "text")) +
           '\n';
}

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
    page.command("next", text_at(pin, "next"));
    return page.text();
}

} // namespace cudaenv::cli
