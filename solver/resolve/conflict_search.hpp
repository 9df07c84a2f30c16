// The search behind an explanation: what was asked and what is, each of which can be left out or
// loosened, and the solves that say what then becomes possible. Internal to solver/resolve.
#pragma once

#include "solver/resolve/attempt.hpp"
#include "solver/resolve/outcome.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cudaenv::resolve {

// One thing that can be left out or loosened: a wish, a fact, or the nvcc that `--for build` asks
// for.
struct Element {
    std::string demand;
    const Item* item = nullptr;
    const Assumption* fact = nullptr;
    bool nvcc = false;

    // A wish that can give way: a spec with a version, or a pin.
    [[nodiscard]] bool loosenable() const {
        return item != nullptr && (!item->relaxed.empty() || item->kind == Item::Kind::Pin);
    }
};

// Elements that exclude each other, and the facts that were left out when they were found.
struct Core {
    std::vector<std::size_t> elements;
    std::set<std::size_t> left_out;
};

enum class Loosening { ToItsName, ToItsVersion }; // what is left of a spec: torch, or torch==2.4

class ConflictSearch {
public:
    ConflictSearch(const Attempt& attempt, const Request& request);

    [[nodiscard]] const Attempt& attempt() const { return m_attempt; }
    [[nodiscard]] const Request& request() const { return m_request; }
    [[nodiscard]] const std::vector<Element>& elements() const { return m_elements; }

    // Everything that was asked, with `loosened` left out (facts, pins) or reduced (specs).
    [[nodiscard]] std::optional<Records> solve_without(const std::set<std::size_t>& loosened,
                                                       Loosening how = Loosening::ToItsName) const;
    // Everything that was asked, with the demand of `element` replaced, and the others of
    // `loosened` as in solve_without().
    [[nodiscard]] std::optional<Records>
    solve_with(std::size_t element, const std::string& demand,
               const std::set<std::size_t>& loosened = {}) const;
    // Everything but element `out` and the facts of earlier cores; where that has no answer either,
    // only `core` without it.
    [[nodiscard]] std::optional<Records> solve_around(const Core& core, std::size_t out) const;
    // Whether what was asked of one package has an answer on this host, with every pin and without
    // the other packages. No: it was not asked for.
    [[nodiscard]] bool has_answer_alone(std::string_view name) const;
    // Minimal sets of elements that exclude each other, each found after the facts of the ones
    // before were left out: so that a host with two faults hears of both. At most three.
    [[nodiscard]] std::vector<Core> cores() const;

    // Solves are cheap, not free: a search stops where this says no.
    [[nodiscard]] bool may_solve() const;

private:
    [[nodiscard]] std::vector<std::size_t> core_of(std::vector<std::size_t> elements) const;
    [[nodiscard]] bool has_answer(const std::vector<std::size_t>& elements) const;

    const Attempt& m_attempt;
    const Request& m_request;
    std::vector<Element> m_elements;
};

} // namespace cudaenv::resolve
