#include "base/fd.hpp"
#include "check/repair/file_copy.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace cudaenv::repair {
namespace {

std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("a copy has the bytes, the mode and the time, and holes stay holes") {
    const test::TemporaryTree tree;
    constexpr off_t k_hole = 64 << 20;
    const std::string sparse = tree.file("sparse", "begin", 0640);
    {
        const Fd file(::open(sparse.c_str(), O_WRONLY | O_CLOEXEC));
        REQUIRE(::pwrite(file.get(), "end", 3, k_hole) == 3);
        REQUIRE(::ftruncate(file.get(), k_hole + (4 << 20)) == 0);
    }
    const Fd directory(::open(tree.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(copy_file(directory.get(), "sparse", directory.get(), "copy", 0640));
    CHECK(content_of(tree.path() + "/copy") == content_of(sparse));
    struct stat from {};
    struct stat to {};
    REQUIRE(::stat(sparse.c_str(), &from) == 0);
    REQUIRE(::stat((tree.path() + "/copy").c_str(), &to) == 0);
    CHECK((to.st_mode & 0777U) == 0640U);
    CHECK(to.st_mtim.tv_sec == from.st_mtim.tv_sec);
    constexpr blkcnt_t k_block = 512;
    CHECK(to.st_blocks * k_block < k_hole / 4);
    REQUIRE(copy_file(directory.get(), "copy", directory.get(), "again", 0640));
    tree.file("empty", "");
    REQUIRE(copy_file(directory.get(), "empty", directory.get(), "empty copy", 0600));
    CHECK(std::filesystem::file_size(tree.path() + "/empty copy") == 0);
}

TEST_CASE("a copy that is wanted no more leaves nothing behind") {
    const test::TemporaryTree tree;
    tree.file("a", "text");
    const Fd directory(::open(tree.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const auto copied =
        copy_file(directory.get(), "a", directory.get(), "b", 0600, [] { return false; });
    if (copied) {
        SKIP("the file system shares the blocks of a copy: nothing is read");
    }
    CHECK(copied.error().code == k_stopped);
    CHECK_FALSE(std::filesystem::exists(tree.path() + "/b"));
}

} // namespace
} // namespace cudaenv::repair
