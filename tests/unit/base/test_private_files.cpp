#include "base/private_files.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fcntl.h>
#include <unistd.h>

namespace cudaenv {
namespace {

using test::TemporaryTree;

struct stat status_of(const std::string& path) {
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    return status;
}

TEST_CASE("root keeps nothing in another user's place, and other users are not kept from any") {
    TemporaryTree tree;
    const std::string home = tree.path() + "/home";
    REQUIRE(make_private_directories(home));
    CHECK_FALSE(is_anothers_place(home + "/.cache/cudaenv"));
    CHECK_FALSE(is_anothers_place(""));
    if (::geteuid() != 0) {
        SKIP("the rest needs another user's directory; run as root");
    }
    REQUIRE(::chown(home.c_str(), 12345, 12345) == 0);
    CHECK(is_anothers_place(home));
    CHECK(is_anothers_place(home + "/.cache/cudaenv"));
    REQUIRE(make_private_directories(home + "/.cache"));
    // Root's own, in a directory where another may put a link in its place.
    CHECK(is_anothers_place(home + "/.cache/cudaenv"));
    const std::string planted = tree.path() + "/planted";
    REQUIRE(::symlink("/root", planted.c_str()) == 0);
    CHECK_FALSE(is_anothers_place(planted + "/x"));
    REQUIRE(::lchown(planted.c_str(), 12345, 12345) == 0);
    CHECK(is_anothers_place(planted + "/x"));
}

TEST_CASE("missing directories are made for their owner alone, those that are there stay") {
    TemporaryTree tree;
    const std::string path = tree.path() + "/a/b/c";
    REQUIRE(make_private_directories(path));
    CHECK((status_of(tree.path() + "/a").st_mode & 0777) == 0700);
    CHECK(is_ours_alone(status_of(path), S_IFDIR));
    REQUIRE(::chmod(path.c_str(), 0750) == 0);
    CHECK(make_private_directories(path));
    CHECK((status_of(path).st_mode & 0777) == 0750);
}

TEST_CASE("a file in the way of a directory is reported") {
    TemporaryTree tree;
    tree.file("a", "");
    CHECK_FALSE(make_private_directories(tree.path() + "/a/b"));
}

TEST_CASE(
    "a private file is replaced whole, and read back unless it is too long or not ours alone") {
    TemporaryTree tree;
    const std::string directory = tree.path() + "/cache";
    const std::string path = directory + "/a.json";
    CHECK(read_private_file(path, 100).empty());
    REQUIRE(write_private_file(directory, "a.json", "first"));
    REQUIRE(write_private_file(directory, "a.json", "second"));
    CHECK(read_private_file(path, 100) == "second");
    CHECK((status_of(path).st_mode & 0777) == 0600);
    CHECK(read_private_file(path, 5).empty());
    REQUIRE(::chmod(path.c_str(), 0620) == 0);
    CHECK(read_private_file(path, 100).empty());
    CHECK_FALSE(write_private_file("relative", "a.json", "x"));
    REQUIRE(::chmod(directory.c_str(), 0777) == 0);
    CHECK_FALSE(write_private_file(directory, "a.json", "x"));
}

TEST_CASE("what a group, everybody or another user can write is not ours alone") {
    TemporaryTree tree;
    tree.file("a", "");
    const std::string path = tree.path() + "/a";
    REQUIRE(::chmod(path.c_str(), 0644) == 0);
    CHECK(is_ours_alone(status_of(path), S_IFREG));
    CHECK_FALSE(is_ours_alone(status_of(path), S_IFDIR));
    for (const mode_t mode : {0664, 0646}) {
        REQUIRE(::chmod(path.c_str(), mode) == 0);
        CHECK_FALSE(is_ours_alone(status_of(path), S_IFREG));
    }
    struct stat others = status_of(path);
    others.st_mode = S_IFREG | 0600;
    others.st_uid = ::geteuid() + 1;
    CHECK_FALSE(is_ours_alone(others, S_IFREG));
}

} // namespace
} // namespace cudaenv
