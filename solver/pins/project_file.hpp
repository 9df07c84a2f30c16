// cudaenv.toml, cudaenv.local.toml, an environment's own pin file and config.toml, the user's and
// the administrator's: reading and editing. Pure.
//
// Law: `edit_pins` changes the pins asked for and no other byte; its result reads back as the old
// pins with that change, or it is an error and nothing happened. A file describes, it never names a
// command.
#pragma once

#include "base/result.hpp"
#include "solver/pins/pin.hpp"
#include "solver/pins/settings.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::pins {

struct ProjectFile {
    std::string path;      // as given, printable
    std::vector<Pin> pins; // in the file's order, canonical names, origin "PATH line N"
    std::vector<Setting> settings;
    std::vector<std::string> locked; // dotted names; the administrator's config.toml only
    std::vector<std::string> notes;  // unknown keys, when they are not refused

    [[nodiscard]] std::optional<Purpose> purpose() const;                   // [resolve] for
    [[nodiscard]] std::optional<std::vector<std::string>> channels() const; // [resolve] channels
};
using ConfigFile = ProjectFile; // whose pins are global defaults

// Reads `[pins]`, the tables of settings that the scope has, and the system's `locked = [...]`.
// Errors, each with path, line and column: "bad-toml", "unknown-pin", "unknown-key", "bad-value",
// "bad-version", "bad-pin", "file-too-large".
Result<ConfigFile> parse_config(std::string_view toml, std::string_view path, FileScope scope,
                                UnknownKeys unknown = UnknownKeys::Refuse);
inline Result<ProjectFile> parse_project(std::string_view toml, std::string_view path,
                                         UnknownKeys unknown = UnknownKeys::Refuse) {
    return parse_config(toml, path, FileScope::Project, unknown);
}

struct PinEdit {
    std::string name;                      // a pin name or alias
    std::optional<std::string> constraint; // pin grammar; nothing removes the pin
};

// The text with the pins set or removed. A pin that already means the same is left as it is
// written, an alias keeps its name (`pytorch = "1.12"`), removing what is not there changes
// nothing. Errors: those of parse_project and of PinConstraint::parse, "unknown-pin".
Result<std::string> edit_pins(std::string_view toml, std::string_view path,
                              std::span<const PinEdit> edits, FileScope scope = FileScope::Project);

} // namespace cudaenv::pins
