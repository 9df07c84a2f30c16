// Which findings a request is about: `check`, `check --fix`.
#pragma once

#include "base/result.hpp"
#include "solver/plan/config.hpp"
#include "solver/plan/outcome.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace cudaenv::daemon {

class FindingChoice {
public:
    // Params: `arguments` (codes: only these), `ignore` (codes: not these), `fail_on`. Errors:
    // "bad-code", "bad-severity".
    static Result<FindingChoice> of(const nlohmann::json& params);

    // What the configuration ignores is told where it is asked for by its code.
    [[nodiscard]] bool wants(const std::string& code, const plan::Config& config) const;
    // Whether codes were named: others are not told, nor counted as ignored.
    [[nodiscard]] bool names_codes() const { return !m_wanted.empty(); }
    // Whether the answer is no where it is found.
    [[nodiscard]] bool fails_on(plan::Severity severity) const { return severity <= m_fail_on; }

private:
    std::vector<std::string> m_wanted;
    std::vector<std::string> m_ignored;
    plan::Severity m_fail_on = plan::Severity::Error;
};

} // namespace cudaenv::daemon
