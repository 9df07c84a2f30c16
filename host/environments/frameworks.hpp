// Frameworks of an environment and the CUDA they were built with. What is imported is believed
// first (torch/version.py, tensorflow's build_info.py), then what pip and conda have on record: pip
// may have put its own build over conda's.
#pragma once

#include "host/environments/packages.hpp"
#include "solver/facts/environment.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::host {

struct FrameworkFindings {
    std::vector<facts::FrameworkBuild> frameworks; // torch, tensorflow, jaxlib, cupy
    std::vector<std::string> watch; // files of source trees that an editable install leads to
    std::vector<std::string> notes;
};
FrameworkFindings find_frameworks(FileSystem& files, const Packages& packages);

// One CUDA as a text tells it: a version, or that there is none.
struct ToldCuda {
    std::string version; // of the framework; empty: not told
    std::optional<DottedVersion> cuda;
    bool cpu = false;
};
// torch/version.py. None where it says nothing of CUDA.
std::optional<ToldCuda> parse_torch_version(std::string_view text);
// tensorflow/python/platform/build_info.py.
std::optional<ToldCuda> parse_tensorflow_build(std::string_view text);
// The CUDA that a conda record's dependencies ask for: "cudatoolkit 10.1.*", "cuda-version
// >=12,<13" gives 12. `record` may be cut off behind them.
std::optional<DottedVersion> cuda_of_dependencies(std::string_view record);
// The directories that `MAPPING = {'torch': '/src/pytorch/torch'}` of an editable install's finder
// names for `package`; empty where it names none.
std::string parse_editable_finder(std::string_view text, std::string_view package);
// "/src/py torch" of "file:///src/py%20torch" in a direct_url.json of an editable install.
std::string parse_direct_url(std::string_view text);

} // namespace cudaenv::host
