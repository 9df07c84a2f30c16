#include "host/toolkits.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <sys/stat.h>

namespace cudaenv::host {
namespace {

using test::TemporaryTree;

TEST_CASE("the disk distinguishes missing, denied and looping paths") {
    TemporaryTree tree;
    tree.file("secret/file", "x", 0600);
    ::chmod((tree.path() + "/secret").c_str(), 0700);
    tree.link("a", "b");
    tree.link("b", "a");
    DiskFileSystem files;
    CHECK(files.real_path(tree.path() + "/none").error().code == k_not_found);
    CHECK(files.real_path(tree.path() + "/a").error().code == k_symlink_loop);
    CHECK(files.read_file(tree.path() + "/secret/file/below", 10).error().code == k_not_found);
    const auto seen = test::as_nobody([&] {
        DiskFileSystem as_other;
        return as_other.read_file(tree.path() + "/secret/file", 10).error().code + ' ' +
               as_other.list_directory(tree.path() + "/secret").error().code + ' ' +
               as_other.status(tree.path() + "/secret/file").error().code;
    });
    CHECK(seen == "permission-denied permission-denied permission-denied");
}

TEST_CASE("a file is read up to its limit, and one without a size is read whole") {
    TemporaryTree tree;
    const auto path = tree.file("f", std::string(100'000, 'a') + "end");
    DiskFileSystem files;
    CHECK(files.read_file(path, 10)->size() == 10);
    CHECK(files.read_file(path, k_read_limit)->ends_with("aend"));
    CHECK(files.read_file("/proc/self/stat", k_read_limit)->find(' ') != std::string::npos);
    CHECK_FALSE(files.read_file(tree.path(), 10));
}

TEST_CASE("a fifo in a file's place does not hold the reader") {
    TemporaryTree tree;
    const auto path = tree.path() + "/version.json";
    REQUIRE(::mkfifo(path.c_str(), 0644) == 0);
    DiskFileSystem files;
    const auto text = files.read_file(path, 10);
    CHECK((!text || text->empty()));
}

TEST_CASE("a toolkit that this user may not enter is reported with that problem, another is not "
          "touched") {
    TemporaryTree tree;
    tree.file("cuda-10.0/bin/nvcc", "x", 0755);
    tree.file("cuda-10.0/version.txt", "CUDA Version 10.0.130\n");
    tree.file("cuda-11.3/bin/nvcc", "x", 0755);
    tree.file("cuda-11.3/version.txt", "CUDA Version 11.3.109\n");
    ::chmod((tree.path() + "/cuda-10.0").c_str(), 0700);
    const auto seen = test::as_nobody([&] {
        DiskFileSystem files;
        ChildProcessRunner processes;
        VersionCache cache("", 0);
        std::string lines;
        for (const auto* name : {"/cuda-10.0", "/cuda-11.3"}) {
            const auto toolkit =
                inspect_toolkit(files, tree.path() + name, "x86_64", {processes, cache, {}});
            lines +=
                (toolkit.version ? toolkit.version->str() : "none") + '|' + toolkit.problem + '\n';
        }
        return lines;
    });
    CHECK(seen == "none|permission denied: " + tree.path() + "/cuda-10.0/bin/nvcc\n11.3.109|\n");
}

} // namespace
} // namespace cudaenv::host
