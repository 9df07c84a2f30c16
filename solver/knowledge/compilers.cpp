// Host compilers that a toolkit accepts.
#include "solver/knowledge/knowledge.hpp"
#include "solver/knowledge/table.hpp"

#include <algorithm>

namespace cudaenv::knowledge {

namespace {

struct RangeRow {
    DottedVersion cuda;
    std::optional<DottedVersion> nvcc; // the build whose host_config.h was read
    std::vector<DottedVersion> releases;
    CompilerRange range;
};

std::vector<RangeRow> read_ranges() {
    std::vector<RangeRow> rows;
    read_table("compilers", [&](std::string_view, const Row& row) {
        // "3.9" of the clangs before 4 counts as 3.
        const auto major = [&](std::string_view column) -> std::optional<int> {
            const auto version = row.find_version(column);
            return version ? std::optional(static_cast<int>(version->major())) : std::nullopt;
        };
        rows.push_back({row.version("cuda"),
                        row.find_version("nvcc"),
                        row.versions("releases"),
                        {major("gcc_min"), major("gcc_max"), major("clang_min"), major("clang_max"),
                         row.source()}});
    });
    return rows;
}

} // namespace

std::optional<CompilerRange> compilers_of_toolkit(const DottedVersion& cuda) {
    static const std::vector<RangeRow> rows = read_ranges();
    const RangeRow* newest = nullptr;
    const auto special = [](const RangeRow& row) {
        // A row for one early build beside a row for the whole minor must not stand for the minor.
        return row.nvcc && std::ranges::any_of(rows, [&](const RangeRow& other) {
                   return !other.nvcc && other.cuda == row.cuda;
               });
    };
    for (const RangeRow& row : rows) {
        if (cuda.parts().size() > 2 &&
            ((row.nvcc && *row.nvcc == cuda) || std::ranges::count(row.releases, cuda) > 0)) {
            return row.range;
        }
        if (!cuda.begins_with(row.cuda) || special(row)) {
            continue;
        }
        if (newest == nullptr || !newest->nvcc || (row.nvcc && *newest->nvcc < *row.nvcc)) {
            newest = &row;
        }
    }
    return newest != nullptr ? std::optional(newest->range) : std::nullopt;
}

} // namespace cudaenv::knowledge
