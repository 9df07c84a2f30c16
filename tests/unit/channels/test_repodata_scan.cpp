#include "host/channels/repodata_scan.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

namespace cudaenv::channels {
namespace {

const std::string k_text = R"( {
  "info": {"subdir": "linux-64", "more": [1, {"a": null}], "base_url": "https://host/x"},
  "packages": {
    "a-1.0-0.tar.bz2": {"name":"a","version":"1.0","build":"0","build_number":0,"depends":["b >=1","c"]},
    "b-1.0-0.tar.bz2": {"build":"0","depends":[],"version":"1.0","na\u006de":"b","license":null}
  },
  "packages.conda": {
    "a-2.0-0.conda": {"name":"a","version":"2.0","build":"0","build_number":0,"depends":[],"size":123}
  },
  "removed": ["x-1-0.conda"], "repodata_version": 1
}
)";

struct Scanned {
    std::optional<IndexBuilder::Tables> tables;
    RepodataFault fault;
};

Scanned scanned(std::string_view text, std::size_t window) {
    RepodataScan scan;
    for (std::size_t at = 0; at < text.size(); at += window) {
        // Its own allocation: nothing behind the window may be read.
        const std::string piece(text.substr(at, window));
        if (!scan.feed({piece.data(), piece.size()})) {
            break;
        }
    }
    auto tables = scan.finish();
    return {std::move(tables), scan.fault()};
}

TEST_CASE("records are grouped by name, in windows of any size") {
    const std::size_t window = GENERATE(1U, 2U, 3U, 7U, 64U, 1000U, 100000U);
    const auto result = scanned(k_text, window);
    REQUIRE(result.tables);
    const auto index = RecordIndex::over(result.tables->bytes, result.tables->shape);
    REQUIRE(index);
    REQUIRE(index->name_count() == 2);
    CHECK(index->subdir() == "linux-64");
    CHECK(index->base_url() == "https://host/x");
    REQUIRE(index->places_of("a").size() == 2);
    REQUIRE(index->places_of("b").size() == 1);
    const auto place = index->places_of("a")[1];
    CHECK(
        k_text.substr(place.offset, place.length) ==
        R"("a-2.0-0.conda": {"name":"a","version":"2.0","build":"0","build_number":0,"depends":[],"size":123})");
}

TEST_CASE("a repodata file without packages is an empty one") {
    for (const char* text : {"{}", R"({"packages":{}})", R"({"info":{},"packages.conda":{}})",
                             R"({"info":{"subdir":null},"removed":[]})", " {\n} "}) {
        CAPTURE(text);
        const auto result = scanned(text, 5);
        REQUIRE(result.tables);
        CHECK(result.tables->shape.record_count == 0);
    }
}

TEST_CASE("a text cut anywhere is truncated, whatever the windows") {
    const std::size_t window = GENERATE(1U, 64U, 100000U);
    const std::size_t end = k_text.find_last_of('}');
    for (std::size_t size = 0; size <= end; ++size) {
        const auto result = scanned(std::string_view(k_text).substr(0, size), window);
        CAPTURE(size);
        REQUIRE_FALSE(result.tables);
        CHECK(result.fault.truncated);
        CHECK(result.fault.offset == size);
    }
}

TEST_CASE("a cut record is named") {
    const auto result = scanned(std::string_view(k_text).substr(0, k_text.find("\"c\"]") + 1), 16);
    REQUIRE_FALSE(result.tables);
    CHECK(result.fault.record == "a-1.0-0.tar.bz2");
}

