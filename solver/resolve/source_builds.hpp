// What an answer compiles here: packages without a wheel, which nvcc and which compiler build them,
// and what their build needs besides. One place for the commands and for what is said of them.
// Pure.
#pragma once

#include "solver/knowledge/packages.hpp"
#include "solver/knowledge/recipes.hpp"
#include "solver/resolve/attempt.hpp"
#include "solver/resolve/request.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudaenv::resolve {

struct SourceBuild {
    std::string name;                                   // "apex"
    std::string requirement;                            // "git+https://github.com/NVIDIA/apex"
    std::vector<std::string> variables;                 // "CUDA_HOME=/usr/local/cuda-12.4"
    std::vector<std::string> options;                   // of pip
    const knowledge::PackageProject* project = nullptr; // never null
    const knowledge::PackageBuild* build = nullptr;     // from a repository
};

struct SourceBuilds {
    std::vector<SourceBuild> wheels;    // from a page of their project's own: nothing is compiled
    std::vector<SourceBuild> packages;  // that need more than an isolated build of Python code
    std::vector<std::string> tools;     // distributions to install before them
    std::optional<DottedVersion> cuda;  // that they are compiled for; none: no nvcc is needed
    std::optional<DottedVersion> torch; // that they are compiled against
    std::optional<facts::Toolkit> toolkit;     // whose nvcc compiles them
    std::optional<facts::Toolkit> other_minor; // an nvcc that `exact` refuses
    std::string exact;                         // the package that wants nvcc of torch's very minor
    std::string exact_source;
    std::optional<knowledge::Recipe> nvcc;     // how to get one, where none here builds them
    std::optional<knowledge::Recipe> compiler; // likewise
};

SourceBuilds source_builds(const Request& request, const Attempt& attempt,
                           const std::vector<const specs::PackageRecord*>& records);

} // namespace cudaenv::resolve
