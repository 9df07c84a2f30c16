// The objects of cudaenv as text: one function each, chosen by the object's "schema". Pure: JSON
// in, text out, lines ended by newlines. Nothing is shown that is not in the object.
#pragma once

#include "cli/render/style.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace cudaenv::cli {

// By "schema"; an object of no known schema is shown as JSON.
std::string render(const nlohmann::json& object, const Style& style);

std::string render_host(const nlohmann::json& host, const Style& style);
std::string render_toolkits(const nlohmann::json& toolkits, const Style& style);
std::string render_error(const nlohmann::json& error, const Style& style);

} // namespace cudaenv::cli