TEST_CASE("a wrong record is refused by name, with what would be right") {
    struct Wrong {
        const char* record;
        const char* what;
    };
    const auto wrong = GENERATE(
        Wrong{R"({"name":"a","version":"1","build":"0","depends":"b"})",
              "\"depends\": expected a list of strings, found a string"},
        Wrong{R"({"name":"a","version":"1","build":"0","depends":["b",1]})",
              "\"depends\": expected a string in quotes, found a number"},
        Wrong{R"({"name":"a","version":"1","build":"0","depends":null})",
              "\"depends\": expected a list of strings, found null"},
        Wrong{R"({"name":"a","version":1.0,"build":"0","depends":[]})",
              "\"version\": expected a string in quotes, found a number"},
        Wrong{R"({"name":["a"],"version":"1","build":"0"})",
              "\"name\": expected a string in quotes, found a list"},
        Wrong{R"({"version":"1","build":"0"})", "has no \"name\""},
        Wrong{R"({"name":"a","build":"0"})", "has no \"version\""},
        Wrong{R"({"name":"a","version":"1"})", "has no \"build\""},
        Wrong{R"({"name":"","version":"1","build":"0"})", "has an empty name or version"},
        Wrong{R"({"name":"a","version":"1","build":"0","build_number":"x"})",
              "\"build_number\": expected an integer, found a string"},
        Wrong{R"({"name":"a","version":"1","build":"0","build_number":1.5})",
              "\"build_number\": expected an integer, found 1.5"},
        Wrong{R"({"name":"a","version":"1","build":"0","build_number":-1})",
              "\"build_number\": must not be negative"},
        Wrong{R"({"name":"a","version":"1","build":"0","timestamp":"now"})",
              "\"timestamp\": expected a number, found a string"},
        Wrong{R"({"name":"a","version":"1","build":"0","timestamp":1e300})",
              "\"timestamp\": not a point in time"},
        Wrong{R"({"name":"a","version":"1","build":"0","noarch":7})",
              "\"noarch\": expected \"python\", \"generic\", true or false, found a number"},
        Wrong{R"({"name":"a","version":"1","build":"0","track_features":{}})",
              "\"track_features\": expected a string in quotes, found an object"},
        Wrong{R"({"name":"a","version":"1","build":"0","constrains":"b"})",
              "\"constrains\": expected a list of strings, found a string"},
        Wrong{R"([])", "a record must be an object, found a list"},
        Wrong{R"({"name":"a","version":"1","build":"0" "depends":[]})", "expected ',' or '}'"});
    const std::string text =
        R"({"packages":{"good-1-0.conda":{"name":"g","version":"1","build":"0"},)"
        R"("bad-1-0.conda":)" +
        std::string(wrong.record) + "}}";
    const auto result = scanned(text, 32);
    REQUIRE_FALSE(result.tables);
    CHECK(result.fault.record == "bad-1-0.conda");
    CHECK(result.fault.what == wrong.what);
    CHECK_FALSE(result.fault.truncated);
    CHECK(result.fault.offset > text.find("bad-1-0"));
}

TEST_CASE("what is not an object of records is refused") {
    for (const auto& [text, what] :
         {std::pair{"[]", "a repodata file must be a JSON object, found a list"},
          std::pair{"nonsense", "a repodata file must be a JSON object, found null"},
          std::pair{R"({"packages":[]})",
                    "\"packages\" must be an object of records, found a list"},
          std::pair{R"({"packages.conda":null})",
                    "\"packages.conda\" must be an object of records, found null"},
          std::pair{R"({"info":[]})", "\"info\": expected an object, found a list"},
          std::pair{R"({"info":{"subdir":1}})",
                    "\"info.subdir\": expected a string in quotes, found a number"},
          std::pair{R"({} x)", "text after the closing '}'"},
          std::pair{R"({"packages":{},})", "expected a key in quotes"},
          std::pair{R"({"packages" {}})", "expected ':' after the key"}}) {
        CAPTURE(text);
        const auto result = scanned(text, 4);
        REQUIRE_FALSE(result.tables);
        CHECK(result.fault.what == what);
    }
}

TEST_CASE("a member as large as many windows is read in linear time") {
    // 32 MiB in one text, in 64 KiB windows: restarting it each time would copy 8 GiB.
    const std::string text =
        R"({"signatures":")" + std::string(32U << 20U, 'x') + R"(","packages":{}})";
    const auto result = scanned(text, 64U << 10U);
    CHECK(result.tables);
}

} // namespace
} // namespace cudaenv::channels
