#include "base/json_members.hpp"

namespace cudaenv {

const nlohmann::json& member(const nlohmann::json& object, std::string_view name) {
    static const nlohmann::json k_null;
    if (!object.is_object()) {
        return k_null;
    }
    const auto found = object.find(name);
    return found == object.end() ? k_null : *found;
}

std::string text_at(const nlohmann::json& object, std::string_view name) {
    const nlohmann::json& value = member(object, name);
    return value.is_string() ? value.get<std::string>() : std::string();
}

bool flag_at(const nlohmann::json& object, std::string_view name) {
    const nlohmann::json& value = member(object, name);
    return value.is_boolean() && value.get<bool>();
}

long long number_at(const nlohmann::json& object, std::string_view name, long long fallback) {
    const nlohmann::json& value = member(object, name);
    return value.is_number_integer() ? value.get<long long>() : fallback;
}

const std::vector<nlohmann::json>& list_at(const nlohmann::json& object, std::string_view name) {
    static const std::vector<nlohmann::json> k_none;
    const nlohmann::json& value = member(object, name);
    return value.is_array() ? value.get_ref<const nlohmann::json::array_t&>() : k_none;
}

std::vector<std::string> texts_at(const nlohmann::json& object, std::string_view name) {
    std::vector<std::string> texts;
    for (const nlohmann::json& item : list_at(object, name)) {
        if (item.is_string()) {
            texts.push_back(item.get<std::string>());
        }
    }
    return texts;
}

} // namespace cudaenv
