// What conda and pip have on record in an environment, by the names of their metadata; files are
// opened only where a name does not say enough.
#pragma once

#include "base/dotted_version.hpp"
#include "host/file_system.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::host {

// cudatoolkit-11.3.1-ha36c431_9.json
struct CondaRecord {
    std::string name;
    std::string version;
    std::string build;
    std::string path; // of the record
};

// torch-2.1.0+cu118.dist-info
struct DistInfo {
    std::string name; // lower case, '_' for every '-' and '.': nvidia_cuda_runtime_cu12
    std::string version;
    std::string path; // of the dist-info directory
};

std::optional<CondaRecord> parse_conda_record(std::string_view file_name);
std::optional<DistInfo> parse_dist_info(std::string_view directory_name);

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

    // The first of that name; null where there is none.
    [[nodiscard]] const CondaRecord* conda_record(std::string_view name) const;
    [[nodiscard]] const DistInfo* dist_info(std::string_view name) const;
};

bool matters_for_cuda(std::string_view package_name);

} // namespace cudaenv::host
