// What a command tells people and programs at its end.
#pragma once

#include "base/result.hpp"
#include "cli/command_line.hpp"
#include "cli/render/style.hpp"
#include "cli/terminal.hpp"
#include "protocol/caller.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace cudaenv::cli {

std::string as_json(const nlohmann::json& object);
std::string as_json_line(const nlohmann::json& object);
Style style_for(const Terminal& terminal, ColourWish wish, const protocol::Caller& caller);
// How messages on standard error are set, which come before anything else is known.
Style message_style();

// Tells the failure once: as an object on standard output with --json, else on standard error.
// Returns the exit status that it ends in.
int report_failure(const Error& error, bool json);
// One line on standard error, "cudaenv: " before it.
void say(const std::string& message);

} // namespace cudaenv::cli
