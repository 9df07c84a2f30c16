// Where the environment's programs would load CUDA's libraries from, as ld.so searches.
#pragma once

#include "host/file_system.hpp"
#include "host/probe/loader_directories.hpp"
#include "solver/facts/environment.hpp"
#include "solver/facts/probe.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cudaenv::probe {

// Files, the first that loads is taken. One file where there is one, since the loader looks no
// further either; else bare sonames, which leave it to the loader, and what is there of other
// majors.
struct ProbeLibraries {
    using Files = std::vector<std::string>;

    // Of each of facts::k_library_rungs.
    std::map<facts::ProbeStep, Files> files;

    // None where the step has no library.
    [[nodiscard]] const Files& of(facts::ProbeStep step) const {
        static const Files none;
        const auto found = files.find(step);
        return found == files.end() ? none : found->second;
    }
    // What the chosen toolkit has and is not asked for, because the environment's CUDA is of
    // another major and its loader does not look there.
    std::map<facts::ProbeStep, std::string> passed_over;
    // Links that would have been taken and lead to nothing (or round in a circle), in the order in
    // which they were met.
    std::vector<std::string> broken_links;
    // Files that would have been taken but for the rights that this user has not, likewise
    // (closed_files.hpp says whose they are).
    std::vector<std::string> closed;
    // Directories and files where the search looked, there or not: what appears in them may be
    // found the next time.
    std::vector<std::string> looked_at;
};

// Where the environment's programs would load CUDA's libraries from: torch/lib and nvidia/*/lib
// (nvidia/cu13/lib too) of its site-packages, conda's lib, what LD_LIBRARY_PATH names, the chosen
// toolkit's library directory, the system's. As ld.so has it, `library_path` comes first where the
// wheels' libraries carry DT_RUNPATH, and after them where they carry DT_RPATH (as conda's packages
// and torch's wheels since 1.13 do). Of several majors the framework's counts. A toolkit of another
// CUDA than the environment's gives a runtime at most. What the loader cannot open (a link to
// nothing, a file without permission, one for another machine) it passes over; one that goes round
// in a circle ends its search along LD_LIBRARY_PATH.
ProbeLibraries probe_libraries(host::FileSystem& files,
                               const std::optional<facts::EnvironmentFacts>& environment,
                               const std::optional<facts::ToolkitLayout>& toolkit,
                               const std::vector<std::string>& library_path);

// What the probe is asked: which libraries are this environment's, in the order in which it would
// load them.
enum class ProbeDepth { Quick, Full };

struct ProbeRequest {
    ProbeDepth depth = ProbeDepth::Quick;
    bool all_gpus = false; // CUDA_VISIBLE_DEVICES is set aside
    ProbeLibraries libraries;
    std::optional<int> parent{}; // who waits: where that one is gone, nothing is tried
};
// One line of JSON, the argument after `cudaenv-probe --ladder`.
std::string write_probe_request(const ProbeRequest& request);

} // namespace cudaenv::probe
