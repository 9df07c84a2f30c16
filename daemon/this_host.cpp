#include "daemon/this_host.hpp"

#include "base/own_path.hpp"
#include "host/examine.hpp"

#include <ctime>
#include <unistd.h>

namespace cudaenv::daemon {

std::string probe_beside_this_program() {
    const std::string own = own_path();
    if (own.empty()) {
        return {};
    }
    const std::string directory = own.substr(0, own.rfind('/'));
    for (const char* place : {"/cudaenv-probe", "/../kernels/cudaenv-probe"}) {
        if (::access((directory + place).c_str(), X_OK) == 0) {
            return directory + place;
        }
    }
    return {};
}

facts::Host this_host(const protocol::Caller& caller,
                      const std::vector<std::string>& toolkit_directories,
                      host::FileSystem& files) {
    host::ExamineOptions options;
    for (const auto& variable : caller.environment) {
        // The user's LD_PRELOAD and the like are for what is tried, not for whom is asked a
        // version.
        if (protocol::is_caller_variable(variable.first)) {
            options.environment.insert(variable);
        }
    }
    options.home = caller.variable("HOME").value_or("");
    options.toolkit_directories = toolkit_directories;
    options.probe_path = probe_beside_this_program();
    options.cache_directory = host::default_cache_directory(options.environment, options.home);
    host::ChildProcessRunner processes;
    return host::examine(options, files, processes, host::system_identity(), std::time(nullptr));
}

} // namespace cudaenv::daemon
