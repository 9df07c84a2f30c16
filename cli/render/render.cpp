#include "cli/render/render.hpp"

#include "cli/render/field.hpp"
#include "cli/report.hpp"
#include "solver/plan/printable.hpp"

#include <array>
#include <string_view>

namespace cudaenv::cli {

namespace {

using Renderer = std::string (*)(const nlohmann::json&, const Style&);
struct Row {
    std::string_view schema;
    Renderer renderer;
};
constexpr auto k_renderers = std::to_array<Row>({
    {"cudaenv.host/1", render_host},
    {"cudaenv.toolkits/1", render_toolkits},
    {"cudaenv.resolve/1", render_resolve},
    {"cudaenv.pin/1", render_pin},
    {"cudaenv.probe/1", render_probe},
    {"cudaenv.usage/1", render_usage},
    {"cudaenv.check/1", render_check},
    {"cudaenv.fix/1", render_fix},
    {"cudaenv.kept/1", render_kept},
    {"cudaenv.status/1", render_status},
    {"cudaenv.config/1", render_config},
    {"cudaenv.env/1", render_env},
    {"cudaenv.change/1", render_change},
    {"cudaenv.daemon/1", render_daemon},
    {"cudaenv.log/1", render_log_line},
    {"cudaenv.finding/1", render_finding},
    {"cudaenv.error/1", render_error},
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
    text = plan::printable(text);
}

} // namespace

std::string render(const nlohmann::json& object, const Style& style) {
    const std::string schema = text_at(object, "schema");
    for (const Row& row : k_renderers) {
        if (row.schema == schema) {
            nlohmann::json shown = object;
            make_printable(shown);
            return row.renderer(shown, style);
        }
    }
    return as_json(object);
}

} // namespace cudaenv::cli
