#include "solver/solv/engine.hpp"

#include <algorithm>
#include <string>

extern "C" {
#include <solv/pool.h>
#include <solv/poolarch.h>
#include <solv/queue.h>
#include <solv/repo.h>
#include <solv/solver.h>
}

namespace cudaenv::solv {

namespace {

struct PoolDeleter {
    void operator()(::Pool* pool) const { ::pool_free(pool); }
};
struct SolverDeleter {
    void operator()(::Solver* solver) const { ::solver_free(solver); }
};

class IdQueue {
public:
    IdQueue() { ::queue_init(&m_queue); }
    IdQueue(const IdQueue&) = delete;
    IdQueue& operator=(const IdQueue&) = delete;
    ~IdQueue() { ::queue_free(&m_queue); }

    ::Queue* get() { return &m_queue; }
    void push(::Id id) { ::queue_push(&m_queue, id); }
    void clear() { ::queue_empty(&m_queue); }
    [[nodiscard]] std::span<const ::Id> ids() const {
        return {m_queue.elements, static_cast<std::size_t>(m_queue.count)};
    }

private:
    ::Queue m_queue{};
};

} // namespace

struct Engine::Implementation {
    std::unique_ptr<::Pool, PoolDeleter> pool{::pool_create()};
    ::Repo* repo = nullptr;
    ::Id first_solvable = 0;
    std::size_t candidate_count = 0;
    std::vector<::Id> set_ids; // a string id of the pool for each set
    mutable std::size_t solves = 0;

    [[nodiscard]] ::Id solvable_of(CandidateId candidate) const {
        return first_solvable + static_cast<::Id>(candidate);
    }
    // A string id that no other (space, number) has.
    [[nodiscard]] ::Id string_id(char space, std::size_t number) const {
        const std::string text = space + std::to_string(number);
        return ::pool_str2id(pool.get(), text.c_str(), 1);
    }
    ::Solvable* at(::Id solvable) const { return ::pool_id2solvable(pool.get(), solvable); }
    void require(::Id solvable, ::Id what) const {
        at(solvable)->dep_requires = ::repo_addid_dep(repo, at(solvable)->dep_requires, what, 0);
    }
    void conflict(::Id solvable, ::Id what) const {
        at(solvable)->dep_conflicts = ::repo_addid_dep(repo, at(solvable)->dep_conflicts, what, 0);
    }
    // A solvable of its own name that only the encoding knows.
    ::Id add_helper(::Id name) const {
        const ::Id helper = ::repo_add_solvable(repo);
        at(helper)->name = name;
        at(helper)->evr = ::pool_str2id(pool.get(), "1", 1);
        at(helper)->arch = ARCH_NOARCH;
        at(helper)->dep_provides = ::repo_addid_dep(repo, at(helper)->dep_provides, name, 0);
        return helper;
    }

