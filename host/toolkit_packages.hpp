// Packages that a toolkit was installed as, by the names of their metadata; no file is opened.
#pragma once

#include "host/file_system.hpp"

#include <map>
#include <string>

namespace cudaenv::host {

struct InstalledPackage {
    std::string version;
    std::string path; // of the metadata
};
using InstalledPackages = std::map<std::string, InstalledPackage>; // by name, as written

// dist-info inside the toolkit or beside pip's `nvidia`, conda-meta of the environment it is.
InstalledPackages packages_around(FileSystem& files, const std::string& toolkit);

} // namespace cudaenv::host
