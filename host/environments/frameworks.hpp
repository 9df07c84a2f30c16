// Frameworks of an environment and the CUDA they were built with. What is imported is believed
// first (torch/version.py, tensorflow's build_info.py), then the records of pip and conda: pip may
// have installed its own build over conda's. What a label or a build string means:
// solver/knowledge/builds.hpp.
#pragma once

#include "host/environments/packages.hpp"
#include "solver/facts/environment.hpp"
#include "solver/knowledge/builds.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::environments {

struct FrameworkFindings {
    std::vector<facts::FrameworkBuild> frameworks; // torch, tensorflow, jaxlib, cupy
    std::vector<std::string> watch; // files of source trees that an editable install leads to
    std::vector<std::string> notes;
};
FrameworkFindings find_frameworks(host::FileSystem& files, const Packages& packages);

// What a framework's own file says; the build is unknown where it says nothing.
struct BuildFile {
    std::string version; // of the framework; empty: the file has none
    knowledge::Build build;
};
// torch/version.py.
BuildFile parse_torch_version(std::string_view text);
// tensorflow/python/platform/build_info.py.
BuildFile parse_tensorflow_build(std::string_view text);
// The directories that `MAPPING = {'torch': '/src/pytorch/torch'}` of an editable install's finder
// names for `package`; empty where it names none.
std::string parse_editable_finder(std::string_view text, std::string_view package);
// "/src/py torch" of "file:///src/py%20torch" in a direct_url.json of an editable install.
std::string parse_direct_url(std::string_view text);

} // namespace cudaenv::environments
