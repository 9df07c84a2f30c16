#include "base/json_bytes.hpp"

#include "base/raw_bytes.hpp"

namespace cudaenv {

nlohmann::json bytes_to_json(std::string_view bytes) {
    if (is_utf8(bytes)) {
        return std::string(bytes);
    }
    return {{"hex", to_hex(bytes)}};
}

nlohmann::json bytes_to_json(std::span<const std::string> list) {
    return json_list(list, [](const std::string& bytes) { return bytes_to_json(bytes); });
}

nlohmann::json bytes_or_null(std::string_view bytes) {
    return bytes.empty() ? nlohmann::json() : bytes_to_json(bytes);
}

nlohmann::json text_or_null(std::string_view text) {
    return text.empty() ? nlohmann::json() : nlohmann::json(text);
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
