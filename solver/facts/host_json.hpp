// The facts file (`cudaenv.host/1`) read and written. Pure: text in, values out.
// Law: parse_host(to_json(h).dump()) gives h back, and what is written always names its schema.
#pragma once

#include "base/result.hpp"
#include "solver/facts/host.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace cudaenv::facts {

inline constexpr std::string_view k_host_schema = "cudaenv.host/1";

// Only `schema` is required; keys that are not known are ignored, values of a wrong type are not.
// `path` is what messages call the file. Errors: "bad-facts" with line and column, for values of a
// wrong type with their JSON pointer too.
Result<Host> parse_host(std::string_view json, std::string_view path);

nlohmann::json to_json(const Host& host);

} // namespace cudaenv::facts
