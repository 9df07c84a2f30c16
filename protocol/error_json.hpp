// An Error as the JSON object `cudaenv.error/1` and back, and the exit status it ends in. Pure.
#pragma once

#include "base/result.hpp"

#include <nlohmann/json.hpp>

namespace cudaenv::protocol {

// {schema, code, message, path, line, column, hint}: null where a place or hint is not known.
nlohmann::json error_to_json(const Error& error);
// What is missing or of the wrong kind stays empty. The kind is not part of the object.
Error error_from_json(const nlohmann::json& object, ErrorKind kind);

// 2 bad input, 3 could not be done, 70 a defect.
int exit_status(ErrorKind kind);

} // namespace cudaenv::protocol
