// Commands of a noarch Python package, which no file of the package holds: an installer makes them
// of a line of metadata. Pure text.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::repair {

// info/link.json: "pip" -> "pip._internal.cli.main:main". Nothing of one that cannot be read.
std::map<std::string, std::string> read_entry_points(const std::string& link_json);

// A program that calls it. `python`: absolute. None where `target` is no MODULE:FUNCTION.
std::optional<std::string> entry_point_script(std::string_view python, std::string_view target);

} // namespace cudaenv::repair
