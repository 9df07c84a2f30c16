// pyproject.toml: [project] (PEP 621), [dependency-groups] (PEP 735), the indexes of [tool.uv], and
// [tool.pixi] as a pixi.toml. Pure.
#pragma once

#include "solver/inputs/package_table.hpp"

namespace cudaenv::inputs {

// `extras`: names of optional dependencies or dependency groups, normalized. Errors: "bad-value",
// "bad-requirement", "unknown-extra", "no-dependencies".
Result<void> parse_pyproject(Input& input, const pins::TomlTable& entries, const std::string& path,
                             std::span<const std::string> extras, Target target);

} // namespace cudaenv::inputs
