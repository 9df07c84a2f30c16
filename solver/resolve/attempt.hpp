// One way of asking: a world (how strictly the host is taken) and a set of channels, solved.
// Internal to solver/resolve: resolve tries several, conflict explains one.
#pragma once

#include "solver/resolve/catalogue.hpp"
#include "solver/resolve/question.hpp"
#include "solver/resolve/universe.hpp"
#include "solver/resolve/world.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace cudaenv::resolve {

// The records of an answer.
using Records = std::vector<const specs::PackageRecord*>;
// The record of that name, else nullptr.
const specs::PackageRecord* record_named(const Records& records, std::string_view name);

enum class Narrowing {
    Tight, // only records that the demands let through: fast, for finding an answer
    None,  // everything within reach: for explaining why there is none
};

struct Attempt {
    std::unique_ptr<World> world;
    std::unique_ptr<Catalogue> catalogue; // where no channel was given
    Question question;
    std::unique_ptr<Universe> universe;
    Manager manager = Manager::Conda;
    std::vector<std::string> demands; // facts, then items in the order asked, then nvcc
    std::vector<const Channel*> channels;

    // Null where there is no answer.
    [[nodiscard]] std::optional<Records> solve() const { return universe->solve(demands); }
};

struct AttemptOptions {
    WorldOptions world;
    Manager manager = Manager::Conda;
    Narrowing narrowing = Narrowing::Tight;
};

// The request names it, and it is not what the environment keeps.
bool is_asked(const Attempt& attempt, std::string_view name);
// "[cuda12]" of a package: the extras that were asked for, and those that its CUDA comes by.
std::string extras_of(const Attempt& attempt, const Records& records, std::string_view name);

Result<Attempt> make_attempt(const Request& request, const facts::Host& host,
                             std::span<const Channel* const> channels,
                             const AttemptOptions& options);

} // namespace cudaenv::resolve
