#include "host/channels/record_index.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstring>

namespace cudaenv::channels {
namespace {

IndexBuilder::Tables sample() {
    IndexBuilder builder;
    builder.add("numpy", {10, 5});
    builder.add("numpy", {20, 5});
    builder.add("zlib", {30, 5});
    builder.add("bzip2", {40, 5});
    builder.add("numpy", {50, 5});
    return builder.finish("linux-64", "https://host/base", 100);
}

TEST_CASE("each name has its records in the order of the text") {
    const auto tables = sample();
    const auto index = RecordIndex::over(tables.bytes, tables.shape);
    REQUIRE(index);
    REQUIRE(index->name_count() == 3);
    CHECK(index->name(0) == "bzip2");
    CHECK(index->name(1) == "numpy");
    CHECK(index->name(2) == "zlib");
    const auto places = index->places_of("numpy");
    REQUIRE(places.size() == 3);
    CHECK(places[0] == RecordPlace{10, 5});
    CHECK(places[1] == RecordPlace{20, 5});
    CHECK(places[2] == RecordPlace{50, 5});
    CHECK(index->places_of("bzip2").size() == 1);
    CHECK(index->places_of("").empty());
    CHECK(index->places_of("numpyx").empty());
    CHECK(index->places_of("zzz").empty());
    CHECK(index->subdir() == "linux-64");
    CHECK(index->base_url() == "https://host/base");
}

TEST_CASE("an index of nothing answers nothing") {
    const auto tables = IndexBuilder().finish("", "", 2);
    const auto index = RecordIndex::over(tables.bytes, tables.shape);
    REQUIRE(index);
    CHECK(index->name_count() == 0);
    CHECK(index->places_of("numpy").empty());
    CHECK(RecordIndex().places_of("numpy").empty());
}

TEST_CASE("tables with any number changed are refused or stay within their bounds") {
    const auto tables = sample();
    std::size_t refused = 0;
    for (std::size_t slot = 0; slot + 4 <= tables.bytes.size(); slot += 4) {
        for (const std::uint32_t value : {0U, 1U, 3U, 7U, 90U, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
            auto bytes = tables.bytes;
            std::memcpy(bytes.data() + slot, &value, 4);
            const auto index = RecordIndex::over(bytes, tables.shape);
            if (!index) {
                ++refused;
                continue;
            }
            for (std::uint32_t i = 0; i < index->name_count(); ++i) {
                for (const RecordPlace& place : index->places_of(std::string(index->name(i)))) {
                    CHECK(std::uint64_t{place.offset} + place.length <= 100);
                }
            }
        }
    }
    CHECK(refused > 50);
}

TEST_CASE("a shape that does not fit its bytes is refused") {
    const auto tables = sample();
    for (int field = 0; field < 6; ++field) {
        auto shape = tables.shape;
        switch (field) {
        case 0:
            ++shape.name_count;
            break;
        case 1:
            --shape.record_count;
            break;
        case 2:
            ++shape.strings_size;
            break;
        case 3:
            shape.subdir_size = 0xFFFFFFFFU;
            break;
        case 4:
            shape.base_url_size += 1;
            break;
        default:
            shape.text_size = 54;
            break;
        }
        CAPTURE(field);
        CHECK_FALSE(RecordIndex::over(tables.bytes, shape));
    }
}

} // namespace
} // namespace cudaenv::channels
