// Which rung cudaenv-probe is on, from its lines as they come (docs/probe.md).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::probe {

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
