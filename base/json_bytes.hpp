// Bytes that need not be UTF-8 (paths, values of variables) in JSON: text where they are UTF-8,
// else {"hex": "2f70ff"}. JSON has no other way, and U+FFFD would name another file. Pure.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cudaenv {

nlohmann::json bytes_to_json(std::string_view bytes);
nlohmann::json bytes_to_json(std::span<const std::string> list);
// Null where it is empty.
nlohmann::json bytes_or_null(std::string_view bytes);
nlohmann::json text_or_null(std::string_view text);
template <typename Value>
nlohmann::json value_or_null(const std::optional<Value>& value) {
    if constexpr (requires { value->str(); }) {
        return value ? nlohmann::json(value->str()) : nlohmann::json();
    } else {
        return value ? nlohmann::json(*value) : nlohmann::json();
    }
}
// The array of what `make` gives of each value.
template <typename Range, typename Make>
nlohmann::json json_list(Range&& values, Make make) {
    nlohmann::json list = nlohmann::json::array();
    for (auto&& value : values) {
        list.push_back(make(value));
    }
    return list;
}
// None where it is neither form.
std::optional<std::string> bytes_of_json(const nlohmann::json& value);

} // namespace cudaenv
