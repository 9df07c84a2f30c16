// One wish of a request as an item: a spec in conda's or pip's words, or a pin, over the names that
// the channels (or the catalogue) use. Pure.
#pragma once

#include "solver/resolve/question.hpp"

namespace cudaenv::resolve {

// ROCm, XPU and nightly builds have indexes of their own, which are not known here. `text`: a spec
// or the address of an index. Errors: "other-gpu", "nightly".
Result<void> check_is_for_nvidia(std::string_view text);

// Sets whether the words ask for CUDA or a CPU build in `question`. Errors: "bad-spec",
// "bad-version", "other-channel" and those of check_is_for_nvidia.
Result<Item> read_spec(const Wanted& wanted, std::span<const Channel* const> channels,
                       Vocabulary vocabulary, Question& question);
Result<Item> read_pin(const pins::Pin& pin, Vocabulary vocabulary);

bool has_name(std::span<const Channel* const> channels, std::string_view name);
// Where it was written, unless the error already says it.
tl::unexpected<Error> at_origin(Error error, const std::string& origin);

} // namespace cudaenv::resolve
