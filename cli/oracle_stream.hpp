// `cudaenv debug oracle`: standard input's lines to the daemon in batches, its answers to standard
// output.
#pragma once

#include "base/result.hpp"
#include "protocol/caller.hpp"

namespace cudaenv::cli {

// One answer a line, in the order of the questions; those of a batch are written before the next is
// asked. Errors: the daemon's; "line-too-long" with the line.
Result<void> stream_oracle(const protocol::Caller& caller);

} // namespace cudaenv::cli
