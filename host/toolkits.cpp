#include "host/toolkits.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <map>

namespace cudaenv::host {

namespace {

// What a symlink that leads nowhere says: "symlink to /usr/local/cuda-9.0, which does not exist".
std::string broken_reason(FileSystem& files, const std::string& path, const Error& error) {
    const auto target = files.read_link(path);
    if (target && error.code == k_not_found) {
        return "a symlink to " + *target + ", which does not exist";
    }
    return reason_of(error);
}

// /usr/local/cuda before /usr/local/cuda-11 before what is longer: the name people know first.
bool better_known(const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
}

std::vector<std::string> silent_places(FileSystem& files, const std::vector<ToolkitPlace>& places) {
    std::vector<std::string> paths;
    for (const auto& place : places) {
        if (!place.silent && place.path.starts_with('/')) {
            paths.push_back(place.path);
        }
    }
    return files.silent(paths);
}

} // namespace

ToolkitFindings find_toolkits(FileSystem& files, const Environment& environment,
                              const ToolkitSearch& search, const VersionAsker& asker) {
    ToolkitFindings findings;
    struct Known {
        std::size_t index;
        std::vector<std::string> sources;
    };
    std::map<std::string, Known> known; // by real path, or by the broken one
    const auto places = toolkit_places(files, environment, search, findings.notes);
    const auto silent = silent_places(files, places);
    for (const auto& place : places) {
        facts::Toolkit toolkit;
        std::string key = place.path;
        if (place.silent || std::ranges::find(silent, place.path) != silent.end()) {
            toolkit.path = place.path;
            toolkit.silent = true;
            toolkit.problem = "does not answer";
        } else if (!place.path.starts_with('/')) {
            toolkit.path = place.path;
            toolkit.problem = "not an absolute path";
        } else if (const auto real = files.real_path(place.path)) {
            key = *real;
            toolkit.path = *real;
        } else {
            toolkit.path = place.path;
            toolkit.problem = broken_reason(files, place.path, real.error());
        }
        const auto found = known.find(key);
        if (found == known.end()) {
            if (toolkit.problem.empty()) {
                toolkit = inspect_toolkit(files, key, search.machine, asker);
            }
            if (place.naming == Naming::Guessed && !toolkit.version && !toolkit.nvcc) {
                continue;
            }
            known.emplace(key, Known{findings.toolkits.size(), {place.source}});
            findings.toolkits.push_back(std::move(toolkit));
        } else {
            add_once(found->second.sources, place.source);
        }
        if (place.path != key) {
            add_once(findings.toolkits[known.at(key).index].aliases, place.path);
        }
    }
    for (const auto& [key, entry] : known) {
        auto& toolkit = findings.toolkits[entry.index];
        toolkit.source = join(entry.sources, ", ");
        std::ranges::sort(toolkit.aliases, better_known);
    }
    std::ranges::stable_sort(findings.toolkits,
                             [](const facts::Toolkit& a, const facts::Toolkit& b) {
                                 if (a.problem.empty() != b.problem.empty()) {
                                     return a.problem.empty();
                                 }
                                 if (a.version.has_value() != b.version.has_value()) {
                                     return a.version.has_value();
                                 }
                                 if (a.version && *a.version != *b.version) {
                                     return *a.version > *b.version;
                                 }
                                 return a.path < b.path;
                             });
    if (findings.toolkits.empty()) {
        findings.absent = "no CUDA toolkit in /usr/local/cuda*, /opt/cuda*, /opt/nvidia/hpc_sdk, "
                          "/usr/lib/nvidia-cuda-toolkit, conda environments, pip's nvidia wheels, "
                          "CUDA_HOME, CUDA_PATH, PATH or MODULEPATH";
    }
    return findings;
}

} // namespace cudaenv::host
