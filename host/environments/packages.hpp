// What conda and pip have on record in an environment, by the names of their metadata; files are
// opened only where a name does not say enough.
#pragma once

#include "base/dotted_version.hpp"
#include "host/file_system.hpp"
#include "host/package_names.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::environments {

using host::CondaRecord;
using host::DistInfo;
using host::parse_conda_record;
using host::parse_dist_info;

// One directory that Python imports from.
struct Site {
    std::string path;
    std::vector<std::string> names; // all in it, sorted
    std::vector<DistInfo> packages; // those that matter for CUDA

    [[nodiscard]] bool has(std::string_view name) const;
};

// Packages that matter for CUDA.
struct Packages {
    std::vector<CondaRecord> conda;
    std::vector<Site> sites; // in the order in which Python looks

    // The first of that name; null without one.
    [[nodiscard]] const CondaRecord* conda_record(std::string_view name) const;
    [[nodiscard]] const DistInfo* dist_info(std::string_view name) const;
};

bool matters_for_cuda(std::string_view package_name);

} // namespace cudaenv::environments
