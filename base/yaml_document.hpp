// A YAML text as a tree, for condarc and environment.yml files. Pure.
//
// Law: what YAML refuses is an error with its place, never a shorter tree; no text makes reading it
// recurse deep, or grow: an alias is a node of a kind by itself.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv {

struct YamlEntry;

struct YamlNode {
    enum class Kind { Null, Scalar, Sequence, Mapping, Alias };
    Kind kind = Kind::Null;
    std::string text;    // of a scalar
    bool quoted = false; // or a block: then "~" and "null" are texts
    int line = 0;        // from 1
    int column = 0;      // from 1, in bytes
    std::vector<YamlNode> items;
    std::vector<YamlEntry> entries;

    [[nodiscard]] bool is_null() const; // nothing, ~ or null
};

struct YamlEntry {
    std::string key;
    int line = 0;
    int column = 0;
    YamlNode value;
};

// The one document of `text`. Error: "bad-yaml" with line and column, no path.
Result<YamlNode> parse_yaml(std::string_view text);

} // namespace cudaenv
