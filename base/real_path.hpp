// A path without symlinks.
#pragma once

#include <string>

namespace cudaenv {

// Empty where it leads nowhere, and errno says why.
std::string resolved_path(const std::string& path);
// `path` itself where it leads nowhere.
std::string real_path(const std::string& path);

} // namespace cudaenv