    void add_candidates(const Problem& problem);
    void need(const Problem& problem);
    void keep_one_of_each_name(const Problem& problem);
    void exclude(const Problem& problem);
    void list_members(const Problem& problem);
};

void Engine::Implementation::add_candidates(const Problem& problem) {
    set_ids.resize(problem.sets.size());
    for (std::size_t set = 0; set < problem.sets.size(); ++set) {
        set_ids[set] = string_id('s', set);
    }
    candidate_count = problem.candidates.size();
    first_solvable = ::repo_add_solvable_block(repo, static_cast<int>(candidate_count));
    for (std::size_t i = 0; i < candidate_count; ++i) {
        const Candidate& candidate = problem.candidates[i];
        const ::Id id = solvable_of(static_cast<CandidateId>(i));
        at(id)->name = string_id('n', candidate.name);
        // libsolv picks the highest version: the rank is the version, so its policy is ours.
        at(id)->evr = ::pool_str2id(pool.get(), std::to_string(candidate.rank).c_str(), 1);
        at(id)->arch = ARCH_NOARCH;
        at(id)->dep_provides = ::repo_addid_dep(repo, at(id)->dep_provides, at(id)->name, 0);
    }
}

// A set that several need is one helper that needs it, and the helper is what they need: libsolv
// walks and clauses every provider of every dependency of every candidate otherwise.
void Engine::Implementation::need(const Problem& problem) {
    std::vector<std::uint32_t> users(problem.sets.size(), 0);
    for (const Candidate& candidate : problem.candidates) {
        for (const SetId set : candidate.needs) {
            ++users[set];
        }
    }
    std::vector<::Id> wanted(set_ids.begin(), set_ids.end());
    for (SetId set = 0; set < problem.sets.size(); ++set) {
        if (users[set] > 1 && problem.sets[set].size() > 1) {
            wanted[set] = string_id('r', set);
            require(add_helper(wanted[set]), set_ids[set]);
        }
    }
    for (CandidateId i = 0; i < problem.candidates.size(); ++i) {
        for (const SetId set : problem.candidates[i].needs) {
            require(solvable_of(i), wanted[set]);
        }
    }
}

// libsolv's own rule for this is one clause for each pair of a name: half a million for seven
// hundred builds of one package. Instead each candidate fixes the bits of its number within the
// name, and a bit is one or zero: n log n clauses, and propagation is as complete.
void Engine::Implementation::keep_one_of_each_name(const Problem& problem) {
    std::vector<std::vector<CandidateId>> of_name(problem.name_count);
    for (CandidateId i = 0; i < problem.candidates.size(); ++i) {
        of_name[problem.candidates[i].name].push_back(i);
    }
    std::size_t bits = 0;
    for (const std::vector<CandidateId>& members : of_name) {
        for (std::size_t step = 1; step < members.size(); step *= 2) {
            const ::Id zero_name = string_id('z', bits);
            const ::Id one_name = string_id('o', bits);
            add_helper(zero_name);
            conflict(add_helper(one_name), zero_name);
            for (std::size_t i = 0; i < members.size(); ++i) {
                require(solvable_of(members[i]), (i & step) != 0 ? one_name : zero_name);
            }
            ++bits;
        }
    }
}

// "None of this set" is one helper, needed by all who exclude the set: a sum of clauses, not a
// product.
void Engine::Implementation::exclude(const Problem& problem) {
    std::vector<::Id> helper_names(problem.sets.size(), 0);
    for (CandidateId i = 0; i < problem.candidates.size(); ++i) {
        for (const SetId set : problem.candidates[i].excludes) {
            if (problem.sets[set].empty()) {
                continue;
            }
            if (helper_names[set] == 0) {
                helper_names[set] = string_id('x', set);
                conflict(add_helper(helper_names[set]), set_ids[set]);
            }
            require(solvable_of(i), helper_names[set]);
        }
    }
}

void Engine::Implementation::list_members(const Problem& problem) {
    ::pool_createwhatprovides(pool.get());
    IdQueue members;
    for (std::size_t set = 0; set < problem.sets.size(); ++set) {
        std::vector<CandidateId> ordered = problem.sets[set];
        std::ranges::sort(ordered);
        members.clear();
        for (const CandidateId candidate : ordered) {
            members.push(solvable_of(candidate));
        }
        ::pool_set_whatprovides(pool.get(), set_ids[set],
                                ::pool_queuetowhatprovides(pool.get(), members.get()));
    }
}

Engine::Engine(const Problem& problem) : m_implementation(std::make_unique<Implementation>()) {
    Implementation& self = *m_implementation;
    ::pool_setdisttype(self.pool.get(), DISTTYPE_CONDA);
    ::pool_set_flag(self.pool.get(), POOL_FLAG_FORBIDSELFCONFLICTS, 1);
    self.repo = ::repo_create(self.pool.get(), "candidates");
    self.add_candidates(problem);
    self.need(problem);
    self.keep_one_of_each_name(problem);
    self.exclude(problem);
    self.list_members(problem);
}

Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

std::size_t Engine::solve_count() const {
    return m_implementation->solves;
}

std::optional<std::vector<CandidateId>> Engine::solve(std::span<const SetId> demands) const {
    const Implementation& self = *m_implementation;
    ++self.solves;
    const std::unique_ptr<::Solver, SolverDeleter> solver{::solver_create(self.pool.get())};
    ::solver_set_flag(solver.get(), SOLVER_FLAG_ALLOW_UNINSTALL, 1);
    IdQueue jobs;
    jobs.push(SOLVER_MULTIVERSION | SOLVER_SOLVABLE_ALL); // one of each name is our own encoding
    jobs.push(0);
    for (const SetId demand : demands) {
        jobs.push(SOLVER_INSTALL | SOLVER_SOLVABLE_PROVIDES);
        jobs.push(self.set_ids[demand]);
    }
    if (::solver_solve(solver.get(), jobs.get()) != 0) {
        return std::nullopt;
    }
    IdQueue decisions;
    ::solver_get_decisionqueue(solver.get(), decisions.get());
    std::vector<CandidateId> chosen;
    for (const ::Id decision : decisions.ids()) {
        if (decision >= self.first_solvable &&
            decision < self.solvable_of(static_cast<CandidateId>(self.candidate_count))) {
            chosen.push_back(static_cast<CandidateId>(decision - self.first_solvable));
        }
    }
    std::ranges::sort(chosen);
    return chosen;
}

} // namespace cudaenv::solv
