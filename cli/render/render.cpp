#include "cli/render/render.hpp"

#include "base/json_members.hpp"
#include "base/printable.hpp"
#include "cli/report.hpp"

#include <array>

namespace cudaenv::cli {

namespace {

// One row an object: `cudaenv.NAME/1`, with its schema in daemon/schemas/NAME.json.
struct Row {
    std::string_view name;
    std::string (*renderer)(const nlohmann::json&, const Style&);
};
constexpr auto k_objects = std::to_array<Row>({
    {"host", render_host},
    {"toolkits", render_toolkits},
    {"resolve", render_resolve},
    {"pin", render_pin},
    {"probe", render_probe},
    {"usage", render_usage},
    {"check", render_check},
    {"fix", render_fix},
    {"kept", render_kept},
    {"status", render_status},
    {"config", render_config},
    {"env", render_env},
    {"change", render_change},
    {"daemon", render_daemon},
    {"finding", render_finding},
    {"error", render_error},
});

// Names of files, machines and packages come from anywhere: what would move the cursor or colour
// the terminal is shown as \xNN.
void make_printable(nlohmann::json& value) {
    if (value.is_structured()) {
        for (nlohmann::json& element : value) {
            make_printable(element);
        }
        return;
    }
    if (!value.is_string()) {
        return;
    }
    auto& text = value.get_ref<std::string&>();
    text = printable(text);
}

} // namespace

std::string_view names_of_objects() {
    static const std::string names = [] {
        std::string text;
        for (const Row& row : k_objects) {
            text += (text.empty() ? "" : " ") + std::string(row.name);
        }
        return text;
    }();
    return names;
}

std::string render(const nlohmann::json& object, const Style& style) {
    const std::string schema = text_at(object, "schema");
    for (const Row& row : k_objects) {
        if (schema == "cudaenv." + std::string(row.name) + "/1") {
            nlohmann::json shown = object;
            make_printable(shown);
            return row.renderer(shown, style);
        }
    }
    return as_json(object);
}

} // namespace cudaenv::cli
