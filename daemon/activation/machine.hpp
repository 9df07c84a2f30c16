// What activation needs to know of this machine and of environments on it, kept between requests
// for as long as the files it was read from are as they were.
#pragma once

#include "daemon/check/inventories.hpp"
#include "host/observed/observed_cache.hpp"
#include "solver/facts/environment.hpp"
#include "solver/facts/host.hpp"
#include "solver/plan/activation/patch.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudaenv::daemon {

enum class Gpus { NotNeeded, Needed };
// What is asked for: a prompt waits for the decision alone, `status` for the whole versions too.
enum class Depth { Decision, Whole };

class Machine {
public:
    // Toolkits and compilers of the machine, not those inside the active environment `prefix`:
    // these are `environment`'s. `shell` is an environment without our changes. GPUs are asked for
    // only where needed: that may start a child.
    facts::Host host(const plan::Variables& shell, const std::string& prefix,
                     const std::vector<std::string>& toolkit_directories, Gpus gpus, Depth depth);
    std::optional<facts::EnvironmentFacts> environment(const std::string& prefix);
    facts::ToolkitLayout layout(const std::string& toolkit);
    Inventories& inventories() { return m_inventories; }

private:
    host::DiskFileSystem m_files;
    host::ObservedCache<facts::Host> m_hosts{16};
    host::ObservedCache<std::optional<facts::EnvironmentFacts>> m_environments{64};
    host::ObservedCache<facts::ToolkitLayout> m_layouts{32};
    Inventories m_inventories;
};

} // namespace cudaenv::daemon
