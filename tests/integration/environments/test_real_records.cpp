// Names of real conda packages: each build of a framework says what it was built with.
#include "base/fd.hpp"
#include "host/channels/repodata_file.hpp"
#include "host/environments/environments.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>

namespace cudaenv::environments {
namespace {

namespace fs = std::filesystem;

// The records of a channel, by file name without its ending; skips where they are not there.
std::map<std::string, nlohmann::json> records_of(const std::string& channel) {
    const auto path =
        test::shared_path(fs::path("repodata/slice") / channel / "linux-64/repodata.json.zst");
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    REQUIRE(file);
    std::string text;
    REQUIRE(
        channels::decompress(file.get(), std::uint64_t{1} << 30, [&](std::span<const char> part) {
            text.append(part.data(), part.size());
            return true;
        }));
    const auto document = nlohmann::json::parse(text);
    std::map<std::string, nlohmann::json> records;
    for (const auto* section : {"packages", "packages.conda"}) {
        for (const auto& [name, record] : document.at(section).items()) {
            records.emplace(
                name.substr(0, name.rfind(name.ends_with(".conda") ? ".conda" : ".tar")), record);
        }
    }
    return records;
}

// What an environment with this one package is said to hold.
std::vector<facts::FrameworkBuild> framework_of(const std::string& name,
                                                const nlohmann::json& record) {
    const test::TemporaryTree tree;
    tree.file("env/conda-meta/" + name + ".json", record.dump(2));
    host::DiskFileSystem files;
    const auto facts = read_environment(files, tree.path() + "/env");
    REQUIRE(facts);
    CHECK(facts->notes.empty());
    return facts->frameworks;
}

TEST_CASE(
    "every torch of the pytorch channel since 1.0 names its CUDA, as its dependencies have it") {
    std::size_t seen = 0;
    for (const auto& [name, record] : records_of("pytorch")) {
        const auto version = record.at("version").get<std::string>();
        if (record.at("name") != "pytorch" || version < "1.") {
            continue;
        }
        ++seen;
        INFO(name);
        const auto found = framework_of(name, record);
        REQUIRE(found.size() == 1);
        CHECK(found.front().version == version);
        CHECK(found.front().cuda.has_value() != found.front().cpu);
        for (const auto& depends : record.at("depends")) {
            // "pytorch-cuda 11.8.*", "cudatoolkit >=11.3,<11.4"
            const auto text = depends.get<std::string>();
            const auto at = text.find_first_of("0123456789");
            if (at != std::string::npos && found.front().cuda &&
                (text.starts_with("pytorch-cuda ") || text.starts_with("cudatoolkit "))) {
                INFO(text);
                CHECK(text.substr(at).starts_with(found.front().cuda->str()));
            }
        }
    }
    CHECK(seen > 200);
}

TEST_CASE("conda-forge's frameworks name their CUDA or say that they have none") {
    std::map<std::string, std::size_t> seen;
    for (const auto& [name, record] : records_of("conda-forge")) {
        const auto package = record.at("name").get<std::string>();
        if (package != "pytorch" && package != "jaxlib" && package != "tensorflow-base" &&
            package != "cupy-core") {
            continue;
        }
        INFO(name);
        const auto found = framework_of(name, record);
        REQUIRE(found.size() == 1);
        CHECK(found.front().cuda.has_value() != found.front().cpu);
        ++seen[package];
    }
    CHECK(seen["pytorch"] > 20);
    CHECK(seen["cupy-core"] > 5);
}

} // namespace
} // namespace cudaenv::environments
