// Names of files in JSON: text where they are UTF-8, else {"hex": "2f70ff"}, as cudaenv's protocol
// has them. Pure.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::kernels {

nlohmann::ordered_json json_of_bytes(std::string_view bytes);
// None where it is neither form.
std::optional<std::string> bytes_of_json(const nlohmann::json& value);

} // namespace cudaenv::kernels
