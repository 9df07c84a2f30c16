// Names of the files in which conda and pip record what is installed. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

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

} // namespace cudaenv::host
