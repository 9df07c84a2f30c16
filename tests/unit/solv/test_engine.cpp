// The toy ecosystem: names are numbers, ranks are versions.
#include "solver/solv/engine.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <random>

using namespace cudaenv::solv;

namespace {

// True when `chosen` obeys every law of the header except the order of preference.
bool holds(const Problem& problem, const std::vector<CandidateId>& chosen,
           std::span<const SetId> demands) {
    const auto is_in = [&](CandidateId id) {
        return std::binary_search(chosen.begin(), chosen.end(), id);
    };
    const auto met = [&](SetId set) {
        return std::any_of(problem.sets[set].begin(), problem.sets[set].end(), is_in);
    };
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        const Candidate& candidate = problem.candidates[chosen[i]];
        for (std::size_t j = i + 1; j < chosen.size(); ++j) {
            if (problem.candidates[chosen[j]].name == candidate.name) {
                return false;
            }
        }
        if (!std::all_of(candidate.needs.begin(), candidate.needs.end(), met) ||
            std::any_of(candidate.excludes.begin(), candidate.excludes.end(), met)) {
            return false;
        }
    }
    return std::all_of(demands.begin(), demands.end(), met);
}

// Every subset of candidates, tried: the oracle for small problems.
std::vector<std::vector<CandidateId>> all_answers(const Problem& problem,
                                                  std::span<const SetId> demands) {
    std::vector<std::vector<CandidateId>> answers;
    for (std::uint32_t bits = 0; bits < (1U << problem.candidates.size()); ++bits) {
        std::vector<CandidateId> chosen;
        for (CandidateId id = 0; id < problem.candidates.size(); ++id) {
            if ((bits >> id) & 1U) {
                chosen.push_back(id);
            }
        }
        if (holds(problem, chosen, demands)) {
            answers.push_back(chosen);
        }
    }
    return answers;
}

} // namespace

TEST_CASE("the highest rank is chosen, and a lower one where the highest cannot be had") {
    Problem problem;
    problem.name_count = 2;
    problem.candidates = {{0, 1, {}, {}}, {0, 2, {1}, {}}, {1, 1, {}, {}}};
    problem.sets = {{0, 1}, {2}};
    const SetId any[] = {0};
    CHECK(Engine(problem).solve(any) == std::vector<CandidateId>{1, 2});
    problem.sets[1].clear(); // what rank 2 needs is nowhere
    CHECK(Engine(problem).solve(any) == std::vector<CandidateId>{0});
}

TEST_CASE("what cannot be met is no answer, and the engine can be asked again") {
    Problem problem;
    problem.name_count = 2;
    problem.candidates = {{0, 1, {}, {1}}, {1, 1, {}, {}}};
    problem.sets = {{0}, {1}, {}};
    const Engine engine(problem);
    CHECK_FALSE(engine.solve(std::vector<SetId>{0, 1}));
    CHECK(engine.solve(std::vector<SetId>{0}) == std::vector<CandidateId>{0});
    CHECK_FALSE(engine.solve(std::vector<SetId>{2}));
    CHECK(engine.solve_count() == 3);
}

TEST_CASE("on random small problems the engine answers exactly when brute force does, and its "
          "first demand gets the best candidate there is") {
    std::mt19937 random(20261121);
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    std::size_t solvable = 0;
    for (int round = 0; round < 1500; ++round) {
        Problem problem;
        problem.name_count = 2 + below(3);
        const std::uint32_t count = 4 + below(7);
        std::vector<std::vector<CandidateId>> of_name(problem.name_count);
        for (CandidateId id = 0; id < count; ++id) {
            const NameId name = below(problem.name_count);
            of_name[name].push_back(id);
            problem.candidates.push_back(
                {name, static_cast<std::uint32_t>(of_name[name].size()), {}, {}});
        }
        for (int set = 0; set < 8; ++set) {
            std::vector<CandidateId> members;
            for (const CandidateId id : of_name[below(problem.name_count)]) {
                if (below(2) == 0) {
                    members.push_back(id);
                }
            }
            problem.sets.push_back(members);
        }
        for (Candidate& candidate : problem.candidates) {
            for (std::uint32_t n = below(3); n > 0; --n) {
                candidate.needs.push_back(below(8));
            }
            if (below(3) == 0) {
                candidate.excludes.push_back(below(8));
            }
        }
        const std::vector<SetId> demands{below(8), below(8)};
        const auto expected = all_answers(problem, demands);
        const auto answer = Engine(problem).solve(demands);
        CAPTURE(round);
        REQUIRE(answer.has_value() == !expected.empty());
        if (!answer) {
            continue;
        }
        ++solvable;
        REQUIRE(holds(problem, *answer, demands));
        const auto best_rank = [&](const std::vector<CandidateId>& chosen) {
            std::uint32_t rank = 0;
            for (const CandidateId id : problem.sets[demands[0]]) {
                if (std::binary_search(chosen.begin(), chosen.end(), id)) {
                    rank = problem.candidates[id].rank;
                }
            }
            return rank;
        };
        std::uint32_t best = 0;
        for (const auto& other : expected) {
            best = std::max(best, best_rank(other));
        }
        CHECK(best_rank(*answer) == best);
    }
    CHECK(solvable > 300);
}
