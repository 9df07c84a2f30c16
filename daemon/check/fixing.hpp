// What `check --fix` would do about an environment, and doing it. Law: what is done is what was
// shown: a plan goes by a fingerprint, and another one is not carried out.
#pragma once

#include "base/goes_on.hpp"
#include "base/result.hpp"
#include "daemon/check/examination.hpp"
#include "daemon/check/finding_choice.hpp"
#include "host/repair/repair.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace cudaenv::daemon {

class Fixing {
public:
    // Of the findings that were chosen.
    Fixing(const Examination& examination, const FindingChoice& choice,
           const protocol::Caller& caller);

    // `cudaenv.fix/1`: all steps not done, and the findings as they are.
    [[nodiscard]] nlohmann::json object() const;
    [[nodiscard]] bool has_steps() const { return !m_steps.empty(); }
    // Whether a finding is there that was named, that could be fixed, or that the request fails on.
    [[nodiscard]] bool fails() const { return m_fails; }
    [[nodiscard]] const std::string& fingerprint() const { return m_fingerprint; }
    // Does all but what is a command of the client's; the same object, with what was done. Errors:
    // those of host::carry_out.
    Result<nlohmann::json> carry_out(const GoesOn& wanted);

private:
    [[nodiscard]] nlohmann::json step_object(const host::RepairStep& step) const;
    [[nodiscard]] std::vector<std::string> install_command(const plan::Repair& repair) const;
    [[nodiscard]] std::string conda_command(const plan::Repair& repair) const;

    const Examination* m_examination;
    const protocol::Caller* m_caller;
    std::vector<plan::CheckFinding> m_findings;
    std::vector<host::RepairStep> m_steps;
    std::string m_fingerprint;
    bool m_fails = false;
};

} // namespace cudaenv::daemon
