// What a shell is to be: gathered, decided and turned into changes. The one way for prompts, `env`,
// `run` and `status`.
#pragma once

#include "base/result.hpp"
#include "daemon/activation/machine.hpp"
#include "daemon/looks.hpp"
#include "host/probe/driver_files.hpp"
#include "host/project/project.hpp"
#include "protocol/caller.hpp"
#include "shellhooks/activation/composition.hpp"
#include "shellhooks/patch/update.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <vector>

namespace cudaenv::daemon {

struct Activation {
    project::LoadedProject project;
    activation::Situation situation;
    activation::CudaChoice choice;
    std::optional<facts::ToolkitLayout> layout; // of the choice's toolkit
    activation::Composition composition;
    patch::Applied applied;
    // Read once for all who report it; empty where another machine is described, and where
    // disabled.
    probe::DriverFiles driver;
    std::vector<patch::Change> changes; // from the caller's environment to `applied`
    bool disabled = false;              // CUDAENV_DISABLE: only undone
};

// Params or CUDAENV_HOST describe another machine: nothing that was read here applies to it.
bool is_described(const nlohmann::json& params, const protocol::Caller& caller);

// Params: `prefix` or `name` (another environment than the active one), `cuda` (as `cudaenv use`),
// `host`, `driver`, `gpu`, `keep`. Errors: those of pins, project files and environments.
Result<Activation> activation_of(const nlohmann::json& params, const protocol::Caller& caller,
                                 Machine& machine, Looks& looks);
// For who has nothing else to look at.
Result<Activation> activation_of(const nlohmann::json& params, const protocol::Caller& caller,
                                 Machine& machine);

// `cudaenv.env/1`.
nlohmann::json activation_to_json(const Activation& activation, bool utf8);

} // namespace cudaenv::daemon
