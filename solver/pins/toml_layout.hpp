// Where the keys and values of a TOML text stand, in bytes. Pure.
//
// Law: a text whose structure is not TOML's, or nests deeper than k_deepest_toml, is a fault with
// its place. What it accepts toml++ may read: version 3.3 aborts on some malformed arrays and has
// no limit on dotted keys. What values mean is not looked at.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::pins {

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

struct TomlFault {
    std::size_t at = 0; // byte in the text
    std::string wanted; // "expected = after the key"
};

// Parts of a key, and values within values.
inline constexpr std::size_t k_deepest_toml = 12;

tl::expected<TomlLayout, TomlFault> lay_out_toml(std::string_view text);

} // namespace cudaenv::pins
