#include "host/project/project.hpp"
#include "scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <grp.h>
#include <map>
#include <pwd.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <tuple>
#include <unistd.h>

using namespace cudaenv;
using namespace cudaenv::project;
namespace fs = std::filesystem;

namespace {

// The file found, or "none", and each file passed over with its reason, relative to the scratch
// directory.
std::string found(const Scratch& scratch, const std::string& start, uid_t user = ::geteuid()) {
    const auto search = find_project(scratch.path(start), {user});
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
    for (const trusted::SkippedFile& file : search->skipped) {
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
    scratch.write("a/cudaenv.local.toml", "local");
    scratch.write("a/b/cudaenv.local.toml", "");
    const auto search = find_project(scratch.path("a/b"), {});
    REQUIRE(search);
    REQUIRE(search->found);
    CHECK(search->found->file == scratch.path("a/cudaenv.toml"));
    CHECK(search->found->local_file() == scratch.path("a/cudaenv.local.toml"));
    CHECK(search->found->local_text == "local");
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
    const auto search = find_project(scratch.path(name), {});
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
    const auto search = find_project(scratch.path("a"), {});
    CHECK(search->skipped[0].text() == scratch.path("a/cudaenv.toml") +
                                           " is ignored: it is writable by everyone (chmod o-w " +
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

TEST_CASE("what a group may write counts where the group is trusted") {
    if (!is_root()) {
        SKIP("needs files of several owners; run as root");
    }
    constexpr uid_t k_user = 12345;
    const Scratch scratch;
    const std::string file = scratch.write("a/cudaenv.toml", "");
    const auto set = [&](const std::string& path, gid_t group, mode_t mode) {
        REQUIRE(::chown(path.c_str(), k_user, group) == 0);
        REQUIRE(::chmod(path.c_str(), mode) == 0);
    };
    set(scratch.path("a"), k_user, 02775); // the user's own group
    set(file, k_user, 0664);
    CHECK(found(scratch, "a", k_user) == "a/cudaenv.toml");
    set(file, 54321, 0664);
    CHECK(found(scratch, "a", k_user) == "none | a/cudaenv.toml is writable by the group 54321");
    set(file, 54321, 0644);
    set(scratch.path("a"), 54321, 02775);
    CHECK(found(scratch, "a", k_user) == "none | a/cudaenv.toml a is writable by the group 54321");
    const auto trusted = find_project(scratch.path("a"), {k_user, {}, {"54321"}});
    REQUIRE(trusted);
    CHECK(trusted->found);
    CHECK(
        trusted::reason_to_skip(scratch.path("a"), k_project_file, {k_user, {}, {"lab"}})->remedy ==
        "cudaenv config set activate.trusted_groups lab 54321");
}

TEST_CASE("a file of a trusted group counts where its owner is a member") {
    if (!is_root()) {
        SKIP("needs files of several owners; run as root");
    }
    // Of every Debian: a user whose first group is its own.
    const struct passwd* member = ::getpwnam("daemon");
    if (member == nullptr) {
        SKIP("needs the user daemon");
    }
    const struct group* group = ::getgrgid(member->pw_gid);
    REQUIRE(group != nullptr);
    constexpr uid_t k_user = 12345;
    constexpr uid_t k_no_member = 54321;
    const Scratch scratch;
    const std::string file = scratch.write("a/cudaenv.toml", "");
    const auto count = [&](uid_t owner) {
        REQUIRE(::chown(file.c_str(), owner, member->pw_gid) == 0);
        REQUIRE(::chmod(file.c_str(), 0664) == 0);
        const auto found = find_project(scratch.path("a"), {k_user, {}, {group->gr_name}});
        return found && found->found.has_value();
    };
    CHECK(count(member->pw_uid));
    CHECK_FALSE(count(k_no_member));
    CHECK(found(scratch, "a", k_user) ==
          "none | a/cudaenv.toml belongs to uid 54321, not to uid 12345 or root");
}

TEST_CASE("a group is not the user's own where others are let in beside its members") {
    if (!is_root()) {
        SKIP("needs files of several owners; run as root");
    }
    constexpr uid_t k_user = 12345;
    const Scratch scratch;
    const std::string file = scratch.write("a/cudaenv.toml", "");
    for (const std::string& path : {scratch.path("a"), file}) {
        REQUIRE(::chown(path.c_str(), k_user, k_user) == 0);
        REQUIRE(::chmod(path.c_str(), path == file ? 0664 : 0755) == 0);
    }
    CHECK(found(scratch, "a", k_user) == "a/cudaenv.toml");
    // user::rw-, user:54321:rw-, group::r--, mask::rw-, other::r--
    constexpr std::array<unsigned char, 44> k_list{
        2, 0,    0,    0,    1,    0,    6,    0, 0xff, 0xff, 0xff, 0xff, 2,    0,    6,
        0, 0x31, 0xd4, 0,    0,    4,    0,    4, 0,    0xff, 0xff, 0xff, 0xff, 0x10, 0,
        6, 0,    0xff, 0xff, 0xff, 0xff, 0x20, 0, 4,    0,    0xff, 0xff, 0xff, 0xff};
    if (::setxattr(file.c_str(), "system.posix_acl_access", k_list.data(), k_list.size(), 0) != 0) {
        SKIP("this file system has no access control lists");
    }
    CHECK(found(scratch, "a", k_user) ==
          "none | a/cudaenv.toml is writable by others by its access control list");
    REQUIRE(::removexattr(file.c_str(), "system.posix_acl_access") == 0);
    REQUIRE(::chmod(file.c_str(), 0664) == 0);
    const std::string accounts =
        scratch.write("passwd", "one:x:12345:12345::/:/bin/sh\nother:x:12346:12345::/:/bin/sh\n");
    const std::string groups = scratch.write("group", "one:x:12345:\n");
    const std::string seen = in_mount_namespace([&]() -> std::string {
        if (::mount(accounts.c_str(), "/etc/passwd", nullptr, MS_BIND, nullptr) != 0 ||
            ::mount(groups.c_str(), "/etc/group", nullptr, MS_BIND, nullptr) != 0) {
            return "skip: no bind mounts: " + std::string(std::strerror(errno));
        }
        return found(scratch, "a", k_user);
    });
    if (seen.starts_with("skip: ")) {
        SKIP(seen.substr(6));
    }
    CHECK(seen == "none | a/cudaenv.toml is writable by the group one");
}

TEST_CASE("a file that is swapped while it is read is never another user's") {
    if (!is_root()) {
        SKIP("needs a second user; run as root");
    }
    constexpr uid_t k_user = 12345;
    constexpr uid_t k_other = 12346;
    constexpr gid_t k_group = 54321;
    const Scratch scratch;
    give(scratch.write("p/cudaenv.toml", "mine"), k_user);
    give(scratch.write("p/theirs.toml", "theirs"), k_other);
    give(scratch.write("p/in/cudaenv.toml", "mine"), k_user);
    give(scratch.path("p/in"), k_user);
    give(scratch.write("p/out/cudaenv.toml", "theirs"), k_other);
    give(scratch.path("p/out"), k_other);
    REQUIRE(::chown(scratch.path("p").c_str(), k_user, k_group) == 0);
    REQUIRE(::chmod(scratch.path("p").c_str(), 02775) == 0);

    const auto [name, other, path] = GENERATE(table<std::string, std::string, std::string>(
        {{"cudaenv.toml", "theirs.toml", "p/cudaenv.toml"}, {"in", "out", "p/in/cudaenv.toml"}}));
    CAPTURE(name);
    const pid_t swapper = ::fork();
    if (swapper == 0) {
        const int directory = ::open(scratch.path("p").c_str(), O_PATH);
        bool well =
            ::setgid(k_group) == 0 && ::setgroups(0, nullptr) == 0 && ::setuid(k_other) == 0;
        while (well) {
            well = ::renameat2(directory, name.c_str(), directory, other.c_str(),
                               RENAME_EXCHANGE) == 0;
        }
        ::_exit(1);
    }
    const trusted::Trust trust{k_user, {}, {"54321"}};
    std::map<std::string, int> seen;
    for (int i = 0; i < 5000 || (i < 5'000'000 && seen.size() < 2); ++i) {
        const trusted::TrustedFile file = trusted::read_trusted_file(scratch.path(path), trust);
        ++seen[file.text.value_or("none")];
    }
    CHECK(::waitpid(swapper, nullptr, WNOHANG) == 0); // was at it to the end
    ::kill(swapper, SIGKILL);
    ::waitpid(swapper, nullptr, 0);
    CHECK(seen["mine"] > 0);
    CHECK(seen["none"] > 0);
    CHECK(seen["theirs"] == 0);
}

TEST_CASE("no link of another user's is followed, wherever on the way it lies") {
    if (!is_root()) {
        SKIP("needs files of several owners; run as root");
    }
    constexpr uid_t k_user = 12345;
    const Scratch scratch;
    give(scratch.write("private/cudaenv.toml", "x"), k_user);
    give(scratch.path("private"), k_user);
    scratch.make_directory("theirs");
    fs::create_symlink("../private", scratch.path("theirs/on"));
    give(scratch.path("theirs"), 4321);
    ::lchown(scratch.path("theirs/on").c_str(), k_user, 0);
    scratch.make_directory("p");
    fs::create_symlink("../theirs/on/cudaenv.toml", scratch.path("p/cudaenv.toml"));
    give(scratch.path("p"), k_user);
    ::lchown(scratch.path("p/cudaenv.toml").c_str(), k_user, 0);
    CHECK(found(scratch, "p", k_user) ==
          "none | p/cudaenv.toml theirs belongs to uid 4321, not to uid 12345 or root");
    give(scratch.path("theirs"), k_user);
    ::lchown(scratch.path("theirs/on").c_str(), 4321, 0);
    CHECK(found(scratch, "p", k_user) ==
          "none | p/cudaenv.toml theirs/on belongs to uid 4321, not to uid 12345 or root");
    ::lchown(scratch.path("theirs/on").c_str(), k_user, 0);
    CHECK(found(scratch, "p", k_user) == "p/cudaenv.toml");
}

TEST_CASE("symlinks that loop, pipes and directories named cudaenv.toml do not stop the search") {
    const Scratch scratch;
    scratch.write("cudaenv.toml", "");
    scratch.make_directory("loop");
    fs::create_symlink("cudaenv.toml", scratch.path("loop/cudaenv.toml"));
    CHECK(found(scratch, "loop") ==
          "cudaenv.toml | loop/cudaenv.toml has symlinks that lead in a circle");
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

TEST_CASE("what cannot be read is skipped and reported") {
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
    const auto search = find_project(scratch.path("gone"), {});
    REQUIRE_FALSE(search);
    CHECK(search.error().code == "no-directory");
    CHECK(search.error().path == scratch.path("gone"));
    CHECK(find_project(scratch.write("file", ""), {}).error().code == "no-directory");
}
