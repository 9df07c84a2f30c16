// The tables of docs/probe.md are the rules: every cell is checked.
#include "base/text.hpp"
#include "host/probe/verdict_store.hpp"
#include "tests/support/places.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace cudaenv::probe {
namespace {

// Its rows without the line under the header; a table begins with its header's first cell.
std::vector<std::vector<std::string>> table_that_begins(const std::string& first_cell) {
    std::ifstream file(test::source_directory() / "docs/probe.md");
    std::vector<std::vector<std::string>> rows;
    for (std::string line; std::getline(file, line);) {
        if (rows.empty() ? !line.starts_with("| " + first_cell + " |") : !line.starts_with('|')) {
            if (!rows.empty()) {
                break;
            }
            continue;
        }
        if (line.starts_with("|---")) {
            continue;
        }
        auto& row = rows.emplace_back();
        line = line.substr(1, line.rfind('|') - 1);
        for (const std::string_view cell : split(line, '|')) {
            row.emplace_back(trim(cell));
        }
    }
    return rows;
}

// The meaning of the words in the first table.
const std::map<std::string, std::vector<KeptVerdict>> k_kinds = [] {
    std::map<std::string, std::vector<KeptVerdict>> kinds;
    const auto add = [&](const char* kind, std::initializer_list<const char*> verdicts,
                         bool of_the_moment) {
        for (const char* verdict : verdicts) {
            kinds[kind].push_back({verdict, "", "", "", 0, {}, {}, of_the_moment});
        }
    };
    add("good", {"ok", "warns"}, false);
    add("good", {"warns"}, true);
    add("broken", {"fails", "driver-broken", "no-driver", "no-gpu"}, false);
    add("temporary", {"fails", "driver-broken", "no-driver", "no-gpu"}, true);
    add("transient", {"timeout", "crashed", "busy"}, false);
    add("transient", {"timeout", "crashed"}, true);
    return kinds;
}();
const std::map<std::string, VerdictDepth> k_depths{
    {"quick", VerdictDepth::Quick}, {"full", VerdictDepth::Full}, {"build", VerdictDepth::Build}};

TEST_CASE("a verdict replaces another and expires as the tables of docs/probe.md say") {
    const auto kinds = table_that_begins("stored verdict");
    const auto depths = table_that_begins("stored depth");
    REQUIRE(kinds.size() == k_kinds.size() + 1);
    REQUIRE(depths.size() == k_depths.size() + 1);
    int walked = 0;
    for (std::size_t row = 1; row < kinds.size(); ++row) {
        REQUIRE(kinds[row].size() == k_kinds.size() + 2);
        for (KeptVerdict kept : k_kinds.at(kinds[row].front())) {
            INFO(kinds[row].front() << ": " << kept.verdict);
            constexpr std::int64_t k_hour = 3600;
            kept.at = 1'790'000'000;
            CHECK(is_out_of_time(kept, kept.at - 1));
            CHECK_FALSE(is_out_of_time(kept, kept.at + k_hour - 1));
            CHECK(is_out_of_time(kept, kept.at + k_hour) == (kinds[row].back() == "an hour"));
            kept.step = "cudnn";
            for (std::size_t column = 1; column + 1 < kinds[row].size(); ++column) {
                const bool deleted = kinds[row][column] == "deleted";
                CHECK((deleted || kinds[row][column] == "kept"));
                for (KeptVerdict later : k_kinds.at(kinds[0][column])) {
                    for (std::size_t first = 1; first < depths.size(); ++first) {
                        for (std::size_t second = 1; second < depths[first].size(); ++second) {
                            kept.depth = k_depths.at(depths[first].front());
                            later.depth = k_depths.at(depths[0][second]);
                            const bool as_far = depths[first][second] == "as above";
                            CHECK((as_far || depths[first][second] == "kept"));
                            INFO("then " << later.verdict << ", " << later.of_the_moment << ", "
                                         << depths[first].front() << depths[0][second]);
                            CHECK(replaces(later, kept) == (as_far && deleted));
                            // If it skipped that rung, it deletes only a good verdict there.
                            KeptVerdict spared = later;
                            spared.left_out = {"cublas", "cudnn"};
                            CHECK(replaces(spared, kept) ==
                                  (as_far && deleted && kinds[row].front() == "good"));
                            ++walked;
                        }
                    }
                }
            }
        }
    }
    CHECK(walked == 16 * 16 * 9);
}

} // namespace
} // namespace cudaenv::probe
