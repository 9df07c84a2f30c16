// Every record of the real channel slices, as our reader and as nlohmann's see it.
#include "host/channels/channel_source.hpp"
#include "tests/support/places.hpp"
#include "tests/unit/channels/temporary_directory.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <zstd.h>

#include <cstdlib>
#include <map>

namespace cudaenv::channels {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

fs::path repodata_root() {
    return test::shared_path("repodata");
}

std::string decompressed(const fs::path& path) {
    const std::string packed = test::read_file(path);
    std::string out(ZSTD_getFrameContentSize(packed.data(), packed.size()), '\0');
    REQUIRE(ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size()) == out.size());
    return out;
}

// What the reader should give for one record of the file.
std::string named(const json& record, const std::string& file_name, const std::string& subdir) {
    const std::string noarch = record.value("noarch", json()).is_string() ||
                                       record.value("noarch", json(false)) == json(true)
                                   ? "noarch"
                                   : "";
    std::int64_t timestamp = record.value("timestamp", std::int64_t{0});
    timestamp *= timestamp <= 253402300799 ? 1000 : 1;
    return json{file_name,
                record["name"],
                record["version"],
                record["build"],
                record["build_number"],
                record["depends"],
                record.value("constrains", json::array()),
                record.value("sha256", ""),
                record.value("subdir", subdir),
                timestamp,
                !noarch.empty() || record.value("subdir", subdir) == "noarch",
                record.value("track_features", "")}
        .dump();
}

std::string named(const specs::PackageRecord& record) {
    std::string features;
    for (const std::string& feature : record.track_features) {
        features += (features.empty() ? "" : " ") + feature;
    }
    return json{record.file_name,    record.name,         record.version,    record.build,
                record.build_number, record.depends,      record.constrains, record.sha256,
                record.subdir,       record.timestamp_ms, record.noarch,     features}
        .dump();
}

TEST_CASE("every record of the real channels arrives, and nothing else") {
    std::size_t compared = 0;
    for (const char* collection : {"slice", "snap"}) {
        for (const auto& entry : fs::directory_iterator(repodata_root() / collection)) {
            const auto channel = open_channel(entry.path().string(), {});
            REQUIRE(channel);
            std::map<std::string, std::string> ours; // by file
            for (const std::string& name : (*channel)->names()) {
                std::vector<specs::PackageRecord> records;
                REQUIRE((*channel)->records_of(name, records));
                CHECK_FALSE(records.empty());
                for (const auto& record : records) {
                    CHECK(record.name == name);
                    ours[record.subdir + '/' + record.file_name] = named(record);
                }
            }
            std::map<std::string, std::string> theirs;
            for (const std::string subdir : {"linux-64", "noarch"}) {
                const auto file = entry.path() / subdir / "repodata.json.zst";
                if (!fs::exists(file)) {
                    continue;
                }
                const json repodata = json::parse(decompressed(file));
                for (const auto& [file_name, record] : repodata.at("packages.conda").items()) {
                    theirs[subdir + '/' + file_name] = named(record, file_name, subdir);
                }
                for (const auto& [file_name, record] : repodata.at("packages").items()) {
                    const std::string stem = file_name.substr(0, file_name.size() - 8);
                    if (!repodata.at("packages.conda").contains(stem + ".conda")) {
                        theirs[subdir + '/' + file_name] = named(record, file_name, subdir);
                    }
                }
            }
            CAPTURE(entry.path());
            CHECK(ours.size() == theirs.size());
            for (const auto& [file_name, text] : theirs) {
                if (ours[file_name] != text) {
                    CHECK(ours[file_name] == text);
                }
            }
            compared += theirs.size();
        }
    }
    CHECK(compared > 90000);
}

} // namespace
} // namespace cudaenv::channels
