#include "solver/resolve/conflict_search.hpp"

#include "base/ranges.hpp"

#include <algorithm>
#include <numeric>

namespace cudaenv::resolve {

namespace {
constexpr std::size_t k_most_solves = 160;
constexpr std::size_t k_most_cores = 3;
} // namespace

ConflictSearch::ConflictSearch(const Attempt& attempt, const Request& request)
    : m_attempt(attempt), m_request(request) {
    for (const Assumption& fact : attempt.world->assumptions()) {
        m_elements.push_back({fact.demand, nullptr, &fact, false});
    }
    for (const Item& item : attempt.question.items) {
        m_elements.push_back({item.demand, &item, nullptr, false});
    }
    if (request.purpose == pins::Purpose::Build) {
        m_elements.push_back({World::k_nvcc, nullptr, nullptr, true});
    }
}

bool ConflictSearch::may_solve() const {
    return m_attempt.universe->solve_count() < k_most_solves;
}

std::optional<Records> ConflictSearch::solve_without(const std::set<std::size_t>& loosened,
                                                     Loosening how) const {
    std::vector<std::string> demands;
    for (std::size_t i = 0; i < m_elements.size(); ++i) {
        const Element& element = m_elements[i];
        if (!loosened.contains(i)) {
            demands.push_back(element.demand);
        } else if (element.item != nullptr && how == Loosening::ToItsVersion &&
                   !element.item->build_relaxed.empty()) {
            demands.push_back(element.item->build_relaxed);
        } else if (element.item != nullptr && !element.item->relaxed.empty()) {
            demands.push_back(element.item->relaxed);
        }
    }
    return m_attempt.universe->solve(demands);
}

std::optional<Records> ConflictSearch::solve_with(std::size_t element, const std::string& demand,
                                                  const std::set<std::size_t>& loosened) const {
    std::vector<std::string> demands;
    for (std::size_t i = 0; i < m_elements.size(); ++i) {
        // A package and its extra are one wish.
        const Item* const item = m_elements[i].item;
        const Item* const replaced = m_elements[element].item;
        const bool same_wish = item != nullptr && replaced != nullptr && item != replaced &&
                               item->kind == replaced->kind && item->text == replaced->text;
        if (same_wish) {
            continue;
        }
        if (i == element) {
            demands.push_back(demand);
        } else if (!loosened.contains(i)) {
            demands.push_back(m_elements[i].demand);
        } else if (item != nullptr && !item->relaxed.empty()) {
            demands.push_back(item->relaxed);
        }
    }
    return m_attempt.universe->solve(demands);
}

std::optional<Records> ConflictSearch::solve_around(const Core& core, std::size_t out) const {
    std::set<std::size_t> without = core.left_out;
    without.insert(out);
    if (auto everything_else = solve_without(without)) {
        return everything_else; // names the very builds that the request would get
    }
    // With all that was asked, and of the facts those of the core.
    std::set<std::size_t> other_facts = without;
    for (std::size_t i = 0; i < m_elements.size(); ++i) {
        if (m_elements[i].fact != nullptr &&
            std::ranges::find(core.elements, i) == core.elements.end()) {
            other_facts.insert(i);
        }
    }
    if (auto all_wishes = solve_without(other_facts)) {
        return all_wishes;
    }
    std::vector<std::string> demands;
    for (const std::size_t i : core.elements) {
        const Element& element = m_elements[i];
        if (i != out) {
            demands.push_back(element.demand);
        } else if (element.item != nullptr && !element.item->relaxed.empty()) {
            demands.push_back(element.item->relaxed);
        }
    }
    return m_attempt.universe->solve(demands);
}

bool ConflictSearch::has_answer(const std::vector<std::size_t>& elements) const {
    const auto demands = each_of(elements, [this](std::size_t i) { return m_elements[i].demand; });
    return m_attempt.universe->solve(demands).has_value();
}

bool ConflictSearch::has_answer_alone(std::string_view name) const {
    std::vector<std::string> demands;
    bool asked = false;
    for (const Element& element : m_elements) {
        const bool spec = element.item != nullptr && element.item->kind == Item::Kind::Spec;
        asked = asked || (spec && element.item->name == name);
        if (!spec || element.item->name == name) {
            demands.push_back(element.demand);
        }
    }
    return asked && may_solve() && m_attempt.universe->solve(demands).has_value();
}

// Deletion: what can go without giving an answer is not part of the reason. Facts are tried first,
// so that what was asked stays in where either would do.
std::vector<std::size_t> ConflictSearch::core_of(std::vector<std::size_t> elements) const {
    const std::vector<std::size_t> all = elements;
    for (const std::size_t candidate : all) {
        if (!may_solve()) {
            break;
        }
        std::vector<std::size_t> without;
        std::ranges::copy_if(elements, std::back_inserter(without),
                             [&](std::size_t kept) { return kept != candidate; });
        if (!has_answer(without)) {
            elements = std::move(without);
        }
    }
    return elements;
}

std::vector<Core> ConflictSearch::cores() const {
    std::vector<Core> cores;
    std::vector<std::size_t> remaining(m_elements.size());
    std::iota(remaining.begin(), remaining.end(), std::size_t{0});
    std::set<std::size_t> left_out;
    while (cores.size() < k_most_cores && may_solve()) {
        cores.push_back({core_of(remaining), left_out});
        const std::size_t before = remaining.size();
        for (const std::size_t i : cores.back().elements) {
            const Assumption* const fact = m_elements[i].fact;
            // That CUDA is not to be a CPU build is a wish, in truth: it stays.
            if (fact != nullptr && fact->kind != FactKind::CudaGiven) {
                left_out.insert(i);
                std::erase(remaining, i);
            }
        }
        if (remaining.size() == before || has_answer(remaining)) {
            break;
        }
    }
    return cores;
}

} // namespace cudaenv::resolve
