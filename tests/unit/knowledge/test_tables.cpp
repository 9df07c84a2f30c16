// The law of data/README.md, over the text of every embedded table.
#include "data/tables.hpp"
#include "solver/knowledge/knowledge.hpp"
#include "tests/support/places.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>

using namespace cudaenv;
using nlohmann::json;

namespace {

void check_source(const json& sources, const json& value, std::set<std::string>& used) {
    if (value.is_array()) {
        REQUIRE_FALSE(value.empty());
        for (const json& each : value) {
            check_source(sources, each, used);
        }
        return;
    }
    const auto text = value.get<std::string>();
    REQUIRE_FALSE(text.empty());
    CHECK(text != "memory");
    if (text.starts_with('@')) {
        CHECK(sources.contains(text.substr(1)));
        used.insert(text.substr(1));
    }
}

} // namespace

TEST_CASE("every row of every table has a source, and no row rests on memory") {
    std::size_t rows = 0;
    for (const std::string_view name : data::table_names()) {
        if (name == "findings") {
            continue; // sentences, not facts
        }
        const json table = json::parse(data::table(name));
        const json& sources = table.at("sources");
        std::set<std::string> used;
        for (const auto& [section, value] : table.items()) {
            if (!value.is_array()) {
                CHECK((section == "about" || section == "sources"));
                continue;
            }
            for (const json& row : value) {
                CAPTURE(name, section, row.dump());
                REQUIRE(row.contains("source"));
                for (const auto& [column, cell] : row.items()) {
                    if (column.ends_with("source")) {
                        check_source(sources, cell, used);
                    } else if (column.ends_with("confidence")) {
                        CHECK(cell != "memory");
                    }
                }
                ++rows;
            }
        }
        CAPTURE(name);
        CHECK(used.size() == sources.size()); // a key that nothing names is left-over
    }
    CHECK(rows > 1000);
}

TEST_CASE("a table stands one row to a line, so that a diff shows a row") {
    for (const std::string_view name : data::table_names()) {
        const std::string_view text = data::table(name);
        const json table = json::parse(text);
        std::size_t rows = 0;
        for (const auto& [section, value] : table.items()) {
            rows += value.is_array() ? value.size() : 0;
        }
        std::size_t lines = 0;
        for (std::size_t at = 0; at < text.size();) {
            const auto end = text.find('\n', at);
            const auto line = text.substr(at, end - at);
            if (line.starts_with("  {")) {
                CHECK((line.ends_with("},") || line.ends_with('}')));
                ++lines;
            }
            at = end == std::string_view::npos ? text.size() : end + 1;
        }
        CAPTURE(name);
        CHECK(lines == rows);
    }
}

TEST_CASE("an embedded table is the file, byte for byte, and is followed by the padding") {
    for (const std::string_view name : data::table_names()) {
        CAPTURE(name);
        std::ifstream file(test::source_directory() / "data" / (std::string(name) + ".json"),
                           std::ios::binary);
        REQUIRE(file);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        const std::string_view held = data::table(name);
        CHECK(held == bytes);
        for (std::size_t i = 0; i < data::k_padding; ++i) {
            REQUIRE(*(held.data() + held.size() + i) == '\0');
        }
    }
    CHECK(data::table("no-such-table").empty());
}

TEST_CASE("a table read by many threads at once is read once and whole") {
    std::vector<std::thread> threads;
    std::vector<std::pair<const void*, std::size_t>> seen(8);
    for (std::size_t i = 0; i < seen.size(); ++i) {
        threads.emplace_back([&, i] {
            const auto releases = knowledge::torch_releases();
            seen[i] = {releases.data(), releases.size()};
            (void)knowledge::gpu_by_pci_device(0x1392);
            (void)knowledge::cuda_of_driver(DottedVersion::of("470.57.02"));
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(std::ranges::count(seen, seen.front()) == static_cast<std::ptrdiff_t>(seen.size()));
}
