// Who asks: what the daemon must know of the client's process, because a daemon's own directory,
// environment and terminal are not the user's. Pure.
#pragma once

#include "base/result.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::protocol {

struct Caller {
    std::string cwd; // absolute; any bytes
    // Only those that `travels`; unset ones are missing. Any bytes.
    std::map<std::string, std::string, std::less<>> environment;
    bool is_terminal = false; // the client's standard output is one
    int columns = 80;
    bool utf8 = false; // the locale's characters are UTF-8
    unsigned uid = 0;

    // The variable's value; none where it is unset.
    [[nodiscard]] std::optional<std::string> variable(std::string_view name) const;
};

// Whether cudaenv reads it (base/variables.hpp), or it is somebody else's copy of one that it
// reads:
// __CONDA_SHLVL_1_CUDA_HOME.
bool is_caller_variable(std::string_view name);

// Whether CUDA's libraries or the loader do something else for it, by its name: CUDA_..., NCCL_...,
// LD_PRELOAD. Not what only changes their words and caches, nor what may be a secret by its name.
bool is_read_by_cuda(std::string_view name);
// On the list, or read by CUDA and at most so long: some of NCCL's name a topology's file, none
// holds one.
inline constexpr std::size_t k_longest_of_cuda = 4096;
bool travels(std::string_view name, std::string_view value);

nlohmann::json caller_to_json(const Caller& caller);
// Variables that are not on the list are dropped. Error: "bad-field".
Result<Caller> caller_from_json(const nlohmann::json& object);

} // namespace cudaenv::protocol
