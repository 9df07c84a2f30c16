#include "host/compilers.hpp"
#include "host/version_cache.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace cudaenv::host {
namespace {

using test::TemporaryTree;

std::string content_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

TEST_CASE("what was kept is found by the next run, in a file that is ours alone") {
    TemporaryTree tree;
    const auto directory = tree.path() + "/a/b/cudaenv";
    {
        VersionCache cache(directory, 1000);
        CHECK_FALSE(cache.find("1:2:3:4"));
        cache.keep("1:2:3:4", {"9.4.0", ""});
        cache.save();
    }
    const VersionCache again(directory, 2000);
    REQUIRE(again.find("1:2:3:4"));
    CHECK(again.find("1:2:3:4")->version == "9.4.0");
    CHECK_FALSE(again.find("1:2:3:5"));
    struct stat status {};
    REQUIRE(::stat((directory + "/compilers.json").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    REQUIRE(::stat(directory.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
}

TEST_CASE("a refusal is kept for ten minutes, then asked again, also when the clock stepped back") {
    TemporaryTree tree;
    {
        VersionCache cache(tree.path(), 10'000);
        cache.keep("k", {"", "exit status 1"});
        cache.save();
    }
    CHECK(VersionCache(tree.path(), 10'500).find("k"));
    CHECK_FALSE(VersionCache(tree.path(), 10'700).find("k"));
    CHECK_FALSE(VersionCache(tree.path(), 9'000).find("k"));
}

TEST_CASE("a refusal at a time that no clock shows is not believed") {
    TemporaryTree tree;
    for (const auto* at : {"-9223372036854775808", "9223372036854775807", "18446744073709551615"}) {
        INFO(at);
        tree.file("compilers.json",
                  R"({"schema": "cudaenv.compilers/1", "entries": {"k": ["", "no", )" +
                      std::string(at) + "]}}",
                  0600);
        CHECK_FALSE(VersionCache(tree.path(), 10'000).find("k"));
    }
}

TEST_CASE("what is kept briefly is there for a second look of one command") {
    TemporaryTree tree;
    {
        VersionCache cache(tree.path(), 10'000);
        cache.keep_briefly("k", {"", "no answer"});
        cache.save();
    }
    CHECK(VersionCache(tree.path(), 10'006).find("k"));
    CHECK_FALSE(VersionCache(tree.path(), 10'020).find("k"));
}

TEST_CASE("a broken cache file counts as empty and is replaced") {
    TemporaryTree tree;
    for (const auto* broken :
         {"", "{", "null", "[]", R"({"schema": "other/1", "entries": {"k": ["1", "", 0]}})",
          R"({"schema": "cudaenv.compilers/1", "entries": []})",
          R"({"schema": "cudaenv.compilers/1", "entries": {"k": [1, 2, 3]}})",
          R"({"schema": "cudaenv.compilers/1", "entries": {"k": "9.4.0"}})"}) {
        INFO(broken);
        tree.file("compilers.json", broken, 0600);
        VersionCache cache(tree.path(), 0);
        CHECK_FALSE(cache.find("k"));
        cache.keep("k", {"1.2", ""});
        cache.save();
        CHECK(VersionCache(tree.path(), 0).find("k"));
    }
}

TEST_CASE("a cache that others may write is not believed, nor is a symlink") {
    TemporaryTree tree;
    const std::string good =
        R"({"schema": "cudaenv.compilers/1", "entries": {"k": ["9.4.0", "", 0]}})";
    tree.file("compilers.json", good, 0600);
    CHECK(VersionCache(tree.path(), 0).find("k"));
    for (const unsigned mode : {0666U, 0620U, 0602U}) {
        ::chmod((tree.path() + "/compilers.json").c_str(), mode);
        CHECK_FALSE(VersionCache(tree.path(), 0).find("k"));
    }
    TemporaryTree other;
    other.link("compilers.json", tree.file("real.json", good, 0600));
    CHECK_FALSE(VersionCache(other.path(), 0).find("k"));
}

TEST_CASE("another user's cache is not believed, and nothing is written into his directory") {
    TemporaryTree tree;
    tree.file("compilers.json",
              R"({"schema": "cudaenv.compilers/1", "entries": {"k": ["9.4.0", "", 0]}})", 0644);
    const auto before = content_of(tree.path() + "/compilers.json");
    const auto seen = test::as_nobody([&] {
        VersionCache cache(tree.path(), 0);
        const bool found = cache.find("k").has_value();
        cache.keep("x", {"1", ""});
        cache.save();
        return std::string(found ? "believed" : "ignored");
    });
    CHECK(seen == "ignored");
    CHECK(content_of(tree.path() + "/compilers.json") == before);
}

TEST_CASE("a world-writable cache directory is not written into") {
    TemporaryTree tree;
    const auto directory = tree.directory("open");
    ::chmod(directory.c_str(), 0777);
    VersionCache cache(directory, 0);
    cache.keep("k", {"1", ""});
    cache.save();
    CHECK(::access((directory + "/compilers.json").c_str(), F_OK) != 0);
}

TEST_CASE("a compiler is asked once, and again when its file changes") {
    TemporaryTree tree;
    const auto script = [&](const std::string& version) {
        tree.file("bin/g++",
                  "#!/bin/sh\necho asked >> " + tree.path() + "/asked\necho " + version + "\n",
                  0755);
    };
    const Environment environment = {{"PATH", tree.path() + "/bin:/bin"}};
    const auto look = [&] {
        DiskFileSystem files;
        ChildProcessRunner processes;
        VersionCache cache(tree.path() + "/cache", 0);
        const auto found =
            find_compilers(files, environment, "x86_64", {processes, cache, environment});
        cache.save();
        for (const auto& compiler : found.compilers) {
            if (compiler.path == tree.path() + "/bin/g++") {
                return compiler.version.str();
            }
        }
        return std::string("none");
    };
    script("9.4.0");
    CHECK(look() == "9.4.0");
    CHECK(look() == "9.4.0");
    CHECK(content_of(tree.path() + "/asked") == "asked\n");
    script("10.2.1"); // another size
    CHECK(look() == "10.2.1");
    CHECK(content_of(tree.path() + "/asked") == "asked\nasked\n");
}

} // namespace
} // namespace cudaenv::host
