// Reading fields of a JSON object that came from outside: each a value of the right kind or an
// error that names the field. Pure.
#pragma once

#include "base/json_bytes.hpp"
#include "base/result.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::protocol {

// Absent and null are the same. Error of all: "bad-field".
Result<std::optional<std::string>> string_field(const nlohmann::json& object,
                                                std::string_view name);
// `fallback` where absent.
Result<bool> bool_field(const nlohmann::json& object, std::string_view name, bool fallback);
// An integer in [least, most]; `fallback` where absent.
Result<long long> integer_field(const nlohmann::json& object, std::string_view name,
                                long long least, long long most, long long fallback);
// A list of strings; empty where absent.
Result<std::vector<std::string>> strings_field(const nlohmann::json& object, std::string_view name);

using cudaenv::bytes_to_json;
// A path that a user named; absent and null are the same.
Result<std::optional<std::string>> path_field(const nlohmann::json& object, std::string_view name);
// `name` for the message. Error: "bad-field".
Result<std::string> bytes_from_json(const nlohmann::json& value, std::string_view name);

} // namespace cudaenv::protocol
