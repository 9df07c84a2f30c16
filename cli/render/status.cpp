#include "base/json_members.hpp"
#include "cli/render/host_parts.hpp"
#include "cli/render/render.hpp"

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

} // namespace cudaenv::cli
