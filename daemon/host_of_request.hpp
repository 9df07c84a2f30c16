// Which machine a request is about: --host FILE, CUDAENV_HOST, else this one with what
// `cudaenv probe` measured of it, where that still holds; --driver and --gpu on top.
#pragma once

#include "base/result.hpp"
#include "daemon/looks.hpp"
#include "host/file_system.hpp"
#include "protocol/caller.hpp"
#include "solver/facts/host.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::daemon {

Result<facts::Host> host_of(const nlohmann::json& params, const protocol::Caller& caller,
                            Looks& looks);
// For who has nothing else to look at.
Result<facts::Host> host_of(const nlohmann::json& params, const protocol::Caller& caller);

// `path` as the caller means it: from their directory, "~" being the shell's business.
std::string absolute_for(const protocol::Caller& caller, std::string_view path);

// A whole file. Errors: "cannot-read" (Unavailable), "no-such-file" (BadInput), "file-too-large".
Result<std::string> read_text_file(const std::string& path, std::size_t most_bytes);

// This machine, examined for a caller: their environment, their home, their configured directories.

facts::Host this_host(const protocol::Caller& caller,
                      const std::vector<std::string>& toolkit_directories, host::FileSystem& files);

// cudaenv-probe beside this program, or where a build tree has it; empty where it is in neither.
std::string probe_beside_this_program();

} // namespace cudaenv::daemon
