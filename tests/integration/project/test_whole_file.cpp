#include "base/whole_file.hpp"
#include "scratch.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace cudaenv;
namespace fs = std::filesystem;

namespace {

std::string text_of(const Result<void>& result) {
    return result ? "done" : result.error().code + ": " + result.error().message;
}
mode_t mode_of(const std::string& path) {
    struct stat status {};
    ::stat(path.c_str(), &status);
    return status.st_mode & 07777U;
}

} // namespace

TEST_CASE("a missing file is nothing, a file its whole text") {
    const Scratch scratch;
    CHECK(*read_whole(scratch.path("none")) == std::nullopt);
    CHECK(*read_whole(scratch.path("none/below")) == std::nullopt);
    CHECK(**read_whole(scratch.write("a", "x\r\ny")) == "x\r\ny");
    CHECK(**read_whole(scratch.write("empty", "")) == "");
}

TEST_CASE("what is no text file is refused and never waited for") {
    const Scratch scratch;
    REQUIRE(::mkfifo(scratch.path("pipe").c_str(), 0644) == 0);
    CHECK(read_whole(scratch.path("pipe")).error().code == "not-a-file");
    CHECK(read_whole(scratch.path()).error().message == "is a directory, not a file");
    fs::create_symlink("loop", scratch.path("loop"));
    CHECK(read_whole(scratch.path("loop")).error().code == "symlink-loop");
    CHECK(read_whole(scratch.write("big", std::string(1001, 'x')), 1000).error().code ==
          "file-too-large");
    CHECK(read_whole("/dev/zero").error().code == "not-a-file");
}

TEST_CASE("writing keeps the mode and leaves nothing beside the file") {
    const Scratch scratch;
    const std::string file = scratch.write("a", "old");
    ::chmod(file.c_str(), 0640);
    CHECK(text_of(replace_whole(file, "new", "old")) == "done");
    CHECK(scratch.read("a") == "new");
    CHECK(mode_of(file) == 0640);
    CHECK(scratch.names() == std::vector<std::string>{"a"});
}

TEST_CASE("a new file obeys the umask and is never writable by everyone") {
    const Scratch scratch;
    const mode_t before = ::umask(0);
    CHECK(text_of(replace_whole(scratch.path("open"), "x", std::nullopt)) == "done");
    ::umask(077);
    CHECK(text_of(replace_whole(scratch.path("closed"), "x", std::nullopt)) == "done");
    ::umask(before);
    CHECK(mode_of(scratch.path("open")) == 0664);
    CHECK(mode_of(scratch.path("closed")) == 0600);
    CHECK(scratch.names().size() == 2);
}

TEST_CASE("a file of another owner keeps its owner when root edits it") {
    if (!is_root()) {
        SKIP("only root can give files away; run as root");
    }
    const Scratch scratch;
    const std::string file = scratch.write("a", "old");
    give(file, k_nobody);
    CHECK(text_of(replace_whole(file, "new", "old")) == "done");
    struct stat status {};
    REQUIRE(::stat(file.c_str(), &status) == 0);
    CHECK(status.st_uid == k_nobody);
    CHECK(status.st_gid == k_nobody);
}

TEST_CASE("a symlink stays and what it leads to is written") {
    const Scratch scratch;
    scratch.write("real/file", "old");
    scratch.make_directory("p");
    fs::create_symlink("../real/link2", scratch.path("p/link"));
    fs::create_symlink("file", scratch.path("real/link2"));
    CHECK(text_of(replace_whole(scratch.path("p/link"), "new", "old")) == "done");
    CHECK(fs::is_symlink(scratch.path("p/link")));
    CHECK(fs::is_symlink(scratch.path("real/link2")));
    CHECK(scratch.read("real/file") == "new");
    CHECK(scratch.names("p") == std::vector<std::string>{"link"});

    fs::create_symlink(scratch.path("real/made"), scratch.path("p/dangling"));
    CHECK(text_of(replace_whole(scratch.path("p/dangling"), "made", std::nullopt)) == "done");
    CHECK(scratch.read("real/made") == "made");

    fs::create_symlink("b", scratch.path("a"));
    fs::create_symlink("a", scratch.path("b"));
    CHECK(replace_whole(scratch.path("a"), "x", std::nullopt).error().code == "symlink-loop");
}

TEST_CASE("a file that changed since it was read is not overwritten") {
    const Scratch scratch;
    const std::string file = scratch.write("a", "somebody's");
    CHECK(replace_whole(file, "mine", "what I read").error().code == k_file_changed);
    CHECK(replace_whole(file, "mine", std::nullopt).error().code == k_file_changed);
    CHECK(scratch.read("a") == "somebody's");
    CHECK(replace_whole(scratch.path("gone"), "mine", "what I read").error().code ==
          k_file_changed);
    CHECK(scratch.names() == std::vector<std::string>{"a"});
}

TEST_CASE("an edit starts again on what somebody else wrote meanwhile") {
    const Scratch scratch;
    const std::string file = scratch.write("a", "1");
    int calls = 0;
    const auto done =
        edit_whole(file, [&](const std::optional<std::string>& text) -> Result<std::string> {
            if (++calls == 1) {
                scratch.write("a", "2");
            }
            return text.value_or("") + "+";
        });
    REQUIRE(done);
    CHECK(calls == 2);
    CHECK(done->before == "2");
    CHECK(scratch.read("a") == "2+");
}

