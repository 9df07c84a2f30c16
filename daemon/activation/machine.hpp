// What activation needs to know of this machine and of environments on it, kept between requests
// for as long as the files it was read from are as they were.
#pragma once

#include "daemon/check/inventories.hpp"
#include "host/observed/observed_cache.hpp"
#include "shellhooks/patch/patch.hpp"
#include "solver/facts/environment.hpp"
#include "solver/facts/host.hpp"

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
    facts::Host host(const patch::Variables& shell, const std::string& prefix,
                     const std::vector<std::string>& toolkit_directories, Gpus gpus, Depth depth);
    std::optional<facts::EnvironmentFacts> environment(const std::string& prefix);
    // conda and its kin, without their versions: which commands can be offered.
    std::vector<facts::CondaInstall> conda(const patch::Variables& shell);
    facts::ToolkitLayout layout(const std::string& toolkit);
    Inventories& inventories() { return m_inventories; }

private:
    host::DiskFileSystem m_files;
    observed::ObservedCache<facts::Host> m_hosts{16};
    observed::ObservedCache<std::optional<facts::EnvironmentFacts>> m_environments{64};
    observed::ObservedCache<std::vector<facts::CondaInstall>> m_conda{16};
    observed::ObservedCache<facts::ToolkitLayout> m_layouts{32};
    Inventories m_inventories;
};

} // namespace cudaenv::daemon
