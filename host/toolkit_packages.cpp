#include "host/toolkit_packages.hpp"

#include "host/toolkit_text.hpp"

#include <vector>

namespace cudaenv::host {

InstalledPackages packages_around(FileSystem& files, const std::string& toolkit) {
    std::vector<std::string> directories = {toolkit + "/dist-info", toolkit + "/conda-meta"};
    const auto parent = parent_path(toolkit);
    if (base_name(parent) == "nvidia") {
        directories.emplace_back(parent_path(parent));
    }
    InstalledPackages packages;
    for (const auto& directory : directories) {
        const auto names = files.list_directory(directory);
        if (!names) {
            continue; // most toolkits are not installed as packages
        }
        for (const auto& name : *names) {
            auto package = parse_dist_info_name(name);
            if (!package) {
                package = parse_conda_meta_name(name);
            }
            if (package) {
                packages.try_emplace(package->name,
                                     InstalledPackage{package->version, directory + '/' + name});
            }
        }
    }
    return packages;
}

} // namespace cudaenv::host
