#include "check/memory/environment_memory.hpp"

#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <fstream>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace cudaenv;
namespace fs = std::filesystem;

namespace {

class Scratch {
public:
    Scratch() {
        std::string pattern = (fs::temp_directory_path() / "cudaenv-memory-XXXXXX").string();
        m_path = ::mkdtemp(pattern.data());
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() { fs::remove_all(m_path); }
    [[nodiscard]] std::string path() const { return m_path; }
    // The one file that a memory of one environment is.
    [[nodiscard]] fs::path file() const {
        return fs::directory_iterator(fs::path(m_path) / "environments")->path();
    }

private:
    std::string m_path;
};

memory::EnvironmentMemory some_memory() {
    memory::EnvironmentMemory memory;
    memory.stamp = "17";
    memory.seen = {{"torch", "1.12.0a0+git664058f", facts::Origin::Built, "/home/u/src/pytorch",
                    "lib/python3.9/site-packages/torch-1.12.0a0.dist-info",
                    1'700'000'000'123'456'789, 2114, true},
                   {"odd", "1", facts::Origin::Editable, "/s\xff\n", "m", 0, 0},
                   {"plain", "2", facts::Origin::Wheel, "", "", 5, 1}};
    memory.reported = {"1", "2"};
    memory.unsaid = {{"3", "CE104", "pip replaced torch"}};
    return memory;
}

} // namespace

TEST_CASE("what was remembered of an environment is there the next time, of that environment") {
    const Scratch scratch;
    const memory::EnvironmentMemories memories(scratch.path());
    const auto memory = some_memory();
    REQUIRE(memories.write("/opt/a", memory));
    const auto read = memories.read("/opt/a");
    CHECK(read.stamp == "17");
    CHECK(read.reported == memory.reported);
    REQUIRE(read.unsaid.size() == 1);
    CHECK(read.unsaid[0].key == "3");
    CHECK(read.unsaid[0].code == "CE104");
    CHECK(read.unsaid[0].line == "pip replaced torch");
    REQUIRE(read.seen.size() == 3);
    CHECK(read.seen[0].origin == facts::Origin::Built);
    CHECK(read.seen[0].source == "/home/u/src/pytorch");
    CHECK(read.seen[0].installed_ns == 1'700'000'000'123'456'789);
    CHECK(read.seen[0].files == 2114);
    CHECK(read.seen[0].pure);
    CHECK_FALSE(read.seen[1].pure);
    CHECK(read.seen[1].origin == facts::Origin::Editable);
    CHECK(read.seen[2].origin == facts::Origin::Wheel);
    CHECK(memories.read("/opt/b").stamp.empty());
}

TEST_CASE(
    "names of files that are no UTF-8, and what is kept or gone, are remembered as they are") {
    const Scratch scratch;
    const memory::EnvironmentMemories memories(scratch.path());
    auto memory = some_memory();
    memory.seen[0].source = "/home/u/caf\xe9";
    memory.seen[0].gone_ns = 1'700'000'000'123'456'789;
    memory.seen[1].origin = facts::Origin::Kept;
    REQUIRE(memories.write("/opt/a", memory));
    const auto read = memories.read("/opt/a");
    REQUIRE(read.seen.size() == 3);
    CHECK(read.seen[0].source == "/home/u/caf\xe9");
    CHECK(read.seen[0].gone_ns == 1'700'000'000'123'456'789);
    CHECK(read.seen[1].origin == facts::Origin::Kept);
}

TEST_CASE("a new environment at the path of another has no memory") {
    const Scratch scratch;
    const memory::EnvironmentMemories memories(scratch.path());
    const std::string prefix = scratch.path() + "/env";
    REQUIRE(::mkdir(prefix.c_str(), 0700) == 0);
    REQUIRE(memories.write(prefix, some_memory()));
    CHECK(memories.read(prefix).stamp == "17");
    const std::string link = scratch.path() + "/link";
    REQUIRE(::symlink(prefix.c_str(), link.c_str()) == 0);
    CHECK(memories.read(link).stamp == "17");
    REQUIRE(::rename(prefix.c_str(), (scratch.path() + "/old").c_str()) == 0);
    REQUIRE(::mkdir(prefix.c_str(), 0700) == 0);
    CHECK(memories.read(prefix).stamp.empty());
}

TEST_CASE("a memory that is damaged or writable by others does not count") {
    const Scratch scratch;
    const memory::EnvironmentMemories memories(scratch.path());
    REQUIRE(memories.write("/opt/a", some_memory()));
    SECTION("cut short") {
        fs::resize_file(scratch.file(), 40);
    }
    SECTION("of another kind") {
        std::ofstream(scratch.file())
            << R"({"schema": "cudaenv.environment-memory/2", "prefix": 3})";
    }
    SECTION("open to others") {
        fs::permissions(scratch.file(), fs::perms::group_write, fs::perm_options::add);
    }
    SECTION("of another environment") {
        const auto other = scratch.file().parent_path() / "other";
        fs::rename(scratch.file(), other);
        REQUIRE(memories.write("/opt/b", {}));
        for (const auto& entry : fs::directory_iterator(other.parent_path())) {
            if (entry.path() != other) {
                const auto name = entry.path();
                fs::rename(other, name); // /opt/a's text by /opt/b's name
                break;
            }
        }
        CHECK(memories.read("/opt/b").seen.empty());
        return;
    }
    CHECK(memories.read("/opt/a").seen.empty());
    CHECK(memories.read("/opt/a").stamp.empty());
}

TEST_CASE("a memory with a value of the wrong kind is ignored") {
    const Scratch scratch;
    const memory::EnvironmentMemories memories(scratch.path());
    REQUIRE(memories.write("/opt/a", some_memory()));
    std::string whole;
    std::getline(std::ifstream(scratch.file()), whole);
    for (const auto& [name, wrong] :
         {std::pair("\"seen\":[", "3,"), std::pair("\"seen\":[", "{\"name\":4},"),
          std::pair("\"seen\":[", "{\"name\":\"x\",\"files\":\"y\"},"),
          std::pair("\"reported\":[", "7,")}) {
        std::string text = whole;
        text.insert(text.find(name) + std::string_view(name).size(), wrong);
        std::ofstream(scratch.file()) << text;
        INFO(wrong);
        CHECK(memories.read("/opt/a").stamp.empty());
        CHECK(memories.read("/opt/a").seen.empty());
    }
    std::ofstream(scratch.file()) << whole;
    CHECK(memories.read("/opt/a").seen.size() == some_memory().seen.size());
}

TEST_CASE("without a place nothing is remembered") {
    const memory::EnvironmentMemories memories("");
    CHECK_FALSE(memories.write("/opt/a", some_memory()));
    CHECK(memories.read("/opt/a").seen.empty());
}
