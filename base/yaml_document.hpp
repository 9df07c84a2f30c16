// A YAML text as a tree, as far as condarc and environment.yml files use YAML: block and flow
// collections, plain, quoted and block scalars, comments. Pure.
//
// Law: what YAML refuses and what this reader does not know is an error with its place, never a
// shorter tree; no text makes reading it recurse deep. Anchors and tags are skipped; an alias is a
// node of its own kind. A plain scalar goes on in lines that are indented deeper, but for those that
// begin with "- ".
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
    std::string text;    // of a scalar, quotes resolved
    bool quoted = false; // then "~" and "null" are texts
    std::string comment; // behind it, or behind the key of a block collection; with its #
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

// The first document of `text`. Error: "bad-yaml" with line and column, no path.
Result<YamlNode> parse_yaml(std::string_view text);

} // namespace cudaenv
