// A pixi manifest: pixi.toml, or [tool.pixi] of pyproject.toml. Pure.
//
// What is read is the default environment on Linux: the root tables, those of the features that
// `default` lists, and [target] tables of Linux.
#pragma once

#include "solver/inputs/package_table.hpp"

namespace cudaenv::inputs {

// `environment`: another environment than "default". Errors: "bad-value", "bad-spec",
// "unknown-extra".
Result<void> parse_pixi(Input& input, const pins::TomlTable& entries, const std::string& path,
                        std::string_view environment, const Target& target);

} // namespace cudaenv::inputs
