// The files of one environment that cudaenv reads and writes as a whole.
#pragma once

#include "base/prefix_directory.hpp"
#include "base/result.hpp"
#include "base/whole_file.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>

namespace cudaenv {

// By their whole paths; those elsewhere are the user's own, and whole_file.hpp holds for them.
// Law: below the prefix no link leads elsewhere, a file that is a link is not followed, and what
// belongs to neither the caller nor root nor the environment's owner is left alone.
// Errors: those of whole_file.hpp, and "outside", "is-a-link", "foreign-owner".
class EnvironmentFiles {
public:
    static Result<EnvironmentFiles> open(const std::string& prefix);

    [[nodiscard]] Result<std::optional<std::string>> read(const std::string& path) const;
    // `expected` is what was read, as for replace_whole. Directories are made where they are
    // missing.
    [[nodiscard]] Result<void> write(const std::string& path, std::string_view text,
                                     const std::optional<std::string>& expected) const;
    [[nodiscard]] Result<FileEdit> edit(const std::string& path, const Edit& edit) const;
    // Then so many directories above it, as far as they are empty. A file that is there no more is
    // removed as well.
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

} // namespace cudaenv
