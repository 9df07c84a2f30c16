// The answer of the daemon's method `activate` (the object `cudaenv.env/1`): reading it, and
// applying it to an environment.
//
// Law: what cannot be read is an error, never half an environment.
#pragma once

#include "base/result.hpp"
#include "protocol/caller.hpp"
#include "shellhooks/patch/patch.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace cudaenv::cli {

struct ActivationAnswer {
    std::vector<patch::Change> changes;                    // to the caller's environment
    std::vector<patch::SetVariable> set;                   // what is set, changed or not
    std::map<std::string, std::vector<std::string>> front; // directories, by list, first first
    std::vector<std::string> lists;                        // those with a directory of ours
    std::string toolkit;                                   // its directory; empty: none
    bool is_same_major = false;                            // it is another minor version
    std::string remedy;                                    // how to get a toolkit, if there is none
    std::string line;                                      // the quiet line
    std::vector<std::string> warnings;
    std::vector<std::string> skipped; // project files that were ignored, and why
};

// Pure. Error: a defect, since the daemon wrote it.
Result<ActivationAnswer> read_activation(const nlohmann::json& object);

// "NAME=value" entries of a process, in their order; changed ones go to the end. Entries without
// `=` stay. Pure.
using EnvironmentBlock = std::vector<std::string>;
EnvironmentBlock with_changes(EnvironmentBlock block, const std::vector<patch::Change>& changes);
EnvironmentBlock own_environment();

// The variables and lists that activation sets, with their whole values, sorted: for a process
// other than the caller. Pure.
std::vector<patch::SetVariable> whole_values(const ActivationAnswer& answer,
                                             const protocol::Caller& caller);

// Of a command's parameters those that the daemon needs; the others are the client's.
nlohmann::json question_of(const nlohmann::json& params);

// Asks; `params` as the method takes them. If `prefix` or `name` names an environment, `caller` and
// `base` become what they would be with it active: its bin first on PATH, CONDA_PREFIX or
// VIRTUAL_ENV set; activate.d scripts are not run.
Result<ActivationAnswer> ask_activation(nlohmann::json params, protocol::Caller caller,
                                        EnvironmentBlock& base);

} // namespace cudaenv::cli
