#include "cli/render/render.hpp"

#include "cli/render/field.hpp"

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
    {"cudaenv.status/1", render_status},
    {"cudaenv.config/1", render_config},
    {"cudaenv.finding/1", render_finding},
    {"cudaenv.error/1", render_error},
});

} // namespace

std::string render(const nlohmann::json& object, const Style& style) {
    const std::string schema = text_at(object, "schema");
    for (const Row& row : k_renderers) {
        if (row.schema == schema) {
            return row.renderer(object, style);
        }
    }
    return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

} // namespace cudaenv::cli
