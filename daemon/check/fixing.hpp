// What `check --fix` would do about an environment, and doing it. Law: what is done is what was
// shown: a plan goes by a fingerprint, and another one is not carried out.
#pragma once

#include "base/goes_on.hpp"
#include "base/result.hpp"
#include "check/repair/repair.hpp"
#include "daemon/check/examination.hpp"
#include "daemon/check/finding_choice.hpp"

#include <nlohmann/json.hpp>

#include <set>
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
    // Error: "installer-at-work".
    [[nodiscard]] Result<void> check_nobody_at_work() const;
    // Whether a finding is there that was named, that could be fixed, or that the request fails on.
    [[nodiscard]] bool fails() const { return m_fails; }
    [[nodiscard]] const std::string& fingerprint() const { return m_fingerprint; }
    // That the findings name, relative to the prefix.
    [[nodiscard]] std::set<std::string> files() const;
    struct Done {
        nlohmann::json object; // with what was done
        repair::Carried carried;
    };
    // Does all but what is a command of the client's. Errors: those of carry_out.
    Result<Done> carry_out(const GoesOn& wanted);
    // All of them are undone, and why is said of each.
    static void undo(Done& done, const std::string& why);

private:
    [[nodiscard]] nlohmann::json step_object(const repair::RepairStep& step) const;

    const Examination* m_examination;
    const protocol::Caller* m_caller;
    repair::UserPrograms m_programs;
    std::vector<rules::CheckFinding> m_findings;
    std::vector<repair::RepairStep> m_steps;
    std::string m_fingerprint;
    bool m_fails = false;
};

} // namespace cudaenv::daemon
