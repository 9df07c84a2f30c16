// The readers of this room, one form of file each. Pure.
#pragma once

#include "solver/inputs/package_table.hpp"

namespace cudaenv::inputs {

// requirements.txt as pip 25 reads it: comments, continued lines, options, included files. `path`
// for messages, and what included files are relative to. Errors: "bad-requirement", "bad-option",
// those of `read`.
// Source of the grammar: pip's req_file.py and "Requirements File Format" of its documentation.
Result<void> parse_requirements(Input& input, std::string_view text, const std::string& path,
                                const ReadFile& read, const Target& target);
// One line that stands in another file, as below "pip:" in environment.yml.
Result<void> parse_requirement_line(Input& input, std::string_view line, const FilePlace& place,
                                    const ReadFile& read, const Target& target);

// environment.yml of conda and mamba: channels and dependencies, and pip's below "pip:". Errors:
// "bad-yaml", "bad-value", "bad-spec", "no-dependencies", those of parse_requirement_line.
Result<void> parse_environment_yaml(Input& input, std::string_view text, const std::string& path,
                                    const ReadFile& read, Target target);

// pyproject.toml: [project] (PEP 621), [dependency-groups] (PEP 735), the indexes of [tool.uv], and
// [tool.pixi] as a pixi.toml. `extras`: names of optional dependencies or dependency groups,
// normalized. Errors: "bad-value", "bad-requirement", "unknown-extra", "no-dependencies".
Result<void> parse_pyproject(Input& input, const pins::TomlTable& entries, const std::string& path,
                             std::span<const std::string> extras, Target target);

// A pixi manifest, pixi.toml or [tool.pixi] of pyproject.toml, on Linux: the root tables, those of
// the features that `environment` lists, and [target] tables of Linux. Errors: "bad-value",
// "bad-spec", "unknown-extra".
Result<void> parse_pixi(Input& input, const pins::TomlTable& entries, const std::string& path,
                        std::string_view environment, const Target& target);

} // namespace cudaenv::inputs
