// What `cudaenv-probe --ladder` wrote, read back (docs/probe.md has the lines). Pure; it believes
// nothing: an invalid line or an implausible value is left out, and a report of which
// nothing could be read is Garbled.
#pragma once

#include "host/process.hpp"
#include "solver/facts/probe.hpp"

namespace cudaenv::probe {

// `outcome`: of the child, however it ended.
facts::ProbeReport read_probe_report(const host::ChildOutcome& outcome);

} // namespace cudaenv::probe
