// All that activation decides from, as one value. Pure data.
#pragma once

#include "shellhooks/patch/patch.hpp"
#include "solver/facts/environment.hpp"
#include "solver/facts/host.hpp"
#include "solver/pins/config.hpp"
#include "solver/pins/pin.hpp"
#include "solver/pins/pin_layers.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::activation {

struct Situation {
    patch::Variables base; // the shell's environment without our changes (`undo`)
    facts::Host host;      // toolkits, compilers and GPUs of this machine
    std::optional<facts::EnvironmentFacts> environment; // the active one
    bool environment_named = false;                     // by -p or -n: commands name it too
    pins::EffectivePins pins;
    pins::Config config;
    facts::BuildMachine machine;
    std::string project_directory; // of the nearest cudaenv.toml; empty: none
    // Variables that the shell has without exporting them: they are the user's and are not touched.
    std::vector<std::string> kept;
    // CUDA_HOME and CUDA_PATH, where the user has not set them in this shell
    // (`inherited_variables`).
    std::vector<std::string> inherited;
    // What an earlier probe found wrong and what still holds, in a few words: "fails at runtime
    // (CE322): cudaenv probe"; empty: nothing.
    std::string probed;

    // A variable of `base` that says something; conda "unsets" by setting empty, so empty is not
    // set. Null where there is none.
    [[nodiscard]] const std::string* value(std::string_view name) const;
    // The user has set it, exported or not.
    [[nodiscard]] bool users(std::string_view name) const;
    [[nodiscard]] bool is_kept(std::string_view name) const;
    // For people: printable, the home directory as ~.
    [[nodiscard]] std::string shown(std::string_view path) const;
};

} // namespace cudaenv::activation
