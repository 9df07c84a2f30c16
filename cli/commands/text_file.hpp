// Files of the user's that a command changes: read whole, written whole.
#pragma once

#include "base/prefix_directory.hpp"
#include "base/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace cudaenv::cli {

// None where there is none. Errors: "unreadable" (a directory, no permission, larger than 16 MiB).
Result<std::optional<std::string>> read_whole_file(const std::string& path);

// Written beside it and renamed over it; symlinks followed, owner, group and mode kept; directories
// made where they are missing. Errors: "write-failed" (also where the file itself is read-only,
// which a rename would not mind), "dangling-link", "anothers-home" (root would write into a
// directory of another user's).
Result<void> write_whole_file(const std::string& path, std::string_view text);

// A file that is there no more is removed as well. Errors "write-failed", "anothers-home".
Result<void> remove_file(const std::string& path);

// The files of one environment, by their whole paths; those elsewhere are the user's own, as above.
// Law: below the prefix no link leads elsewhere, a file that is a link is not followed, and what
// belongs to neither the caller nor root nor the environment's owner is left alone.
class EnvironmentFiles {
public:
    static Result<EnvironmentFiles> open(const std::string& prefix);

    // Errors of the functions above, and "outside", "is-a-link", "foreign-owner".
    [[nodiscard]] Result<std::optional<std::string>> read(const std::string& path) const;
    [[nodiscard]] Result<void> write(const std::string& path, std::string_view text) const;
    // Then so many directories above it, as far as they are empty.
    [[nodiscard]] Result<void> remove(const std::string& path, int directories = 0) const;

private:
    explicit EnvironmentFiles(PrefixDirectory prefix) : m_prefix(std::move(prefix)) {}
    // Its path in the environment; empty for one of the user's own.
    [[nodiscard]] std::string inner(const std::string& path) const;
    [[nodiscard]] Result<void> check_owner(const std::string& path,
                                           const struct stat& status) const;
    [[nodiscard]] Result<void> check_above(const std::string& name) const;
    [[nodiscard]] Result<void> check(const std::string& path, const Place& place) const;

    PrefixDirectory m_prefix;
};

// Names in a directory, sorted, without `.` and `..`. Error "unreadable".
Result<std::vector<std::string>> names_in(const std::string& directory);

} // namespace cudaenv::cli
