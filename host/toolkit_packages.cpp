#include "host/toolkit_packages.hpp"

#include "host/package_names.hpp"

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
            const std::string path = directory + '/' + name;
            if (const auto wheel = parse_dist_info(name)) {
                packages.try_emplace(wheel->name, InstalledPackage{wheel->version, path});
            } else if (const auto record = parse_conda_record(name)) {
                packages.try_emplace(record->name, InstalledPackage{record->version, path});
            }
        }
    }
    return packages;
}

} // namespace cudaenv::host
