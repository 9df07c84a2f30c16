// What a user types to `cudaenv resolve`: a conda MatchSpec, a Python requirement, or both at once.
// Pure.
//
// The rule, by form alone:
// - Python's: extras ("tensorflow[and-cuda]": brackets without "="), a marker (";"), "name @ url",
// "===".
// - Else it has to be a MatchSpec; and where it is a requirement as well, as "torch", "torch==2.4",
//   "torch>=2,<3" are, it is both, and each package manager is asked in its own terms. What only
//   conda reads ("numpy 1.26.*", "pytorch=1.7=*cuda*", "conda-forge::numpy",
//   "python[build=*cpython]") is conda's alone.
#pragma once

#include "base/result.hpp"
#include "solver/specs/match_spec.hpp"
#include "solver/specs/requirement.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::specs {

enum class VersionRules { Conda, Pep440 };

class Ask {
public:
    // Error: "bad-spec" or "bad-requirement", column set.
    static Result<Ask> parse(std::string_view text);

    [[nodiscard]] const std::string& text() const { return m_text; }
    // As PEP 503 normalizes: "Foo_Bar" is "foo-bar". Conda's own spelling is conda()->name().
    [[nodiscard]] const std::string& name() const { return m_name; }
    [[nodiscard]] const std::vector<std::string>& extras() const { return m_extras; }
    // Null where the text makes no sense to that manager; never both.
    [[nodiscard]] const MatchSpec* conda() const { return m_conda ? &*m_conda : nullptr; }
    [[nodiscard]] const Requirement* pip() const { return m_pip ? &*m_pip : nullptr; }
    // False where any version will do.
    [[nodiscard]] bool constrains_version() const;
    // Does this version satisfy what was asked of the version (builds are not looked at)? Under
    // Pep440 a text that is conda's alone is judged by conda's rules, local parts ("+cu118") looked
    // over where it names none; under Conda one that is Python's alone by Python's.
    [[nodiscard]] bool satisfied_by(std::string_view version, VersionRules rules) const;

private:
    std::string m_text;
    std::string m_name;
    std::vector<std::string> m_extras;
    std::optional<MatchSpec> m_conda;
    std::optional<Requirement> m_pip;
};

} // namespace cudaenv::specs
