// What `cudaenv pin SPEC...` and `cudaenv unpin NAME...` do to a file.
// Law: all specs are judged before anything is written; the file has all changes or none.
#pragma once

#include "base/result.hpp"
#include "host/environment.hpp"
#include "host/project/project.hpp"

#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

namespace cudaenv::project {

enum class PinPlace {
    Nearest,     // the nearest project file, or a new one in the directory
    Here,        // cudaenv.toml of the directory itself
    Environment, // the environment's own file
    Global,      // the user's config.toml
};

struct PinTarget {
    PinPlace place = PinPlace::Nearest;
    std::string prefix; // for Environment; empty: the active one
    uid_t user = ::geteuid();
    std::optional<ConfigPaths> config; // for Global; instead of the environment's
};

enum class PinAction { Set, Remove };

struct PinChangeItem {
    std::string name;
    std::optional<std::string> before; // constraint; nothing: was not pinned
    std::optional<std::string> after;
};

struct PinChange {
    std::string path; // raw bytes; empty: there is no file, and none was made
    bool created = false;
    bool written = false;             // false: all was so already
    std::vector<PinChangeItem> items; // in the order asked for
    std::vector<std::string> notes;   // one line each
};

// `specs` are pins (Set) or names (Remove); the first is "argument 1" in messages. Errors:
// "bad-pin", "bad-version", "unknown-pin", those of the file as it is, "not-an-environment",
// "no-environment", "no-home", "unsafe-place" (a project file there would not be read), those of
// edit_whole.
Result<PinChange> change_pins(const PinTarget& target, const std::string& directory,
                              const host::Environment& environment,
                              std::span<const std::string> specs, PinAction action);

} // namespace cudaenv::project
