// The search for an answer: the worlds and the managers to try, in which order. Internal to
// solver/resolve.
#pragma once

#include "solver/resolve/attempt.hpp"

#include <optional>
#include <span>
#include <vector>

namespace cudaenv::resolve {

struct Answer {
    Attempt attempt;
    Records records;
    WorldOptions world;
};

// The worlds to try, the one that asks most of the host first. The rule of preference: builds whose
// list of GPUs is known before those whose list is not; a CUDA that the driver runs in full before
// minor version compatibility; every GPU served before some; nvcc of the same minor before the same
// major. Conda's channels follow conda's own preference.
std::vector<WorldOptions> worlds_to_try(const Request& request, const facts::Host& host,
                                        Vocabulary vocabulary);

// The managers whose builds may answer: the environment's own, else what was asked for.
std::vector<Manager> managers_of(const Request& request);
// conda-forge::pytorch.
bool names_channel(const Request& request);

// std::nullopt of these: there is no answer.
Result<std::optional<Answer>> answer_in(const WorldOptions& world, const Request& request,
                                        const facts::Host& host,
                                        std::span<const Channel* const> channels, Manager manager);
Result<std::optional<Answer>> answer_of_channels(const Request& request, const facts::Host& host,
                                                 std::span<const Channel* const> channels);
// From whichever manager has the newer one.
Result<std::optional<Answer>> answer_of_catalogue(const Request& request, const facts::Host& host);

} // namespace cudaenv::resolve
