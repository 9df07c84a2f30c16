// The objects of cudaenv as text: one function each, chosen by the object's "schema". Pure: JSON
// in, text out, lines ended by newlines. Nothing is shown that is not in the object.
#pragma once

#include "cli/render/style.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace cudaenv::cli {

// Names of the objects, between blanks: "host toolkits ...", for `cudaenv schema`.
std::string_view names_of_objects();

// By "schema"; an object of an unknown schema is shown as JSON.
std::string render(const nlohmann::json& object, const Style& style);

std::string render_host(const nlohmann::json& host, const Style& style);
std::string render_toolkits(const nlohmann::json& toolkits, const Style& style);
std::string render_resolve(const nlohmann::json& outcome, const Style& style); // explain too
std::string render_pin(const nlohmann::json& pin, const Style& style);
std::string render_probe(const nlohmann::json& probe, const Style& style);
std::string render_usage(const nlohmann::json& usage, const Style& style);
std::string render_check(const nlohmann::json& check, const Style& style);
std::string render_fix(const nlohmann::json& fix, const Style& style);   // check --fix
std::string render_kept(const nlohmann::json& kept, const Style& style); // keep
std::string render_status(const nlohmann::json& status, const Style& style);
std::string render_config(const nlohmann::json& config, const Style& style);
std::string render_env(const nlohmann::json& env, const Style& style);
std::string render_change(const nlohmann::json& change, const Style& style); // init, attach, detach
// One finding with its evidence.
std::string render_finding(const nlohmann::json& finding, const Style& style);
std::string render_daemon(const nlohmann::json& daemon, const Style& style);
std::string render_log_line(const nlohmann::json& line);
std::string render_error(const nlohmann::json& error, const Style& style);

} // namespace cudaenv::cli
