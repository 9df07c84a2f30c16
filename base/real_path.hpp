#pragma once

#include <string>

namespace cudaenv {

// Without symlinks; `path` itself where it leads nowhere.
std::string real_path(const std::string& path);

} // namespace cudaenv
