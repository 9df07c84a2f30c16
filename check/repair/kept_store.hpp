// Copies of distributions that nothing else could bring back: `cudaenv keep`. Below the state
// directory, kept/ENVIRONMENT/NAME-VERSION/ with `manifest` and `files/`, all of it the user's
// alone. Law: a copy is there whole, or it is not there.
//
// A copy shares its blocks with the original where the file system can (until one of them is
// written), else it is one of its own. It is never a second name of the same file: `cp`, patchelf
// and conda's installers (where they cannot link) write into the file that is there, and would
// write into the copy.
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"
#include "check/repair/kept_manifest.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::repair {

class KeptStore {
public:
    static constexpr const char* k_manifest = "manifest";
    static constexpr const char* k_files = "files";

    // Empty: no state directory, and nothing can be kept.
    explicit KeptStore(const std::string& state_directory)
        : m_directory(state_directory.empty() ? "" : state_directory + "/kept") {}

    // Of all, `prefix` is absolute, by whichever way it is reached.
    // By name, then by when it was kept. One whose manifest cannot be read is left out.
    [[nodiscard]] std::vector<KeptDistribution> list(const std::string& prefix) const;
    // Of that version, or with an empty one the newest.
    [[nodiscard]] std::optional<KeptDistribution>
    find(const std::string& prefix, std::string_view name, std::string_view version) const;
    // Where its files are: `path` of the manifest below it.
    [[nodiscard]] std::string files_of(const KeptDistribution& kept) const;
    // Takes the copy away.
    [[nodiscard]] Result<void> forget(const KeptDistribution& kept) const;

    // The environment's own directory.
    [[nodiscard]] std::string directory_of(const std::string& prefix) const;
    [[nodiscard]] bool usable() const { return !m_directory.empty(); }

private:
    std::string m_directory;
};

} // namespace cudaenv::repair
