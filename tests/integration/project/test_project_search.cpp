#include "host/project/project_search.hpp"
#include "scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cstring>
#include <filesystem>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace cudaenv;
using namespace cudaenv::project;
namespace fs = std::filesystem;

namespace {

// The file found, or "none", and each file passed over with its reason, relative to the scratch
// directory.
std::string found(const Scratch& scratch, const std::string& start, uid_t user = ::geteuid()) {
    const auto search = find_project(scratch.path(start), user);
    if (!search) {
        return search.error().code;
    }
    const auto shown = [&](std::string text) {
        for (std::size_t at = 0; (at = text.find(scratch.path() + '/')) != std::string::npos;) {
            text.erase(at, scratch.path().size() + 1);
        }
        return text;
    };
    std::string out = search->found ? shown(search->found->file) : "none";
    for (const SkippedFile& file : search->skipped) {
        out += " | " + shown(file.path) + ' ' + shown(file.why);
    }
    return out;
}

} // namespace

TEST_CASE("the nearest project file upwards counts") {
    const Scratch scratch;
    scratch.write("cudaenv.toml", "");
    scratch.write("a/cudaenv.toml", "");
    scratch.make_directory("a/b/c");
    scratch.make_directory("x/y");
    CHECK(found(scratch, "a/b/c") == "a/cudaenv.toml");
    CHECK(found(scratch, "a") == "a/cudaenv.toml");
    CHECK(found(scratch, "x/y") == "cudaenv.toml");
    CHECK(found(scratch, "x/../a/b/") == "a/cudaenv.toml");
}

TEST_CASE("through a symlink the project is where the directory really is") {
    const Scratch scratch;
    scratch.write("real/cudaenv.toml", "");
    scratch.make_directory("real/sub");
    scratch.write("other/cudaenv.toml", "");
    fs::create_symlink("../real/sub", scratch.path("other/link"));
    CHECK(found(scratch, "other/link") == "real/cudaenv.toml");
}

TEST_CASE("the local file counts beside the project file, not alone") {
    const Scratch scratch;
    scratch.write("a/cudaenv.toml", "");
    scratch.write("a/cudaenv.local.toml", "");
    scratch.write("a/b/cudaenv.local.toml", "");
    const auto search = find_project(scratch.path("a/b"), ::geteuid());
    REQUIRE(search);
    REQUIRE(search->found);
    CHECK(search->found->file == scratch.path("a/cudaenv.toml"));
    CHECK(search->found->local_file == scratch.path("a/cudaenv.local.toml"));
    CHECK(search->start == scratch.path("a/b"));
}

TEST_CASE("directories of any name are searched") {
    const std::string name =
        GENERATE(as<std::string>(), "with space", "new\nline", "\xff\xfe not utf-8", "$(touch x)",
                 "-rf", "\xC3\xA4", "'quote\"");
    const Scratch scratch;
    scratch.write(name + "/cudaenv.toml", "");
    scratch.make_directory(name + "/sub");
    CHECK(found(scratch, name + "/sub") == name + "/cudaenv.toml");
    ::chmod(scratch.path(name + "/cudaenv.toml").c_str(), 0666);
    const auto search = find_project(scratch.path(name), ::geteuid());
    REQUIRE(search);
    REQUIRE(search->skipped.size() == 1);
    CHECK(search->skipped[0].text().find('\n') == std::string::npos);
    CHECK(search->skipped[0].text().find('\xff') == std::string::npos);
}

TEST_CASE("a file that everyone may write is passed over with the reason, and the search goes on") {
    const Scratch scratch;
    scratch.write("cudaenv.toml", "");
    ::chmod(scratch.write("a/cudaenv.toml", "").c_str(), 0666);
    CHECK(found(scratch, "a") == "cudaenv.toml | a/cudaenv.toml is writable by everyone");
    const auto search = find_project(scratch.path("a"), ::geteuid());
    CHECK(search->skipped[0].text() == scratch.path("a/cudaenv.toml") +
                                           " is passed over: is writable by everyone (chmod o-w " +
                                           scratch.path("a/cudaenv.toml") + ")");
}

TEST_CASE("a directory that everyone may write makes its file count for nothing") {
    const Scratch scratch;
    scratch.write("a/b/cudaenv.toml", "");
    ::chmod(scratch.path("a/b").c_str(), 0777);
    CHECK(found(scratch, "a/b") == "none | a/b/cudaenv.toml a/b is writable by everyone");
    ::chmod(scratch.path("a/b").c_str(), 01777); // as /tmp: anybody may put a file there
    CHECK(found(scratch, "a/b") == "none | a/b/cudaenv.toml a/b is writable by everyone");
    ::chmod(scratch.path("a/b").c_str(), 0755);
    ::chmod(scratch.path("a").c_str(), 0777); // anybody may rename a/b
    CHECK(found(scratch, "a/b") == "none | a/b/cudaenv.toml a is writable by everyone");
    ::chmod(scratch.path("a").c_str(), 01777); // sticky: only its owner may
    CHECK(found(scratch, "a/b") == "a/b/cudaenv.toml");
}

