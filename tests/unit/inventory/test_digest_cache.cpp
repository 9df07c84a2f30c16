#include "check/inventory/digest_cache.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <thread>

namespace cudaenv::inventory {
namespace {

using test::TemporaryTree;

constexpr std::int64_t k_second = 1'000'000'000;
constexpr std::int64_t k_now = 1'700'000'000 * k_second;

FileIdentity file(std::uint64_t inode, std::int64_t changed_ns = k_now - 3600 * k_second - 1) {
    return {7, inode, 100, changed_ns - 5, changed_ns};
}

facts::Sha256Digest digest(std::uint8_t first) {
    return {first, 2, 3};
}

std::string text_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST_CASE("a digest is given back for the same file, and for no other content of it") {
    DigestCache cache;
    cache.keep(file(1), digest(1), k_now);
    CHECK(cache.find(file(1), k_now) == digest(1));
    CHECK_FALSE(cache.find(file(2), k_now));
    for (const auto change : {&FileIdentity::modified_ns, &FileIdentity::changed_ns}) {
        auto other = file(1);
        ++(other.*change);
        CHECK_FALSE(cache.find(other, k_now));
    }
    for (const auto change : {&FileIdentity::size, &FileIdentity::device}) {
        auto other = file(1);
        ++(other.*change);
        CHECK_FALSE(cache.find(other, k_now));
    }
}

TEST_CASE("digests are there for the next process, and those of two that saved at once") {
    const TemporaryTree tree;
    const auto directory = tree.path() + "/cache/cudaenv";
    DigestCache one(directory, "here");
    DigestCache other(directory, "here");
    one.keep(file(1), digest(1), k_now);
    other.keep(file(2), digest(2), k_now);
    one.save();
    other.save();
    DigestCache next(directory, "here");
    CHECK(next.find(file(1), k_now) == digest(1));
    CHECK(next.find(file(2), k_now) == digest(2));
    CHECK(next.size() == 2);
    struct stat status {};
    REQUIRE(::stat((directory + "/digests").c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0600);
}

TEST_CASE("of another machine, damaged, or writable by others, a store is empty") {
    const TemporaryTree tree;
    const auto directory = tree.path() + "/cache";
    const auto path = directory + "/digests";
    {
        DigestCache cache(directory, "here");
        cache.keep(file(1), digest(1), k_now);
        cache.keep(file(2), digest(2), k_now);
        cache.save();
    }
    REQUIRE(DigestCache(directory, "here").size() == 2);
    CHECK(DigestCache(directory, "there").size() == 0);
    const auto text = text_of(path);
    SECTION("any byte of it") {
        for (std::size_t at = 0; at < text.size(); ++at) {
            auto damaged = text;
            damaged[at] = static_cast<char>(damaged[at] ^ 1);
            CHECK_FALSE(read_digests(damaged, "here"));
        }
    }
    SECTION("cut short or too long") {
        for (std::size_t size = 0; size < text.size(); ++size) {
            CHECK_FALSE(read_digests(std::string_view(text).substr(0, size), "here"));
        }
        CHECK_FALSE(read_digests(text + '\0', "here"));
    }
    SECTION("writable by others") {
        REQUIRE(::chmod(path.c_str(), 0666) == 0);
        CHECK(DigestCache(directory, "here").size() == 0);
    }
    SECTION("of another user") {
        if (::chown(path.c_str(), 65534, 65534) != 0) {
            SKIP("needs root, to give a file to another user");
        }
        CHECK(DigestCache(directory, "here").size() == 0);
    }
    SECTION("a link to one") {
        std::filesystem::rename(path, tree.path() + "/elsewhere");
        std::filesystem::create_symlink(tree.path() + "/elsewhere", path);
        CHECK(DigestCache(directory, "here").size() == 0);
    }
}

TEST_CASE("a file that was changed just before it was read is not kept, nor one of the future") {
    DigestCache cache;
    cache.keep(file(1, k_now - k_second / 100 + 1), digest(1), k_now);
    cache.keep(file(2, k_now + 60 * k_second + 1), digest(2), k_now);
    cache.keep(file(3, k_now - k_second), digest(3), k_now); // stamps of whole seconds
    CHECK(cache.size() == 0);
    cache.keep(file(4, k_now - k_second / 10 + 1), digest(4), k_now);
    cache.keep(file(5, k_now - 3 * k_second), digest(5), k_now);
    CHECK(cache.size() == 2);
}

TEST_CASE("of a full store those go that were not used for longest") {
    const TemporaryTree tree;
    constexpr std::int64_t k_day = 24 * 3600 * k_second;
    DigestCache cache(tree.path(), "here");
    for (std::uint64_t inode = 0; inode < DigestCache::k_most; ++inode) {
        cache.keep(file(inode), digest(1), k_now);
    }
    cache.keep(file(DigestCache::k_most), digest(2), k_now + 2 * k_day);
    REQUIRE(cache.find(file(17), k_now + 3 * k_day)); // used again
    cache.save();
    DigestCache next(tree.path(), "here");
    CHECK(next.size() == DigestCache::k_most);
    CHECK(next.find(file(DigestCache::k_most), k_now));
    CHECK(next.find(file(17), k_now));
    CHECK_FALSE(next.find(file(DigestCache::k_most - 1), k_now));
    // Without an end in memory it does not grow either.
    for (std::uint64_t inode = 0; inode < DigestCache::k_most; ++inode) {
        cache.keep(file(inode + 2 * DigestCache::k_most), digest(1), k_now);
    }
    CHECK(cache.size() <= DigestCache::k_most + DigestCache::k_most / 4);
}

TEST_CASE("where nothing can be written the digests are there for this process") {
    const TemporaryTree tree;
    tree.file("file", "");
    for (const auto& directory :
         {std::string(), std::string("relative"), tree.path() + "/file/x"}) {
        DigestCache cache(directory, "here");
        cache.keep(file(1), digest(1), k_now);
        cache.save();
        CHECK(cache.find(file(1), k_now));
    }
}

TEST_CASE("several threads keep and find at once") {
    DigestCache cache;
    {
        std::vector<std::jthread> threads;
        for (std::uint64_t thread = 0; thread < 4; ++thread) {
            threads.emplace_back([&cache, thread] {
                for (std::uint64_t number = 0; number < 500; ++number) {
                    cache.keep(file(number * 4 + thread), digest(1), k_now);
                    static_cast<void>(cache.find(file(number), k_now));
                }
            });
        }
    }
    CHECK(cache.size() == 2000);
}

} // namespace
} // namespace cudaenv::inventory
