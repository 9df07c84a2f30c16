#include "check/repair/package_caches.hpp"

#include "base/ranges.hpp"
#include "host/conda_installs.hpp"

#include <span>

namespace cudaenv::repair {

namespace {

// No version is needed, only the path.
class NoProcesses final : public host::ProcessRunner {
public:
    std::vector<host::ChildOutcome> run_all(std::span<const host::ChildCommand> commands,
                                            std::chrono::milliseconds /*deadline*/) override {
        return std::vector<host::ChildOutcome>(commands.size());
    }
};

} // namespace

std::vector<std::string> package_caches(const host::Environment& environment,
                                        const std::string& home, const std::string& prefix) {
    std::vector<std::string> caches;
    const auto add = [&](std::string directory) {
        if (directory.starts_with('/') && !is_one_of(directory, caches)) {
            caches.push_back(std::move(directory));
        }
    };
    const auto add_below = [&](const std::string& base, const char* rest) {
        if (!base.empty()) {
            add(base + rest);
        }
    };
    const std::string listed = host::value_of(environment, "CONDA_PKGS_DIRS");
    for (const char separator : {',', ':'}) { // conda has it either way
        for (const auto part : split(listed, separator)) {
            add(std::string(trim(part)));
        }
    }
    add_below(host::value_of(environment, "RATTLER_CACHE_DIR"), "/pkgs");
    add_below(host::value_of(environment, "MAMBA_ROOT_PREFIX"), "/pkgs");
    if (const auto envs = prefix.rfind("/envs/"); envs != std::string::npos) {
        add(prefix.substr(0, envs) + "/pkgs");
    }
    add_below(prefix, "/pkgs"); // a root is an environment of its own
    host::DiskFileSystem files;
    NoProcesses processes;
    host::VersionCache nothing("", 0);
    const auto found =
        host::find_conda(files, environment, home, {processes, nothing, environment});
    for (const facts::CondaInstall& install : found.installs) {
        if (install.kind == "conda" || install.kind == "mamba") {
            add(install.path + "/pkgs");
        }
    }
    const std::string cache = host::value_of(environment, "XDG_CACHE_HOME");
    add_below(cache.empty() && !home.empty() ? home + "/.cache" : cache, "/rattler/cache/pkgs");
    add_below(home, "/.conda/pkgs");
    add_below(home, "/micromamba/pkgs");
    add_below(home, "/.local/share/mamba/pkgs");
    return caches;
}

std::vector<std::string> extracted_places(const facts::CondaPackage& package,
                                          const std::vector<std::string>& caches) {
    std::vector<std::string> places;
    if (package.extracted.starts_with('/')) {
        places.push_back(package.extracted);
    }
    const std::string name = package.name + '-' + package.version + '-' + package.build;
    if (name.find('/') == std::string::npos) {
        for (const std::string& cache : caches) {
            places.push_back(cache + '/' + name);
        }
    }
    return places;
}

} // namespace cudaenv::repair
