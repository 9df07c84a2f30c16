// What every reader and writer of files stands on: whole_io, temporary_file, private_store.
#include "base/private_store.hpp"
#include "base/temporary_file.hpp"
#include "base/whole_io.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <array>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace cudaenv {
namespace {

using test::TemporaryTree;

std::size_t entries_of(const std::string& directory) {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(directory), {}));
}

TEST_CASE("a read goes on until it has all, and a pipe's pieces are joined") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    const Fd out(ends[0]);
    Fd in(ends[1]);
    std::thread writer([&] {
        for (const char c : std::string("abcdef")) {
            CHECK(::write(in.get(), &c, 1) == 1);
            std::this_thread::yield();
        }
        in.reset();
    });
    std::string four(4, '\0');
    CHECK(read_full(out.get(), four.data(), four.size()) == 4);
    CHECK(four == "abcd");
    CHECK(read_rest(out.get(), 100) == "ef");
    writer.join();
}

TEST_CASE("what is read ends at the limit, what is short at the end of the file") {
    const TemporaryTree tree;
    const std::string text(100'000, 'x');
    const std::string path = tree.file("a", text);
    const Fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    CHECK(read_rest(file.get(), 70'000) == text.substr(0, 70'000));
    CHECK(read_rest(file.get(), 70'000) == text.substr(0, 30'000));
    REQUIRE(write_full(file.get(), "yz", 99'999));
    std::string end(10, '\0');
    CHECK(read_full(file.get(), end.data(), end.size(), 99'998) == 3);
    CHECK(end.substr(0, 3) == "xyz");
    CHECK(read_full(-1, end.data(), 1) == -1);
    CHECK_FALSE(read_rest(-1, 1));
    CHECK_FALSE(write_full(-1, "x"));
}

TEST_CASE("a temporary file replaces the file at once or disappears") {
    const TemporaryTree tree;
    tree.file("a", "old");
    const Fd directory(::open(tree.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const auto text_of = [&] {
        const Fd file(::openat(directory.get(), "a", O_RDONLY | O_CLOEXEC));
        return read_rest(file.get(), 100);
    };
    {
        TemporaryFile file(directory.get(), "a");
        REQUIRE(file);
        CHECK(TemporaryFile::is_temporary(file.name()));
        REQUIRE(write_full(file.fd(), "new"));
        TemporaryFile moved = std::move(file);
        CHECK_FALSE(file); // NOLINT(bugprone-use-after-move): that is the question
        CHECK(entries_of(tree.path()) == 2);
    }
    CHECK(entries_of(tree.path()) == 1);
    CHECK(text_of() == "old");
    TemporaryFile file(directory.get(), "a");
    REQUIRE(write_full(file.fd(), "new"));
    CHECK(text_of() == "old");
    REQUIRE(file.replace());
    CHECK(text_of() == "new");
    CHECK(entries_of(tree.path()) == 1);
    CHECK_FALSE(TemporaryFile(directory.get(), "missing/a"));
    // A name of the longest length that file systems allow.
    CHECK(TemporaryFile(AT_FDCWD, tree.path() + '/' + std::string(255, 'n')));
    CHECK(entries_of(tree.path()) == 1);
}

TEST_CASE("a store gives back what was written, and nothing that is damaged or too long") {
    const TemporaryTree tree;
    const PrivateStore store(tree.path() + "/cache", "a.json", 60);
    CHECK(store.read().empty());
    REQUIRE(store.write_json({{"schema", "a/1"}, {"x", 7}}));
    CHECK(store.read_json("a/1")["x"] == 7);
    CHECK(store.read_json("a/2").empty());
    CHECK_FALSE(store.write(std::string(61, 'x')));
    CHECK(store.read_json("a/1")["x"] == 7);
    for (const char* damaged : {"", "{", "[]", "7", "{\"schema\": 7}"}) {
        REQUIRE(store.write(damaged));
        CHECK(store.read_json("a/1").empty());
    }
    REQUIRE(store.write_json({{"schema", "a/1"}, {"x", "\xff"}}));
    CHECK(store.read_json("a/1")["x"] == "\xef\xbf\xbd");
    CHECK(store.lock());
    CHECK_FALSE(PrivateStore("", "a", 60).write("x"));
    CHECK_FALSE(PrivateStore("relative", "a", 60).lock());
}

} // namespace
} // namespace cudaenv
