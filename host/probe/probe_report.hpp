// What `cudaenv-probe --ladder` wrote, read back (docs/probe.md has the lines). Pure; it believes
// nothing: a line that is none, a value that is not plausible, are left out, and a report of which
// nothing could be read is Garbled.
#pragma once

#include "host/process.hpp"
#include "solver/facts/probe.hpp"

namespace cudaenv::host {

// `outcome`: of the child, however it ended.
facts::ProbeReport read_probe_report(const ChildOutcome& outcome);

} // namespace cudaenv::host
