#include "host/environments/cuda_libraries.hpp"
#include "host/environments/environments.hpp"
#include "host/toolkit_text.hpp"
#include "host/toolkits.hpp"

#include <algorithm>

namespace cudaenv::environments {

namespace {

constexpr const char* k_debian = "/usr/lib/nvidia-cuda-toolkit";
constexpr const char* k_debian_links = "/usr/lib/cuda";

// The first of `directories` in which one of `names` lies, the names in their order.
std::string holder_of(host::FileSystem& files, const std::vector<std::string>& directories,
                      const std::vector<const char*>& names) {
    for (const auto* name : names) {
        for (const auto& directory : directories) {
            if (files.exists(directory + '/' + name)) {
                return directory;
            }
        }
    }
    return {};
}

std::vector<std::string> sonames_in(host::FileSystem& files, const std::string& directory) {
    return cuda_sonames(files.names_in(directory));
}

// Compilers and the loader find the system's cuDNN for these too; Debian's own toolkit lies there.
bool is_of_the_system(const std::string& path) {
    return path.starts_with("/usr/local/cuda") || path.starts_with("/opt/cuda");
}

std::optional<DottedVersion> version_of(host::FileSystem& files, const std::string& include) {
    if (include.empty()) {
        return std::nullopt;
    }
    const auto header = files.read_file(include + "/cuda.h");
    return header ? host::parse_cuda_define(*header, "CUDA_VERSION") : std::nullopt;
}

} // namespace

facts::ToolkitLayout layout_of(host::FileSystem& files, const std::string& path) {
    facts::ToolkitLayout layout;
    layout.path = path;
    const auto machine = machine_name();
    const auto multiarch = machine + "-linux-gnu";
    const bool debian = path == k_debian || path == k_debian_links || path == "/usr";

    std::vector<std::string> bins = {path + "/bin"};
    std::vector<std::string> includes = {path + "/include"};
    std::vector<std::string> libraries = {path + "/lib64", path + "/lib"};
    std::vector<std::string> roots = {path};
    for (const auto& target : target_directories(machine)) {
        includes.push_back(path + '/' + target + "/include");
        libraries.push_back(path + '/' + target + "/lib");
    }
    if (debian) {
        // nvcc's own directory before /usr/bin, where a wrapper of the same name lies.
        bins = {std::string(k_debian) + "/bin", path + "/bin", "/usr/bin"};
        includes.emplace_back("/usr/include");
        includes.push_back("/usr/include/" + multiarch);
        libraries = {"/usr/lib/" + multiarch, path + "/lib64"};
        roots = {path, k_debian_links, k_debian};
    }
    layout.bin = holder_of(files, bins, {"nvcc"});
    // A toolkit of parts may lack cuda.h, and still have the headers that nvcc includes.
    layout.include =
        holder_of(files, includes, {"cuda.h", "cuda_runtime_api.h", "crt/host_config.h"});
    layout.library = holder_of(files, libraries, {"libcudart.so"});
    if (!layout.library.empty()) {
        layout.sonames = sonames_in(files, layout.library);
    } else {
        // Wheels and runtime packages have libcudart.so.13 alone.
        for (const auto& directory : libraries) {
            auto sonames = sonames_in(files, directory);
            if (std::ranges::any_of(sonames, [](const std::string& name) {
                    return name.starts_with("libcudart.so.");
                })) {
                layout.library = directory;
                layout.sonames = std::move(sonames);
                break;
            }
        }
    }
    for (const auto& root : roots) {
        if (files.exists(root + "/nvvm/libdevice")) {
            layout.libdevice_root = root;
            break;
        }
    }
    layout.cudnn = cudnn_at(files, path, includes, libraries);
    if (!layout.cudnn && is_of_the_system(path)) {
        auto system = cudnn_at(files, "/usr", {"include", "include/" + multiarch},
                               {"lib/" + multiarch, "lib64", "lib"});
        if (system && (!system->version ||
                       host::cudnn_serves(*system->version, version_of(files, layout.include)))) {
            layout.cudnn = std::move(system);
        }
    } else if (layout.cudnn && debian) {
        layout.cudnn->root = "/usr";
    }
    return layout;
}

} // namespace cudaenv::environments
