// environment.yml of conda and mamba: channels and dependencies, and pip's below "pip:". Pure.
#pragma once

#include "solver/inputs/package_table.hpp"

namespace cudaenv::inputs {

// Errors: "bad-yaml", "bad-value", "bad-spec", "no-dependencies", those of parse_requirement_line.
Result<void> parse_environment_yaml(Input& input, std::string_view text, const std::string& path,
                                    const ReadFile& read, Target target);

} // namespace cudaenv::inputs
