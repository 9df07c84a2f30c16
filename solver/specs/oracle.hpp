// Answers to the questions of the conda oracle: how our rules are compared with others'. Pure.
//
// A line is one JSON object:
//   {"k": "cmp", "a": "1.0", "b": "1.0.1"}              -> -1, 0, 1 or "error"
//   {"k": "match", "spec": "numpy 1.*", "version": ..., "build": ..., "build_number": 0, "subdir":
//   ...}
//                                                       -> true, false or "error"
//   {"k": "parse", "spec": "numpy 1.*"}                 -> "ok" or "error"
// "error" stands where conda refuses. Other keys ("r") are not looked at. In a match the record's
// name is the spec's; build, build_number and subdir may be absent, and "channel", "url", "fn",
// "sha256" be there. A match without a version is answered as a parse.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace cudaenv::specs::oracle {

// The JSON text of `r`. Error: "bad-oracle-line", which says what is wrong with the line.
Result<std::string> answer(std::string_view json_line);

} // namespace cudaenv::specs::oracle
