// The findings about an environment as JSON: `cudaenv.check/1`.
#pragma once

#include "check/rules/check.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>

namespace cudaenv::daemon {

// What the lists of one answer may take: an answer is one line of the protocol, of at most 1 MiB.
class ListRoom {
public:
    // False where no room is left for it.
    bool takes(std::size_t bytes) {
        const std::size_t needed = bytes + k_around;
        m_left -= std::min(m_left, needed);
        return m_left != 0;
    }

private:
    static constexpr std::size_t k_around = 8; // quotes, a comma, some escapes
    std::size_t m_left = std::size_t{400} * 1024;
};

// A finding as every command reports it (`cudaenv.finding/1`), and beside it what `check` knows:
// `subject`, `files` (relative to `prefix`, as many as there is room for, of `file_count`) and what
// `--fix` would do, a line for each step.
nlohmann::json to_json(const rules::CheckFinding& found, const facts::Inventory& inventory,
                       ListRoom& room);

} // namespace cudaenv::daemon
