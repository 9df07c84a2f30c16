// Bytes that need not be UTF-8 (paths, values of variables) in JSON: text where they are UTF-8,
// else {"hex": "2f70ff"}. JSON has no other way, and U+FFFD would name another file. Pure.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace cudaenv {

nlohmann::json bytes_to_json(std::string_view bytes);
// None where it is neither form.
std::optional<std::string> bytes_of_json(const nlohmann::json& value);

} // namespace cudaenv
