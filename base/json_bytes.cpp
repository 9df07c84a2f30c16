#include "base/json_bytes.hpp"

#include "base/raw_bytes.hpp"

namespace cudaenv {

nlohmann::json bytes_to_json(std::string_view bytes) {
    if (is_utf8(bytes)) {
        return std::string(bytes);
    }
    return {{"hex", to_hex(bytes)}};
}

std::optional<std::string> bytes_of_json(const nlohmann::json& value) {
    if (value.is_string()) {
        return value.get<std::string>();
    }
    if (!value.is_object()) {
        return std::nullopt;
    }
    const auto hex = value.find("hex");
    return hex != value.end() && hex->is_string() ? from_hex(hex->get_ref<const std::string&>())
                                                  : std::nullopt;
}

} // namespace cudaenv
