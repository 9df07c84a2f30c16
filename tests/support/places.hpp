#pragma once

#include <filesystem>

namespace cudaenv::test {

/// Root of the source tree. One object holds its path, so that a compiler cache serves every copy
/// of the tree.
std::filesystem::path source_directory();

/// A path in the folder `shared` beside the source tree, or in CUDAENV_SHARED. Skips the test where
/// it does not exist.
std::filesystem::path shared_path(const std::filesystem::path& below);

} // namespace cudaenv::test
