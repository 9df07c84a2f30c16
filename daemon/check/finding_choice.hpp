// Which findings a request is about: `check`, `check --fix`.
#pragma once

#include "base/result.hpp"
#include "check/rules/check.hpp"
#include "solver/pins/config.hpp"
#include "solver/resolve/outcome.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace cudaenv::daemon {

class FindingChoice {
public:
    // Params: `arguments` (codes: only these), `ignore` (codes: not these), `fail_on`. Errors:
    // "bad-code", "bad-severity".
    static Result<FindingChoice> of(const nlohmann::json& params);

    // What the configuration ignores is reported where its code is named.
    [[nodiscard]] bool wants(const std::string& code, const pins::Config& config) const;
    // Whether codes were named: others are neither reported nor counted as ignored.
    [[nodiscard]] bool names_codes() const { return !m_wanted.empty(); }
    // Whether the answer is no where it is found.
    [[nodiscard]] bool fails_on(facts::Severity severity) const { return severity <= m_fail_on; }

private:
    std::vector<std::string> m_wanted;
    std::vector<std::string> m_ignored;
    facts::Severity m_fail_on = facts::Severity::Error;
};

// The findings about an environment as JSON: `cudaenv.check/1`.

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
