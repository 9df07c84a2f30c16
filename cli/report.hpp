// How a command reports a failure, and single lines on standard error.
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
// The style of messages on standard error, before options are known.
Style message_style();

// Reports the failure as an object on standard output with --json, else on standard error. Returns
// the exit status.
int report_failure(const Error& error, bool json);
// One line on standard error, "cudaenv: " before it.
void say(const std::string& message);

} // namespace cudaenv::cli
