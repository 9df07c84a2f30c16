#include "solver/solv/engine.hpp"

#include <algorithm>
#include <cassert>
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
    ::Id first_solvable = 0;
    std::size_t candidate_count = 0;
    std::vector<::Id> set_ids; // a string id of the pool for each set
    mutable std::size_t solves = 0;

    [[nodiscard]] ::Id solvable_of(CandidateId candidate) const {
        return first_solvable + static_cast<::Id>(candidate);
    }
};

Engine::Engine(const Problem& problem) : m_implementation(std::make_unique<Implementation>()) {
    Implementation& self = *m_implementation;
    ::Pool* pool = self.pool.get();
    ::pool_setdisttype(pool, DISTTYPE_CONDA);
    ::pool_set_flag(pool, POOL_FLAG_FORBIDSELFCONFLICTS, 1);
    ::Repo* repo = ::repo_create(pool, "candidates");

    // Names and sets are plain string ids; the characters cannot meet in either namespace.
    const auto string_id = [&](char space, std::size_t number) {
        const std::string text = space + std::to_string(number);
        return ::pool_str2id(pool, text.c_str(), 1);
    };
    std::vector<::Id> name_ids(problem.name_count);
    for (NameId name = 0; name < problem.name_count; ++name) {
        name_ids[name] = string_id('n', name);
    }
    self.set_ids.resize(problem.sets.size());
    for (std::size_t set = 0; set < problem.sets.size(); ++set) {
        self.set_ids[set] = string_id('s', set);
    }

    self.candidate_count = problem.candidates.size();
    self.first_solvable =
        ::repo_add_solvable_block(repo, static_cast<int>(problem.candidates.size()));
    for (std::size_t i = 0; i < problem.candidates.size(); ++i) {
        const Candidate& candidate = problem.candidates[i];
        ::Solvable* solvable =
            ::pool_id2solvable(pool, self.solvable_of(static_cast<CandidateId>(i)));
        solvable->name = name_ids[candidate.name];
        // libsolv picks the highest version: the rank is the version, so its policy is ours.
        const std::string rank = std::to_string(candidate.rank);
        solvable->evr = ::pool_str2id(pool, rank.c_str(), 1);
        solvable->arch = ARCH_NOARCH;
        solvable->dep_provides = ::repo_addid_dep(repo, solvable->dep_provides, solvable->name, 0);
        for (const SetId set : candidate.needs) {
            solvable->dep_requires =
                ::repo_addid_dep(repo, solvable->dep_requires, self.set_ids[set], 0);
        }
        for (const SetId set : candidate.excludes) {
            solvable->dep_conflicts =
                ::repo_addid_dep(repo, solvable->dep_conflicts, self.set_ids[set], 0);
        }
    }

    ::pool_createwhatprovides(pool);
    IdQueue members;
    for (std::size_t set = 0; set < problem.sets.size(); ++set) {
        std::vector<CandidateId> ordered = problem.sets[set];
        std::sort(ordered.begin(), ordered.end());
        members.clear();
        for (const CandidateId candidate : ordered) {
            members.push(self.solvable_of(candidate));
        }
        ::pool_set_whatprovides(pool, self.set_ids[set],
                                ::pool_queuetowhatprovides(pool, members.get()));
    }
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
        if (decision >= self.first_solvable) {
            chosen.push_back(static_cast<CandidateId>(decision - self.first_solvable));
        }
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
}

} // namespace cudaenv::solv
