// What composition decides from, for its tests: one environment with its toolkit, to be changed.
#pragma once

#include "situations.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace cudaenv::activation::test {

using facts::EnvironmentKind;
using Entries = std::vector<std::string>;

inline constexpr auto k_none = std::nullopt;

// Of torch with CUDA 11.3 in a venv, and the toolkit for it.
struct Case {
    Situation situation = machine();
    facts::ToolkitLayout layout = test::layout("/usr/local/cuda-11.3", "11.0");

    Case() {
        situation.environment = environment(EnvironmentKind::Venv);
        situation.environment->frameworks = {torch("1.12.1+cu113", "11.3")};
    }
    [[nodiscard]] Composition compose() const {
        return activation::compose(situation, choose(situation), layout);
    }
    [[nodiscard]] std::string line(bool ascii = false) const {
        return quiet_line(situation, choose(situation), compose(), ascii);
    }
};

inline bool says(const std::vector<std::string>& lines, const std::string& text) {
    return std::ranges::any_of(
        lines, [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

} // namespace cudaenv::activation::test
