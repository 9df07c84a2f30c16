// What `cudaenv-probe --ladder` wrote, read back (docs/probe.md has the lines). Pure; it believes
// nothing: an invalid line or an implausible value is left out, and a report of which
// nothing could be read is Garbled.
#pragma once

#include "host/process.hpp"
#include "solver/facts/probe.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::probe {

// `outcome`: of the child, however it ended.
facts::ProbeReport read_probe_report(const host::ChildOutcome& outcome);

// Which rung cudaenv-probe is on, from its lines as they come (docs/probe.md).
class LadderProgress {
public:
    using Begun = std::function<void(std::string_view step, std::optional<int> gpu)>;

    explicit LadderProgress(Begun begun) : m_begun(std::move(begun)) {}

    // The next part of its output, cut anywhere. What is no rung's begin is passed over.
    void read(std::string_view part);

private:
    Begun m_begun;
    std::string m_line; // that has not ended yet
};

} // namespace cudaenv::probe
