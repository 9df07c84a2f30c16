// What lies at the paths that an inventory's records claim, as far as it was looked at. Pure data.
// Law: a path of which nothing is held was looked at and is what every record of it says, or is one
// of those that differ in every healthy environment (rules::is_ordinary_difference). One that
// several packages claim, of which some have no digest, is held with its own where another has one.
#pragma once

#include "solver/facts/claims.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::facts {

enum class Lies : std::uint8_t {
    Missing,
    File,
    Link,
    Directory,
    Other,      // a pipe, a device, a socket
    Redirected, // beneath a link that leads out of the environment: somebody's own source
    Unreadable,
};

struct PathState {
    Lies lies = Lies::Missing;
    // Of a file that was hashed: not where no record has its size, or none has a digest.
    std::optional<Sha256Digest> sha256;
    std::uint64_t size = 0;      // bytes, of a file
    std::int64_t changed_ns = 0; // since the epoch: when the file's content or name changed
};

class Examined {
public:
    void add(std::string path, PathState state) {
        m_states.insert_or_assign(std::move(path), state);
    }
    // Null where the path is as every record has it.
    [[nodiscard]] const PathState* find(std::string_view path) const {
        const auto found = m_states.find(path);
        return found == m_states.end() ? nullptr : &found->second;
    }
    [[nodiscard]] const std::map<std::string, PathState, std::less<>>& states() const {
        return m_states;
    }

private:
    std::map<std::string, PathState, std::less<>> m_states;
};

// How what lies there goes with one claim. Unknown: the record has no hash of it, it could not be
// read, or it was put there by hand as a link to something else.
enum class Fit : std::uint8_t { Same, Missing, Other, Unknown };
Fit fit_of(const FileClaim& claim, const PathState* state);

} // namespace cudaenv::facts
