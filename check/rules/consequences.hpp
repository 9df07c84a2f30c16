// What repairs would do to what works: every requirement among the packages of an environment, of
// pip's distributions (Requires-Dist, as `pip check` reads it) and of conda's packages (depends),
// now and after the repairs. Pure. Law: a requirement that cannot be evaluated counts as met.
#pragma once

#include "check/rules/check.hpp"

#include <compare>
#include <span>
#include <string>
#include <vector>

namespace cudaenv::rules {

struct UnmetRequirement {
    std::string dependent;   // "needy 1.0"
    std::string requirement; // "click>=8.2", as the record has it
    std::string name;        // of the dependent: PEP 503, or conda's
    std::string target;      // of what is required

    // Which requirement it is.
    friend auto operator<=>(const UnmetRequirement&, const UnmetRequirement&) = default;
};

// Sorted, each once.
std::vector<UnmetRequirement> unmet_requirements(const CheckContext& context,
                                                 std::span<const Repair> after = {});

// Takes the repairs of a finding away, and says why in its fix, where all repairs together would
// leave a requirement unmet that is met now, or files of two versions: a distribution goes, and a
// file of it was edited by hand. Nor is such a file overwritten. Repairs that hold only together
// stay together.
void withhold_harmful_repairs(const CheckContext& context, std::vector<CheckFinding>& findings);

// Requirements that held before and no longer hold, and findings that are new; empty if nothing is
// worse.
std::string worse_of(std::span<const UnmetRequirement> unmet_before,
                     std::span<const CheckFinding> findings_before,
                     std::span<const UnmetRequirement> unmet_after,
                     std::span<const CheckFinding> findings_after);

} // namespace cudaenv::rules
