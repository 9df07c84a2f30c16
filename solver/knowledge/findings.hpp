// What is said of a finding: data/findings.json, filled in. C++ decides that a finding holds and
// which case of its code it is; title, cause, fix and command are templates there. Pure.
//
// A template is text with
//   {name}            the argument
//   {name|one|many}   "one" where the argument is 1, else "many"
//   {?name} ... {/}   only where the argument is there and not empty
//   {!name} ... {/}   only where it is not
// Groups do not nest. A template that is malformed, a case that no row has and an argument that is
// missing are defects: std::logic_error. The tests render every case.
#pragma once

#include "solver/facts/finding.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cudaenv::knowledge {

// One row of the section `cases`: a code in one situation.
struct FindingCase {
    std::string code;      // CE210
    std::string situation; // "no-nvcc"; empty where the code has one case only
    facts::Severity severity = facts::Severity::Warning;
    std::string title; // a headline, at most 80 columns when filled in
    std::string cause; // one sentence, or empty
    std::string fix;   // an imperative, or empty
    std::string command;
    // Of the probe's: what the whole probe comes to by it ("busy"), where that is not its
    // severity's
    // ("fails", "warns"); and whether it may pass without a file that changes.
    std::string verdict;
    bool passes = false;
};
std::span<const FindingCase> finding_cases();
const FindingCase& finding_case(std::string_view code, std::string_view situation = {});

// `severity` where the caller knows better than the row.
facts::Finding finding(std::string_view code, std::string_view situation,
                       facts::Arguments arguments,
                       std::optional<facts::Severity> severity = std::nullopt);

// What is said in place of a finding's fix that would do harm (section `withheld`): "breaks",
// "edited".
facts::Fix withheld_fix(std::string_view reason, const facts::Arguments& arguments);

std::string filled(std::string_view text_template, const facts::Arguments& arguments);

} // namespace cudaenv::knowledge
