// Everything a request can reach: the records of the channels, the host's own records beside them,
// and which of them satisfies which spec. Built once a solve; answers many questions on the same
// closure. Pure: channels are a port.
//
// Law: a record is in the universe if and only if some chain of specs from the demands matches it
// and the narrowing of its name lets it pass. The order of preference within a name is: no
// track_features first, then the highest version, the highest build number, the builds whose shared
// dependencies can be the newest, the latest timestamp. What is favoured stands before all of that.
#pragma once

#include "base/result.hpp"
#include "solver/resolve/channel.hpp"
#include "solver/solv/engine.hpp"
#include "solver/specs/match_spec.hpp"
#include "solver/specs/record.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cudaenv::resolve {

struct UniverseInput {
    // Strict priority: a name is taken from the first channel that has it.
    std::vector<const Channel*> channels;
    // Records that no channel has: virtual packages, the host's facts, what the request assumes. A
    // name that occurs here is never looked up in a channel.
    std::vector<specs::PackageRecord> own;
    // Only records of `first` that match `second` are loaded: specs that must hold anyway.
    // Narrowing keeps a solve small; an explanation goes without.
    std::vector<std::pair<std::string, specs::MatchSpec>> narrowed;
    // Called once for the records of each name loaded from a channel; may add depends and
    // constrains.
    std::function<void(std::vector<specs::PackageRecord>&)> amend;
    // Name -> version (and build, if not empty) that is installed already.
    std::map<std::string, std::pair<std::string, std::string>, std::less<>> favoured;
};

class Universe {
public:
    // Walks everything reachable from `demands` (MatchSpec texts). Errors: those of the channels.
    static Result<Universe> reach(UniverseInput input, std::span<const std::string> demands);

    // One answer to the demands, each of which was given to `reach`; std::nullopt: there is none.
    [[nodiscard]] std::optional<std::vector<const specs::PackageRecord*>>
    solve(std::span<const std::string> demands) const;

    // The records that satisfy a demand or a dependency that the walk met, best first.
    [[nodiscard]] std::vector<const specs::PackageRecord*> matching(std::string_view spec) const;
    // Every record of a name that is loaded: the reachable ones first, best first, then the others.
    [[nodiscard]] std::vector<const specs::PackageRecord*> all_of(std::string_view name) const;
    [[nodiscard]] bool matches(const specs::PackageRecord& record, std::string_view spec) const;

    [[nodiscard]] std::size_t size() const { return m_problem.candidates.size(); }
    [[nodiscard]] std::size_t solve_count() const { return m_engine ? m_engine->solve_count() : 0; }
    // Records that can never be chosen because a depends or constrains of theirs is no MatchSpec.
    [[nodiscard]] const std::vector<std::string>& unreadable() const { return m_unreadable; }

private:
    struct Loaded {
        specs::PackageRecord record;
        specs::Version version;
        std::optional<solv::CandidateId> candidate; // once reached
    };
    struct Name {
        solv::NameId id = 0;
        std::vector<Loaded*> loaded;
    };
    struct Spec {
        std::optional<specs::MatchSpec> parsed; // none: unreadable, matches nothing
        Name* name = nullptr;
        std::vector<Loaded*> members;
        const Loaded* newest = nullptr; // of the members, by version; set by rank()
    };

    Result<Name*> load(std::string_view name);
    Result<solv::SetId> need(std::string_view text);
    Result<void> expand(Loaded& loaded);
    solv::SetId excluded_by(std::string_view text);
    void rank();
    void sort_best_first(std::span<Loaded*> loaded) const;
    [[nodiscard]] const Spec* find(std::string_view text) const;
    [[nodiscard]] bool favours(const Loaded& loaded) const;

    UniverseInput m_input;
    std::unordered_map<std::string_view, std::vector<std::size_t>> m_own;
    std::unordered_map<std::string, std::unique_ptr<Name>> m_names;
    std::deque<Loaded> m_loaded;
    std::deque<Spec> m_specs;             // by SetId while it is below m_specs.size()
    std::deque<std::string> m_spec_texts; // owns what the keys view
    std::unordered_map<std::string_view, solv::SetId> m_spec_ids;
    std::unordered_map<std::string_view, solv::SetId> m_exclusion_ids;
    std::vector<Loaded*> m_reached; // by CandidateId
    std::vector<Loaded*> m_frontier;
    std::vector<std::string> m_unreadable;
    solv::Problem m_problem;
    std::unique_ptr<solv::Engine> m_engine;
};

} // namespace cudaenv::resolve
