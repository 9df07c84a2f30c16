// A TOML text as a tree of values, each with its place. Pure; toml++ is seen only in the .cpp.
//
// Law: entries stand in the order of the file, places are 1-based lines and byte columns, and no
// text, however hostile, makes reading it recurse deep or abort (toml_layout.hpp reads first).
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cudaenv::pins {

// Larger files are refused: no settings file is that long.
inline constexpr std::size_t k_most_toml_bytes = 1U << 20U;

struct TomlPlace {
    int line = 0;
    int column = 0;
};

struct TomlEntry;

// A number as it is written, so that 11.30 differs from 11.3.
struct TomlNumber {
    std::string text;
};
// A kind that no setting of ours has: "date", "time".
struct TomlOther {
    std::string kind;
};

struct TomlValue {
    TomlPlace at;
    std::variant<std::string, bool, TomlNumber, TomlOther, std::vector<TomlValue>,
                 std::vector<TomlEntry>>
        data;
};

struct TomlEntry {
    std::string key;
    TomlPlace at; // of the key
    TomlValue value;
};

using TomlTable = std::vector<TomlEntry>;
using TomlArray = std::vector<TomlValue>;

// `path` goes into errors. Errors: "bad-toml" with line and column, "file-too-large".
Result<TomlTable> parse_toml(std::string_view text, std::string_view path);

// "a string", "a number", ... for messages.
std::string_view kind_of(const TomlValue& value);
// The error "bad-value" or any other code at a place of a file.
tl::unexpected<Error> toml_error(std::string_view path, TomlPlace at, std::string code,
                                 std::string message, std::string hint);

// `text` as a TOML basic string, quotes included.
std::string toml_string(std::string_view text);

} // namespace cudaenv::pins
