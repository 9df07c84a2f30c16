#include "host/observed/observed_cache.hpp"
#include "tests/support/fake_disk.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

namespace {

using cudaenv::host::DiskFileSystem;
using cudaenv::host::FileSystem;
using cudaenv::observed::ObservedCache;
using cudaenv::test::TemporaryTree;

constexpr std::chrono::seconds k_long{3600};

// What changed a moment ago is not believed to stay; a test's files are made older.
void make_old(const std::string& path) {
    const timespec times[2] = {{1'700'000'000, 5}, {1'700'000'000, 5}};
    REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW) == 0);
}

struct Counter {
    ObservedCache<std::string> cache{4};
    DiskFileSystem files;
    int computed = 0;

    std::string first_line(const std::string& path) {
        return cache.get(path, files, k_long, [&](FileSystem& seen) {
            ++computed;
            return seen.read_file(path).value_or("none");
        });
    }
};

} // namespace

TEST_CASE("a value is computed once while its file stays as it is") {
    const TemporaryTree tree;
    const auto path = tree.file("a", "one");
    make_old(path);
    Counter counter;
    CHECK(counter.first_line(path) == "one");
    CHECK(counter.first_line(path) == "one");
    CHECK(counter.computed == 1);
}

TEST_CASE("a file written again with the same size is read again") {
    const TemporaryTree tree;
    const auto path = tree.file("a", "one");
    make_old(path);
    Counter counter;
    CHECK(counter.first_line(path) == "one");
    tree.file("a", "two");
    CHECK(counter.first_line(path) == "two");
    CHECK(counter.computed == 2);
}

TEST_CASE("a file replaced by an older one is read again") {
    const TemporaryTree tree;
    const auto path = tree.file("a", "one");
    make_old(path);
    const auto other = tree.file("b", "two");
    make_old(other);
    Counter counter;
    CHECK(counter.first_line(path) == "one");
    std::filesystem::rename(other, path);
    CHECK(counter.first_line(path) == "two");
}

TEST_CASE("a file that appears or goes away is noticed") {
    const TemporaryTree tree;
    Counter counter;
    CHECK(counter.first_line(tree.path() + "/a") == "none");
    CHECK(counter.first_line(tree.path() + "/a") == "none");
    CHECK(counter.computed == 1);
    make_old(tree.file("a", "one"));
    CHECK(counter.first_line(tree.path() + "/a") == "one");
    std::filesystem::remove(tree.path() + "/a");
    CHECK(counter.first_line(tree.path() + "/a") == "none");
}

TEST_CASE("what changed a moment ago is not kept") {
    const TemporaryTree tree;
    const auto path = tree.file("a", "one");
    Counter counter;
    CHECK(counter.first_line(path) == "one");
    CHECK(counter.first_line(path) == "one");
    CHECK(counter.computed == 2);
}

TEST_CASE("a directory that was listed is listed again when an entry is added, one that was only "
          "seen is not") {
    const TemporaryTree tree;
    const auto directory = tree.directory("d");
    make_old(directory);
    ObservedCache<std::size_t> cache{4};
    DiskFileSystem files;
    int computed = 0;
    const auto count = [&] {
        return cache.get("list", files, k_long, [&](FileSystem& seen) {
            ++computed;
            return seen.list_directory(directory)->size();
        });
    };
    const auto is_there = [&] {
        return cache.get("see", files, k_long, [&](FileSystem& seen) {
            ++computed;
            return std::size_t{seen.exists(directory) ? 1U : 0U};
        });
    };
    CHECK(count() == 0);
    CHECK(is_there() == 1);
    CHECK(computed == 2);
    tree.file("d/new", "");
    make_old(directory + "/new");
    CHECK(count() == 1);
    CHECK(is_there() == 1);
    CHECK(computed == 3);
}

TEST_CASE("a link that leads elsewhere is noticed") {
    const TemporaryTree tree;
    tree.directory("one");
    tree.directory("two");
    const auto link = tree.link("current", "one");
    ObservedCache<std::string> cache{4};
    DiskFileSystem files;
    const auto real = [&] {
        return cache.get("real", files, k_long,
                         [&](FileSystem& seen) { return seen.real_path(link).value_or(""); });
    };
    CHECK(real().ends_with("/one"));
    std::filesystem::remove(link);
    tree.link("current", "two");
    CHECK(real().ends_with("/two"));
}

TEST_CASE("no more values are kept than allowed, the least used goes first") {
    const TemporaryTree tree;
    Counter counter;
    for (const char* name : {"a", "b", "c", "d"}) {
        make_old(tree.file(name, name));
        counter.first_line(tree.path() + '/' + name);
    }
    counter.first_line(tree.path() + "/a");
    CHECK(counter.computed == 4);
    make_old(tree.file("e", "e"));
    counter.first_line(tree.path() + "/e");
    CHECK(counter.computed == 5);
    counter.first_line(tree.path() + "/a");
    CHECK(counter.computed == 5);
    counter.first_line(tree.path() + "/b");
    CHECK(counter.computed == 6);
}

TEST_CASE("what was found while something was silent is not kept") {
    cudaenv::test::FakeDisk disk;
    disk.file("/sw/a", "one").file("/b", "two");
    ObservedCache<std::string> cache{4};
    int computed = 0;
    const auto ask = [&] {
        return cache.get("", disk, k_long, [&](FileSystem& seen) {
            ++computed;
            const std::vector<std::string> places = {"/sw", "/b"};
            return seen.read_file(seen.silent(places).empty() ? "/sw/a" : "/b").value_or("none");
        });
    };
    CHECK(ask() == "one");
    CHECK(ask() == "one");
    CHECK(computed == 1);
    disk.silenced("/sw");
    CHECK(ask() == "two");
    CHECK(ask() == "two");
    CHECK(computed == 3);
}
