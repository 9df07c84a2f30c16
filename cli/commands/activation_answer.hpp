// What the daemon's method `activate` says (the object `cudaenv.env/1`), read, and carried out on
// an environment that is a value.
//
// Law: what cannot be read is an error, never half an environment.
#pragma once

#include "base/result.hpp"
#include "protocol/caller.hpp"
#include "solver/plan/activation/patch.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::cli {

struct ActivationAnswer {
    std::vector<plan::Change> changes;                     // to the caller's environment
    std::vector<plan::SetVariable> set;                    // what is set, changed or not
    std::map<std::string, std::vector<std::string>> front; // directories, by list, first first
    std::vector<std::string> lists;                        // those with a directory of ours
    std::string toolkit;                                   // its directory; empty: none
    bool is_same_major = false;                            // it is another minor version
    std::string remedy; // how to get a toolkit, where there is none
    std::string line;   // the quiet line
    std::vector<std::string> warnings;
    std::vector<std::string> skipped; // project files that do not count, and why
};

// Pure. Error: a defect, because it is the daemon that wrote it.
Result<ActivationAnswer> read_activation(const nlohmann::json& object);

// "NAME=value" as a process has them, in their order; what is changed goes to the end. Entries that
// are no assignments stay. Pure.
using EnvironmentBlock = std::vector<std::string>;
EnvironmentBlock with_changes(EnvironmentBlock block, const std::vector<plan::Change>& changes);
EnvironmentBlock own_environment();

// Variables and lists of ours with their whole values, sorted: for another process than the
// caller's, which may have nothing of it yet. Pure.
std::vector<plan::SetVariable> whole_values(const ActivationAnswer& answer,
                                            const protocol::Caller& caller);

// Asks; `params` has `cuda` and what else the method takes. Where `prefix` or `name` names an
// environment, `caller` and `base` become what they would be with it active: its bin first on PATH,
// CONDA_PREFIX or VIRTUAL_ENV set; activate.d scripts are not run.
Result<ActivationAnswer> ask_activation(nlohmann::json params, protocol::Caller caller,
                                        EnvironmentBlock& base);

} // namespace cudaenv::cli
