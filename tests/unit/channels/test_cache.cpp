#include "host/channels/index_cache.hpp"
#include "host/channels/repodata_file.hpp"
#include "tests/unit/channels/temporary_directory.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <zstd.h>

#include <chrono>
#include <random>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cudaenv::channels {
namespace {

using test::TemporaryDirectory;
namespace fs = std::filesystem;

const std::string k_text =
    R"({"packages":{"a-1-0.conda":{"name":"a","version":"1","build":"0","depends":["b"]},)"
    R"("b-1-0.conda":{"name":"b","version":"1","build":"0","depends":[]}}})";

// Newer changes than this are not cached: they could happen again within one tick of the clock.
void let_the_clock_tick() {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
}

struct Fixture {
    TemporaryDirectory dir;
    std::string path;
    RepodataFile::Options options;

    explicit Fixture(bool compressed = false) {
        std::string bytes = k_text;
        if (compressed) {
            bytes.resize(ZSTD_compressBound(k_text.size()));
            bytes.resize(
                ZSTD_compress(bytes.data(), bytes.size(), k_text.data(), k_text.size(), 3));
        }
        path = dir.write(compressed ? "repodata.json.zst" : "repodata.json", bytes);
        options.cache_directory = dir / "cache/deep";
        let_the_clock_tick();
    }
    [[nodiscard]] std::unique_ptr<RepodataFile> open() const {
        auto file = RepodataFile::open(path, {"c", "file:///c/linux-64/", "linux-64"}, options);
        REQUIRE(file);
        return std::move(*file);
    }
    [[nodiscard]] std::string cache_file() const {
        return IndexCache(options.cache_directory).file_for(fs::canonical(path));
    }
};

std::string version_of(const RepodataFile& file, std::string_view name) {
    std::vector<specs::PackageRecord> out;
    REQUIRE(file.records_of(name, out));
    return out.size() == 1 ? out[0].version : "none";
}

TEST_CASE("the second opening takes the index of the first") {
    const Fixture fixture(GENERATE(false, true));
    const auto first = fixture.open();
    CHECK_FALSE(first->from_cache());
    const auto second = fixture.open();
    CHECK(second->from_cache());
    for (const auto* file : {first.get(), second.get()}) {
        CHECK(file->names() == std::vector<std::string>{"a", "b"});
        CHECK(version_of(*file, "a") == "1");
        CHECK(version_of(*file, "x") == "none");
    }
    struct stat status {};
    REQUIRE(::stat(fixture.cache_file().c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    CHECK(std::distance(fs::directory_iterator(fixture.options.cache_directory), {}) == 1);
}

TEST_CASE("a changed repodata is read again, even if its old time is restored") {
    const Fixture fixture;
    (void)fixture.open();
    REQUIRE(fixture.open()->from_cache());
    const auto time = fs::last_write_time(fixture.path);
    std::string text = k_text;
    text[text.find("\"version\":\"1\"") + 11] = '7'; // the same size
    fixture.dir.write("repodata.json", text);
    fs::last_write_time(fixture.path, time);
    const auto file = fixture.open();
    CHECK_FALSE(file->from_cache());
    CHECK(version_of(*file, "a") == "7");
}

TEST_CASE("a file that changed just now is not remembered") {
    Fixture fixture;
    fixture.dir.write("repodata.json", k_text);
    (void)fixture.open();
    CHECK_FALSE(fs::exists(fixture.cache_file()));
}

TEST_CASE("a damaged index is as good as none") {
    const bool compressed = GENERATE(false, true);
    const Fixture fixture(compressed);
    (void)fixture.open();
    const std::string sound = test::read_file(fixture.cache_file());
    std::mt19937 random(7);
    const std::size_t text_size = compressed ? k_text.size() : 0;
    for (std::size_t at = 0; at < sound.size(); ++at) {
        if (at == k_cache_header_size) {
            at += (text_size + 7) / 8 * 8; // a text is checked as it is decoded
        }
        std::string damaged = sound;
        damaged[at] = static_cast<char>(damaged[at] ^ static_cast<char>(1 + random() % 255));
        fixture.dir.write("cache/deep/" + fs::path(fixture.cache_file()).filename().string(),
                          damaged);
        const auto file = fixture.open();
        CAPTURE(at);
        CHECK_FALSE(file->from_cache());
        CHECK(version_of(*file, "a") == "1");
        CHECK(version_of(*file, "b") == "1");
        CHECK(file->names() == std::vector<std::string>{"a", "b"});
    }
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, k_cache_header_size - 1,
                                   k_cache_header_size, sound.size() - 1}) {
        fixture.dir.write("cache/deep/" + fs::path(fixture.cache_file()).filename().string(),
                          std::string_view(sound).substr(0, size));
        CHECK_FALSE(fixture.open()->from_cache());
    }
}

// An index that is complete and made for this file, but wrong.
void write_lying_index(const Fixture& fixture, const IndexBuilder& builder) {
    struct stat status {};
    REQUIRE(::stat(fixture.path.c_str(), &status) == 0);
    const auto tables = builder.finish("", "", k_text.size());
    const IndexCache cache(fixture.options.cache_directory);
    auto draft = cache.begin(fs::canonical(fixture.path));
    REQUIRE(draft);
    REQUIRE(draft->commit(FileIdentity::of(status), tables, false));
}

TEST_CASE("an index that points at the wrong places is found out and replaced") {
    const Fixture fixture;
    const auto b = k_text.find("\"b-1-0");
    IndexBuilder builder;
    SECTION("the record of another name") {
        builder.add("a", {static_cast<std::uint32_t>(b),
                          static_cast<std::uint32_t>(k_text.size() - 3 - b)});
    }
    SECTION("the middle of a record") {
        builder.add("a", {20, 30});
    }
    SECTION("nothing") {
        builder.add("a", {5, 0});
    }
    write_lying_index(fixture, builder);
    const auto file = fixture.open();
    REQUIRE(file->from_cache());
    CHECK(version_of(*file, "a") == "1");
    CHECK_FALSE(file->from_cache());
    CHECK(version_of(*fixture.open(), "b") == "1");
}

TEST_CASE("an index that others may write, or that is a link, is not read") {
    const Fixture fixture;
    (void)fixture.open();
    REQUIRE(fixture.open()->from_cache());
    SECTION("group") {
        ::chmod(fixture.cache_file().c_str(), 0620);
    }
    SECTION("world") {
        ::chmod(fixture.cache_file().c_str(), 0602);
    }
    SECTION("a link") {
        fs::rename(fixture.cache_file(), fixture.dir / "elsewhere");
        fs::create_symlink(fixture.dir / "elsewhere", fixture.cache_file());
    }
    CHECK_FALSE(fixture.open()->from_cache());
    CHECK(fixture.open()->from_cache()); // the first of these put a good one in its place
}

TEST_CASE("another user's index is not read") {
    const Fixture fixture;
    if (::geteuid() != 0) {
        SKIP("giving a file away needs root; run the tests as root");
    }
    (void)fixture.open();
    REQUIRE(::chown(fixture.cache_file().c_str(), 65534, 65534) == 0);
    CHECK_FALSE(fixture.open()->from_cache());
    CHECK(fixture.open()->from_cache());
}

TEST_CASE("a cache that cannot be written costs nothing but time") {
    Fixture fixture(GENERATE(false, true));
    fixture.dir.write("file", "");
    fixture.options.cache_directory = fixture.dir / "file/cache";
    CHECK(version_of(*fixture.open(), "a") == "1");
    CHECK(version_of(*fixture.open(), "b") == "1");
}

TEST_CASE("a directory that the user may not write costs nothing but time") {
    const Fixture fixture(GENERATE(false, true));
    if (::geteuid() != 0) {
        SKIP("dropping to another uid needs root; run the tests as root");
    }
    fs::permissions(fixture.dir.path(), fs::perms(0755));
    fs::create_directories(fixture.options.cache_directory);
    // For root nothing is unwritable: a child of another uid does the work.
    const pid_t child = ::fork();
    if (child == 0) {
        if (::setuid(65534) != 0) {
            ::_exit(2);
        }
        auto file = RepodataFile::open(fixture.path, {"c", "", "linux-64"}, fixture.options);
        std::vector<specs::PackageRecord> out;
        ::_exit(file && (*file)->records_of("a", out) && out.size() == 1 ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(fs::is_empty(fixture.options.cache_directory));
}

TEST_CASE("a repodata that others may not read is unavailable, not absent") {
    const Fixture fixture;
    if (::geteuid() != 0) {
        SKIP("dropping to another uid needs root; run the tests as root");
    }
    fs::permissions(fixture.path, fs::perms(0600));
    const pid_t child = ::fork();
    if (child == 0) {
        if (::setuid(65534) != 0) {
            ::_exit(2);
        }
        const auto file = RepodataFile::open(fixture.path, {"c", "", "linux-64"}, {});
        ::_exit(!file && file.error().kind == ErrorKind::Unavailable &&
                        file.error().path == fixture.path
                    ? 0
                    : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("many processes that index one file at once all get it right") {
    const Fixture fixture(GENERATE(false, true));
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            bool right = true;
            for (int k = 0; k < 20; ++k) {
                auto file =
                    RepodataFile::open(fixture.path, {"c", "", "linux-64"}, fixture.options);
                std::vector<specs::PackageRecord> out;
                right = right && file && (*file)->records_of("a", out) && out.size() == 1;
                ::unlink(fixture.cache_file().c_str());
            }
            ::_exit(right ? 0 : 1);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = -1;
        REQUIRE(::waitpid(child, &status, 0) == child);
        CHECK(status == 0);
    }
}

TEST_CASE("a repodata rewritten in place under an open channel gives its new state or an error") {
    const Fixture fixture;
    (void)fixture.open();
    const auto file = fixture.open();
    REQUIRE(file->from_cache());
    fixture.dir.write("repodata.json", "{}");
    std::vector<specs::PackageRecord> out;
    const auto done = file->records_of("a", out);
    CHECK(done);
    CHECK(out.empty());
}

} // namespace
} // namespace cudaenv::channels
