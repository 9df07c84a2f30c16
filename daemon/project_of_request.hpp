// The pins and settings that hold where a request comes from, and how they are shown as JSON.
#pragma once

#include "base/result.hpp"
#include "daemon/looks.hpp"
#include "host/project/project.hpp"
#include "protocol/caller.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace cudaenv::daemon {

Result<project::LoadedProject> project_of(const nlohmann::json& params,
                                          const protocol::Caller& caller, Looks& looks);
// For a caller that reads nothing else.
Result<project::LoadedProject> project_of(const nlohmann::json& params,
                                          const protocol::Caller& caller);

// [{name, constraint, source, origin}], by name.
nlohmann::json pins_to_json(const pins::EffectivePins& pins);

// The words after the command, and the number of each on the command line.
struct Arguments {
    std::vector<std::string> words;
    std::vector<int> places;

    // "argument 3" of the first word, which stood third.
    [[nodiscard]] std::string origin(std::size_t i) const;
};
Result<Arguments> arguments_of(const nlohmann::json& params);
// An error that counts the words only, with the command line's numbers instead.
Error with_places(Error error, const Arguments& arguments);

} // namespace cudaenv::daemon
