// Sets and removes single values in a TOML text and leaves every other byte as it is: comments,
// order, blank lines, line endings, a missing final newline. Pure.
//
// Law: on an error nothing was changed; the caller reads the result back and compares before it
// trusts it.
#pragma once

#include "base/result.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cudaenv::pins {

struct TomlEdit {
    std::string table;                // "pins"
    std::string key;                  // "cuda"; a bare key
    std::optional<std::string> value; // TOML, quotes included; nothing removes the key
};

// `text` must be TOML that `parse_toml` accepts. A new key goes after the last of its table, in
// whichever form the table has: [pins], pins.cuda = ... or pins = {...}; a missing table is added
// at the end. A removed key takes its line with it, and the comment on that line. Error: a defect,
// when the text cannot be followed.
Result<std::string> edit_toml(std::string_view text, std::span<const TomlEdit> edits);

} // namespace cudaenv::pins