TEST_CASE("an edit gives up when the file never rests, and nothing is lost") {
    const Scratch scratch;
    const std::string file = scratch.write("a", "0");
    int calls = 0;
    const auto done =
        edit_whole(file, [&](const std::optional<std::string>&) -> Result<std::string> {
            scratch.write("a", "other " + std::to_string(++calls));
            return "mine";
        });
    REQUIRE_FALSE(done);
    CHECK(done.error().code == k_file_changed);
    CHECK(scratch.read("a") == "other " + std::to_string(calls));
    CHECK(scratch.names() == std::vector<std::string>{"a"});
}

TEST_CASE("an edit that changes nothing writes nothing") {
    const Scratch scratch;
    const std::string file = scratch.write("a", "same");
    struct stat before {};
    struct stat after {};
    ::stat(file.c_str(), &before);
    const auto done = edit_whole(file, [](const auto&) -> Result<std::string> { return "same"; });
    REQUIRE(done);
    CHECK_FALSE(done->written);
    ::stat(file.c_str(), &after);
    CHECK(before.st_ino == after.st_ino);
    CHECK(edit_whole(scratch.path("none"), [](const auto&) -> Result<std::string> { return ""; }));
    CHECK(scratch.names() == std::vector<std::string>{"a"});
}

TEST_CASE("many writers at once lose no edit of each other") {
    const Scratch scratch;
    const std::string file = scratch.write("a", "");
    constexpr int k_writers = 8;
    constexpr int k_edits = 10;
    std::vector<pid_t> children;
    for (int writer = 0; writer < k_writers; ++writer) {
        const pid_t child = ::fork();
        if (child == 0) {
            int failures = 0;
            for (int i = 0; i < k_edits; ++i) {
                const std::string word = std::to_string(writer) + ':' + std::to_string(i) + '\n';
                const auto add =
                    [&](const std::optional<std::string>& text) -> Result<std::string> {
                    return text.value_or("") + word;
                };
                // One that gave up says so, and may be asked again.
                Result<FileEdit> done = edit_whole(file, add);
                for (int again = 0; again < 1000 && !done; ++again) {
                    done = edit_whole(file, add);
                }
                failures += done ? 0 : 1;
            }
            ::_exit(failures);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        CHECK(status == 0);
    }
    const std::string text = scratch.read("a");
    for (int writer = 0; writer < k_writers; ++writer) {
        for (int i = 0; i < k_edits; ++i) {
            CHECK(text.find(std::to_string(writer) + ':' + std::to_string(i) + '\n') !=
                  std::string::npos);
        }
    }
    CHECK(scratch.names() == std::vector<std::string>{"a"});
}

TEST_CASE("where the user may not write, the message says so and the file is as it was") {
    if (!is_root()) {
        SKIP("needs a second user; run as root");
    }
    const Scratch scratch;
    const std::string file = scratch.write("a", "old");
    CHECK(in_child([&] { return text_of(replace_whole(file, "new", "old")); }, k_nobody) ==
          "permission-denied: cannot be written: Permission denied");
    // The directory is the user's, the file is read-only: a rename would go through, and is not
    // done.
    const std::string mine = scratch.write("d/read-only", "old");
    give(scratch.path("d"), k_nobody);
    ::chmod(mine.c_str(), 0444);
    CHECK(in_child([&] { return text_of(replace_whole(mine, "new", "old")); }, k_nobody) ==
          "permission-denied: cannot be written: Permission denied");
    CHECK(in_child([&] { return text_of(replace_whole(scratch.path("new"), "x", std::nullopt)); },
                   k_nobody) == "permission-denied: cannot be written: Permission denied");
    CHECK(scratch.read("a") == "old");
    CHECK(scratch.read("d/read-only") == "old");
    CHECK(scratch.names("d") == std::vector<std::string>{"read-only"});
    // A directory that may be written but not listed.
    ::chmod(mine.c_str(), 0644);
    ::chmod(scratch.path("d").c_str(), 0333);
    CHECK(in_child([&] { return text_of(replace_whole(mine, "new", "old")); }, k_nobody) == "done");
    CHECK(scratch.read("d/read-only") == "new");
}

TEST_CASE("a full disk leaves the file as it was and nothing beside it") {
    if (!is_root()) {
        SKIP("needs a small file system of its own; run as root");
    }
    const Scratch scratch;
    const std::string small = scratch.make_directory("small");
    const std::string said = in_mount_namespace([&]() -> std::string {
        if (::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=16k,mode=755") != 0) {
            return "skip: no tmpfs: " + std::string(std::strerror(errno));
        }
        scratch.write("small/a", "old");
        const auto full = replace_whole(small + "/a", std::string(100000, 'x'), "old");
        std::string out = full ? "written" : full.error().message;
        out += '|' + scratch.read("small/a") + '|' + std::to_string(scratch.names("small").size());
        return out + '|' + text_of(replace_whole(small + "/a", "new", "old"));
    });
    if (said.starts_with("skip: ")) {
        SKIP(said.substr(6));
    }
    CHECK(said == "cannot be written: No space left on device|old|1|done");
}

TEST_CASE("a missing directory is named as such") {
    const Scratch scratch;
    const auto done = replace_whole(scratch.path("none/a"), "x", std::nullopt);
    REQUIRE_FALSE(done);
    CHECK(done.error().code == "not-found");
    CHECK(done.error().path == scratch.path("none/a"));
    CHECK(done.error().kind == ErrorKind::Unavailable);
}
