// The one place that sees libsolv: a SAT engine over ranked candidates. It knows neither versions
// nor MatchSpecs: whoever builds the problem has already matched every spec to the set of
// candidates that satisfies it, and ranked the candidates of each name. Pure.
//
// Laws: an answer meets every demand, every need of every candidate in it, breaks no exclusion, and
// holds at most one candidate a name. Demands are decided in the order given, each by its
// highest-ranked candidate that still leaves an answer, so earlier demands win.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace cudaenv::solv {

using CandidateId = std::uint32_t;
using NameId = std::uint32_t;
using SetId = std::uint32_t;

struct Candidate {
    NameId name = 0;
    std::uint32_t rank = 0;      // unique within the name; the highest is wanted most
    std::vector<SetId> needs;    // one member of each set must be there too
    std::vector<SetId> excludes; // no member of any of these sets may be there
};

struct Problem {
    std::vector<Candidate> candidates;
    std::vector<std::vector<CandidateId>> sets; // members in any order; may be empty
    NameId name_count = 0;
};

class Engine {
public:
    // Takes the problem's shape into libsolv's pool; O(size of the problem). The problem may go
    // away.
    explicit Engine(const Problem& problem);
    Engine(Engine&&) noexcept;
    Engine& operator=(Engine&&) noexcept;
    ~Engine();

    // The candidates of one answer, ascending; std::nullopt where there is none. Each call is a
    // solve of its own on the same pool.
    [[nodiscard]] std::optional<std::vector<CandidateId>>
    solve(std::span<const SetId> demands) const;

    // How many solves this engine has run: explanations are bounded by it.
    [[nodiscard]] std::size_t solve_count() const;

private:
    struct Implementation;
    std::unique_ptr<Implementation> m_implementation;
};

} // namespace cudaenv::solv
