// What a command writes: results, failures, single lines on standard error.
#pragma once

#include "base/result.hpp"
#include "cli/command_line.hpp"
#include "cli/progress_line.hpp"
#include "cli/render/style.hpp"
#include "protocol/caller.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>

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

// Writing results: to a descriptor, or to a file that is either complete or not there.

// Error "write-failed"; if the reader has closed its end (EPIPE) "reader-gone", which is not
// reported.
Result<void> write_all(int fd, std::string_view text);

// Replaces a file atomically, following symlinks except those of other users; writes into a device
// or pipe.
Result<void> write_file(const std::string& path, std::string_view text);

// A text for a shell that can read it only from a file: `eval` of tcsh keeps no newlines.

// Writes `text` to a new file that only this user can read, in the runtime directory or else in
// /tmp or /dev/shm, and returns its path, one plain word. The file's first line removes it, so that
// no shell ever removes a file just because this program printed its name. Nothing if no such file
// can be created.
std::optional<std::string> write_private_script(std::string_view text);

} // namespace cudaenv::cli
