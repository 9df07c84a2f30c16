#include "host/probe/loader_directories.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fstream>
#include <iterator>
#include <string>

namespace cudaenv::probe {
namespace {

std::string bytes_of(const char* path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("a library shows whether it searches before LD_LIBRARY_PATH or after") {
    CHECK(search_path_tag(bytes_of(CUDAENV_SEARCHES_RPATH)) == SearchPathTag::Rpath);
    CHECK(search_path_tag(bytes_of(CUDAENV_SEARCHES_RUNPATH)) == SearchPathTag::Runpath);
}

TEST_CASE(
    "a file that is not a library, or is truncated anywhere, gives no answer and does no harm") {
    CHECK(search_path_tag("") == SearchPathTag::None);
    CHECK(search_path_tag("\x7f"
                          "ELF") == SearchPathTag::None);
    CHECK(search_path_tag(std::string(4096, '\xff')) == SearchPathTag::None);
    const std::string whole = bytes_of(CUDAENV_SEARCHES_RPATH);
    REQUIRE(whole.size() > 1000);
    for (std::size_t size = 0; size < whole.size(); size += 97) {
        CHECK(search_path_tag(std::string_view(whole).substr(0, size)) != SearchPathTag::Runpath);
    }
    std::string far = whole; // program headers beyond every file
    for (std::size_t i = 32; i < 40; ++i) {
        far[i] = '\xff';
    }
    CHECK(search_path_tag(far) == SearchPathTag::None);
}

} // namespace
} // namespace cudaenv::probe
