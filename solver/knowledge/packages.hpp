// What Python packages of the CUDA world require, release by release: data/packages.json, which
// data/from_index.py makes from the METADATA on a package index. Linux x86_64. The table is read
// at the first call and once.
#pragma once

#include "base/compute_capability.hpp"
#include "base/dotted_version.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudaenv::knowledge {

// The wheels of one release for one platform.
struct PackageWheels {
    // Interpreter tags, ascending: "cp311"; "cp313t" without the GIL; "cp38-abi3" for 3.8 and
    // newer; "py3" for any Python 3.
    std::vector<std::string> pythons;
    std::string platform; // "manylinux_2_28_x86_64", "manylinux_2_17_aarch64", "any"
};

// What an extra adds to the requirements: "cuda12" -> "jax-cuda12-plugin[with-cuda]==0.4.30".
struct PackageExtra {
    std::string name; // normalized: "with-cuda"
    std::vector<std::string> requirements;
};

struct PackageRelease {
    std::string name;            // normalized (PEP 503): "flash-attn"
    std::string version;         // PEP 440, final or post release
    std::string requires_python; // specifiers; empty = not stated
    // PEP 508, only those on packages of this world. Markers are evaluated for Linux x86_64 and
    // CPython without extras; what is left of one depends on the Python.
    std::vector<std::string> requirements;
    // What METADATA does not say and the binary needs: "numpy<2" of builds against NumPy 1.
    std::vector<std::string> unstated;
    std::string unstated_source;       // empty: there are none
    std::vector<PackageExtra> extras;  // only those that bring CUDA or a framework
    std::vector<PackageWheels> wheels; // empty: source only
    // CUDA releases ("12.8") or majors ("12") that it is built for. Several where it has a library
    // for each. Empty: not tied to one, or not stated.
    std::vector<DottedVersion> cudas;
    std::optional<ComputeCapability> least_gpu; // oldest GPU it serves; none = not stated
    std::string least_gpu_source;
    // Source only, and more than Python: package_project() says what the build needs.
    bool builds_here = false;
    std::string source; // "xformers 0.0.28.post3, METADATA, read 2026-11-24"

    // By its normalized name; null where the release has none of that name.
    [[nodiscard]] const PackageExtra* extra(std::string_view called) const;
};

// What holds for all releases of a package.
struct PackageProject {
    std::string name;
    // The index has an unrelated project under this name; NVIDIA's or the community's is at
    // `elsewhere`. "pip install NAME" is wrong.
    bool other_project = false;
    // What a build needs, in words for a command: "nvcc", "torch" (installed before),
    // "--no-build-isolation", "MAX_JOBS" (caps memory), "CUDA_PATH" (instead of CUDA_HOME),
    // "cudnn". Empty: there is nothing to build.
    std::vector<std::string> build_needs;
    // Distributions that a build without isolation imports: installed before it.
    std::vector<std::string> build_tools;
    bool exact_nvcc = false; // its build refuses an nvcc whose minor is not torch's
    std::string exact_nvcc_source;

    [[nodiscard]] bool needs(std::string_view word) const;
    // Where builds are that the index lacks: a repository, a release page, or a page for pip's -f
    // with {torch_minor} (2.4) and {tag} (cu124) to fill in. Empty: the index has
    // it all.
    std::string elsewhere;
    // Of such a page, which builds it has: torch's minor and tags, "2.4" -> cu118, cu121, cu124.
    // Empty: not known. A minor that is not listed has none, or is newer than the source.
    std::vector<std::pair<std::string, std::vector<std::string>>> elsewhere_builds;
    // Sets of extras of which one belongs to an answer with CUDA, the best first: "cuda13",
    // "cuda,cudnn". Empty: its wheels use CUDA as they are.
    std::vector<std::string> cuda_extras;
    // What takes the place of such an extra. Nothing: a release without one does not use CUDA.
    // "toolkit": a toolkit of its CUDA major on this machine. "libraries": others' CUDA libraries,
    // for releases that have no such extra.
    std::string without_extras;
    // Projects whose wheels are this one, compiled: "cupy-cuda12x" of "cupy".
    std::vector<std::string> wheels;
    // What an extra takes from this machine: "cuda12-local" -> "CUDA 12 and cuDNN 9".
    std::vector<std::pair<std::string, std::string>> machine_libraries;
    // What it is for, where that is no NVIDIA GPU on Linux: "a plugin for Apple GPUs, on macOS".
    std::string other_platform;
    // The same package without CUDA, whose files have the same names: "onnxruntime".
    std::string cpu_package;
    std::string note;
    std::string source;
};

// How a package is built from its repository, for one torch and newer.
struct PackageBuild {
    std::string name;
    DottedVersion torch;                  // the first release that the row is for
    std::string requirement;              // "git+https://github.com/NVIDIA/apex@25.09"
    std::vector<std::string> environment; // "APEX_CUDA_EXT=1"
    std::vector<std::string> options;     // of pip
    std::string note;                     // why not the newest source; empty: it is the newest
    std::string source;
};

// Releases of `name` (in any PEP 503 spelling), ascending by version; empty for an unknown name.
std::span<const PackageRelease> package_releases(std::string_view name);
// Null where the table does not have it.
const PackageRelease* package_release(std::string_view name, std::string_view version);
// Releases or majors of CUDA that it works with. A module that is compiled against one torch takes
// CUDA's runtime from torch, whose soname is that of the major: xformers 0.0.29.post1, compiled
// with 12.1, goes with any torch 2.5.1 for CUDA 12, as which pip installs that for 12.4.
std::vector<DottedVersion> cudas_beside(const PackageRelease& release);
// Whether its newest release is compiled where it is installed.
bool is_compiled(std::string_view name);
// None where the table has nothing to say beyond the releases.
const PackageProject* package_project(std::string_view name);
// The newest row that `torch` reaches; nullptr: it is not built from its repository. Without a
// torch the last row.
const PackageBuild* package_build(std::string_view name, const std::optional<DottedVersion>& torch);
// Which setuptools torch's cpp_extension of that release imports: "setuptools<70".
std::string setuptools_for(const DottedVersion& torch);
// Every name that the table knows, normalized, sorted; some have no release on the index.
std::vector<std::string> package_names();

} // namespace cudaenv::knowledge
