// requirements.txt as pip 25 reads it: comments, continued lines, options, included files. Pure.
// Source of the grammar: pip's req_file.py and "Requirements File Format" of its documentation.
#pragma once

#include "solver/inputs/package_table.hpp"

namespace cudaenv::inputs {

// `path` for messages, and what included files are relative to. Errors: "bad-requirement",
// "bad-option", those of `read`.
Result<void> parse_requirements(Input& input, std::string_view text, const std::string& path,
                                const ReadFile& read, const Target& target);
// One line that stands in another file, as below "pip:" in environment.yml.
Result<void> parse_requirement_line(Input& input, std::string_view line, const FilePlace& place,
                                    const ReadFile& read, const Target& target);

} // namespace cudaenv::inputs
