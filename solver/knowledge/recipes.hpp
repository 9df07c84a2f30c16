// How to get something: a toolkit with nvcc, a runtime, cuDNN, NCCL, a host compiler, a package. A
// recipe is whole (what its command installs compiles and links), names the environment that it
// changes, and needs no root where a way without exists. The one place that writes command lines of
// conda, mamba, micromamba, pixi, pip and uv. Pure.
//
// Sources: repodata of conda-forge, defaults and NVIDIA's labels (2026-11); METADATA of
// cuda-toolkit 13.x.
#pragma once

#include "solver/facts/environment.hpp"
#include "solver/facts/host.hpp"
#include "solver/knowledge/knowledge.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cudaenv::knowledge {

// Where a command is to act.
struct Target {
    enum class Kind { None, Conda, Venv };
    Kind kind = Kind::None;
    std::string prefix;          // absolute; empty without an environment
    std::string python;          // what runs pip there; empty: PREFIX/bin/python
    bool active = false;         // in this shell: commands need not name it
    std::string conda = "conda"; // conda, mamba, micromamba or pixi, whichever is here
    bool has_conda = false;      // one of them is here
    bool has_uv = false;         // uv made the environment, or installed into it
    std::string machine = "x86_64";
    std::vector<std::string> toolkit_directories{}; // toolkits.directories of the configuration
    std::string home{};
    std::string create_name{"cudaenv"}; // of the conda environment that a command creates
    // A project of uv (its directory) or pixi (its manifest) that the environment belongs to: what
    // is installed past it is undone by the next sync.
    std::string project{};

    [[nodiscard]] bool is_pixis() const { return !project.empty() && kind == Kind::Conda; }
};
// conda's own by its record of kinds; `uv`: the environment is uv's.
Target target_of(const facts::Host& host, Target::Kind kind, std::string prefix, bool uv = false);
// `named`: the request names the environment, so commands do too.
Target target_of(const facts::Host& host, const std::optional<facts::EnvironmentFacts>& environment,
                 bool named, std::vector<std::string> toolkit_directories, std::string home);

// Command lines; each word is quoted where a shell needs it.
// `conda install -p PREFIX -c CHANNEL... SPEC...`; without an environment `conda create -n cudaenv
// ...`.
std::string conda_install(const Target& target, std::span<const std::string> specs,
                          std::span<const std::string> channels);
// `PREFIX/bin/python -m pip install REQ... [options]`, or uv's. `index`: the URL of the one index,
// or an extra one.
struct PipIndex {
    std::string url;
    bool extra = false;
};
std::string pip_install(const Target& target, std::span<const std::string> requirements,
                        const std::optional<PipIndex>& index = std::nullopt,
                        std::span<const std::string> options = {});

// The same for what has to go.
std::string pip_uninstall(const Target& target, std::span<const std::string> names);

struct Recipe {
    std::string text;    // "nvcc 12.4 with headers and libraries, into the environment"
    std::string command; // empty: no command is known, the text says how
    bool root = false;
    // Of an nvcc: what CUDA_HOME is then, for a shell, "$HOME/cuda-11.8". Empty: it is found
    // without.
    std::string cuda_home{};
    bool other_gpu = false; // of a driver: no driver for the GPUs here is so new
};

// nvcc of that release with headers and libraries: what a `.cu` that includes cuda_runtime.h,
// cublas_v2.h and torch's headers needs. Into the environment where its manager has it, else
// NVIDIA's runfile into the home directory, whose line extends toolkits.directories: an nvcc in a
// new conda environment would not be this shell's. No command where the runfile is not known.
Recipe nvcc_recipe(const DottedVersion& cuda, const Target& target);
// The same from conda, into its environment or a new one; no command for a CUDA before 11.3.
// `with`: conda specs of the same command.
Recipe conda_nvcc_recipe(const DottedVersion& cuda, const Target& target,
                         std::span<const std::string> with = {});
// A g++ of that major, or older, or newer; without root from conda, else as root from the
// distribution.
enum class GccBound { OrOlder, OrNewer };
Recipe compiler_recipe(int gcc, GccBound bound, const Target& target);
// CUDA's runtime with its libraries: cudatoolkit up to 11.8, cuda-version with libraries from 12
// on; pip's wheels, which exist from 11.7 on: an older one comes from conda or NVIDIA's runfile.
// `with`: conda specs of the same command, as "cudnn=8.2".
Recipe runtime_recipe(const DottedVersion& cuda, const Target& target,
                      std::span<const std::string> with = {});
// Whether pip has wheels of it, and of an nvcc (those for CUDA 11 and 12 hold none).
bool has_runtime_wheels(const DottedVersion& cuda);
bool has_nvcc_wheels(const DottedVersion& cuda);
// A driver: as root, from whoever runs the machine; in Windows where this is WSL. Newer than the
// last one for a GPU that is here: only with another GPU.
Recipe driver_recipe(const DriverBound& bound, const facts::Host& host);

} // namespace cudaenv::knowledge
