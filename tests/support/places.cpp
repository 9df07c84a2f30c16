#include "tests/support/places.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>

namespace cudaenv::test {

std::filesystem::path source_directory() {
    return CUDAENV_SOURCE_DIR;
}

std::filesystem::path shared_path(const std::filesystem::path& below) {
    const char* given = std::getenv("CUDAENV_SHARED"); // NOLINT(concurrency-mt-unsafe)
    const auto path =
        (given != nullptr ? given : source_directory().parent_path() / "shared") / below;
    if (!std::filesystem::exists(path)) {
        SKIP("no " + path.string() + "; set CUDAENV_SHARED to the directory that has " +
             below.begin()->string() + "/");
    }
    return path;
}

} // namespace cudaenv::test
