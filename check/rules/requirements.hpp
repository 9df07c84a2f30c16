// What packages of the CUDA world require of what is installed, and whether it holds. Pure. Three
// sources: Requires-Dist of what pip installed, what the tables know that no METADATA states, and
// conda's `depends` (unmet_requirements.cpp). Law: a requirement of something that is not
// installed, or that cannot be evaluated, proves nothing.
#pragma once

#include "check/rules/check.hpp"
#include "solver/knowledge/packages.hpp"
#include "solver/specs/requirement.hpp"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudaenv::rules {

// A row of frameworks.json or packages.json.
bool is_of_cuda_world(std::string_view name);
// None where the table has no such release.
const knowledge::PackageRelease* release_row(std::string_view name, std::string_view version);

// What the markers are evaluated for; none where the Python is not known.
std::optional<specs::MarkerEnvironment> marker_environment(const CheckContext& context);

// How an unmet requirement is known, and so what is said of it: the cases of CE124.
enum class Unmet {
    Required,      // the fix replaces the required package
    RequiresTorch, // the fix keeps torch and replaces the package that requires it
    ImportFails,   // as Required, and the import compares the versions
    Unstated,      // by the tables
    SameVersion,   // by the tables: both have to be of one version
    Excluded,      // no version meets what all require of it
    Depends,       // conda's
};
const char* name_of(Unmet unmet);

struct Applied {
    const facts::Distribution* requirer = nullptr;
    const facts::Distribution* required = nullptr;
    std::string name; // as the requirement has it
    specs::SpecifierSet specifiers;
    Unmet kind = Unmet::Required;
    std::string source; // of what the tables say
    bool holds = true;
};

// Refers to the context.
class Requirements {
public:
    Requirements(const CheckContext& context, specs::MarkerEnvironment markers);

    [[nodiscard]] const std::vector<Applied>& all() const { return m_applied; }
    // Another package whose requirement of the same thing excludes this one; nullptr: none does.
    [[nodiscard]] const Applied* rival_of(const Applied& unmet) const;
    // All that is required of it, as pip takes it: "numpy<2,>=1.26"; empty where no version of it
    // can meet that.
    [[nodiscard]] std::string wanted_of(const Applied& unmet) const;

private:
    [[nodiscard]] const facts::Distribution* installed(std::string_view name) const;
    [[nodiscard]] bool holds(const facts::Distribution& required,
                             const specs::SpecifierSet& specifiers) const;
    void collect(const facts::Distribution& requirer, const std::string& extra);
    void collect_unstated(const facts::Distribution& requirer, bool of_conda);
    void add(const facts::Distribution& requirer, const facts::Distribution& required,
             specs::Requirement requirement, Unmet kind, std::string source = {});

    const CheckContext* m_context;
    specs::MarkerEnvironment m_markers;
    std::set<std::pair<const facts::Distribution*, std::string>> m_collected;
    std::vector<Applied> m_applied;
};

// unmet_requirements.cpp: the same of conda's records, as findings.
void find_unmet_depends(const CheckContext& context, std::vector<CheckFinding>& findings);

} // namespace cudaenv::rules
