// Which findings a request is about: `check`, `check --fix`.
#pragma once

#include "base/result.hpp"
#include "solver/pins/config.hpp"
#include "solver/resolve/outcome.hpp"

#include <nlohmann/json.hpp>

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

} // namespace cudaenv::daemon
