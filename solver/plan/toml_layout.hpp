// Where the keys and values of a TOML text stand, in bytes. Pure.
//
// Law: it follows any text that `parse_toml` accepts; of another it may make nothing, but it never
// reads outside it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::plan {

using TomlKeyPath = std::vector<std::string>;

struct TomlRange {
    std::size_t begin = 0;
    std::size_t end = 0;
};

struct TomlHeader {
    TomlKeyPath path;
    TomlRange line; // with its newline
    bool array = false;
};

// One `key = value`.
struct TomlStatement {
    TomlKeyPath path; // from the root
    TomlRange key;
    TomlRange value;
    TomlRange whole;        // a line statement: its lines with the last newline; else key to value
    bool inside = false;    // an entry of an inline table
    std::size_t holder = 0; // then: the statement whose value that table is
    bool inline_table = false; // the value is one
    std::size_t section = 0;   // 0: before any header; else 1 + index of the header
};

struct TomlLayout {
    std::vector<TomlHeader> headers;
    std::vector<TomlStatement> statements;
};

// Nothing when the text cannot be followed.
std::optional<TomlLayout> lay_out_toml(std::string_view text);

} // namespace cudaenv::plan
