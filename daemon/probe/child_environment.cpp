#include "daemon/probe/child_environment.hpp"

#include "base/text.hpp"
#include "host/probe/probe_request.hpp"

namespace cudaenv::daemon {

std::vector<std::string> child_environment(plan::Variables variables, const ProbeWishes& wishes,
                                           const protocol::Caller& caller) {
    const bool all_gpus = wishes.all_gpus;
    if (const auto found = variables.find("LD_LIBRARY_PATH"); found != variables.end()) {
        found->second = join(host::loader_directories(found->second, caller.cwd), ":");
    }
    std::vector<std::string> list;
    for (const auto& [name, value] : variables) {
        if (!name.starts_with("CUDAENV_") && !name.starts_with("__") &&
            !(all_gpus && name == "CUDA_VISIBLE_DEVICES")) {
            list.push_back(name + '=' + value);
        }
    }
    return list;
}

} // namespace cudaenv::daemon
