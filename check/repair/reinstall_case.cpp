#include "base/private_files.hpp"
#include "check/repair/repair_case.hpp"

#include <algorithm>

namespace cudaenv::repair {

Result<Commit> prepare(const rules::ReinstallPip& /*repair*/, const Preparation& /*with*/) {
    return Commit();
}

// Only pip in the user's own environment knows the user's indexes and proxies.
ClientCommand command_for(const rules::ReinstallPip& repair, const facts::Inventory& inventory,
                          const UserPrograms& programs) {
    const std::string python = inventory.prefix + '/' + inventory.python;
    const std::string what = repair.distribution + "==" + repair.version;
    const bool has_pip = std::ranges::any_of(inventory.distributions,
                                             [](const auto& one) { return one.name == "pip"; });
    if (is_anothers_place(python)) {
        return {{},
                "it runs the Python of another user's environment, which root does not do; its "
                "owner can"};
    }
    if (has_pip) {
        return {{python, "-m", "pip", "install", "--no-deps", "--force-reinstall", what}, {}};
    }
    if (programs.uv.empty()) {
        return {{}, "the environment has no pip, and uv is not on PATH"};
    }
    return {{programs.uv, "pip", "install", "--python", python, "--no-deps", "--reinstall", what},
            {}};
}

} // namespace cudaenv::repair