TEST_CASE("files and directories of another user are passed over, root's are not") {
    if (!is_root()) {
        SKIP("needs files of several owners; run as root");
    }
    const Scratch scratch;
    scratch.write("a/cudaenv.toml", "");
    give(scratch.path("a/cudaenv.toml"), 12345);
    CHECK(found(scratch, "a") == "none | a/cudaenv.toml belongs to uid 12345, not to root");
    CHECK(found(scratch, "a", 12345) == "a/cudaenv.toml");
    give(scratch.path("a"), 12345);
    give(scratch.path("a/cudaenv.toml"), 0);
    CHECK(found(scratch, "a", 4321) ==
          "none | a/cudaenv.toml a belongs to uid 12345, not to uid 4321 or root");
    CHECK(found(scratch, "a", 12345) == "a/cudaenv.toml");
}

TEST_CASE("symlinks that loop, pipes and directories named cudaenv.toml do not stop the search") {
    const Scratch scratch;
    scratch.write("cudaenv.toml", "");
    scratch.make_directory("loop");
    fs::create_symlink("cudaenv.toml", scratch.path("loop/cudaenv.toml"));
    CHECK(found(scratch, "loop") ==
          "cudaenv.toml | loop/cudaenv.toml its symlinks lead in a circle");
    scratch.make_directory("pipe");
    REQUIRE(::mkfifo(scratch.path("pipe/cudaenv.toml").c_str(), 0644) == 0);
    CHECK(found(scratch, "pipe") == "cudaenv.toml | pipe/cudaenv.toml is not a regular file");
    scratch.make_directory("directory/cudaenv.toml");
    CHECK(found(scratch, "directory") ==
          "cudaenv.toml | directory/cudaenv.toml is not a regular file");
    scratch.make_directory("dangling");
    fs::create_symlink("nowhere", scratch.path("dangling/cudaenv.toml"));
    CHECK(found(scratch, "dangling") ==
          "cudaenv.toml | dangling/cudaenv.toml cannot be read: No such file or directory");
}

TEST_CASE("a linked project file counts when the place it leads to is safe") {
    const Scratch scratch;
    scratch.write("store/pins.toml", "");
    scratch.make_directory("p");
    fs::create_symlink("../store/pins.toml", scratch.path("p/cudaenv.toml"));
    CHECK(found(scratch, "p") == "p/cudaenv.toml");
    ::chmod(scratch.path("store").c_str(), 01777);
    CHECK(found(scratch, "p") == "none | p/cudaenv.toml store is writable by everyone");
}

TEST_CASE("what cannot be read is passed over and told") {
    if (!is_root()) {
        SKIP("needs a second user; run as root");
    }
    const Scratch scratch;
    scratch.write("a/cudaenv.toml", "");
    scratch.make_directory("a/b");
    ::chmod(scratch.path("a/cudaenv.toml").c_str(), 0600);
    CHECK(in_child([&] { return found(scratch, "a/b"); }, k_nobody) ==
          "none | a/cudaenv.toml cannot be read: Permission denied");
    // The start is not reachable at all.
    ::chmod(scratch.path("a").c_str(), 0700);
    CHECK(in_child([&] { return found(scratch, "a/b"); }, k_nobody) == "no-directory");
}

TEST_CASE("the search ends at the mount point of the directory") {
    if (!is_root()) {
        SKIP("needs mounts of its own; run as root");
    }
    const Scratch scratch;
    scratch.write("cudaenv.toml", "");
    scratch.make_directory("m");
    scratch.make_directory("source/sub/deep");
    const std::string said = in_mount_namespace([&]() -> std::string {
        const std::string mount = scratch.path("m");
        if (::mount("tmpfs", mount.c_str(), "tmpfs", 0, "size=64k,mode=755") != 0) {
            return "skip: no tmpfs: " + std::string(std::strerror(errno));
        }
        scratch.make_directory("m/a");
        std::string out = found(scratch, "m/a");
        scratch.write("m/cudaenv.toml", "");
        out += ", " + found(scratch, "m/a");
        // A bind mount has the device of its surroundings.
        scratch.make_directory("bound");
        if (::mount(scratch.path("source").c_str(), scratch.path("bound").c_str(), nullptr, MS_BIND,
                    nullptr) != 0) {
            return "skip: no bind mount: " + std::string(std::strerror(errno));
        }
        out += ", " + found(scratch, "bound/sub");
        return out + ", " + found(scratch, "source/sub");
    });
    if (said.starts_with("skip: ")) {
        SKIP(said.substr(6));
    }
    CHECK(said == "none, m/cudaenv.toml, none, cudaenv.toml");
}

TEST_CASE("a directory that is gone is an error with its name") {
    const Scratch scratch;
    const auto search = find_project(scratch.path("gone"), ::geteuid());
    REQUIRE_FALSE(search);
    CHECK(search.error().code == "no-directory");
    CHECK(search.error().path == scratch.path("gone"));
    CHECK(find_project(scratch.write("file", ""), ::geteuid()).error().code == "no-directory");
}
