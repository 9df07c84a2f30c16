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
#include "solver/facts/inventory.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::repair {

// The manifest of a kept copy: its files and their digests, and as text. Pure. Law: a manifest that
// is damaged anywhere does not count.
struct KeptFile {
    std::string path; // relative to the prefix
    facts::Sha256Digest sha256{};
    std::uint64_t size = 0;
    unsigned mode = 0644;
    std::optional<std::string> link; // its text, of a symlink
};

struct KeptDistribution {
    std::string prefix;
    std::string name; // PEP 503
    std::string version;
    std::string metadata; // relative to the prefix
    std::string site;
    std::string source; // where it was built from; empty: not known
    bool editable = false;
    std::int64_t kept_at = 0; // seconds since the epoch
    std::vector<KeptFile> files;
    // Of an egg, and of what setup.py develop installed: the line of easy-install.pth, beside the
    // metadata, that Python finds it by; empty: it has none.
    std::string path_line{};

    [[nodiscard]] std::uint64_t bytes() const {
        std::uint64_t sum = 0;
        for (const KeptFile& file : files) {
            sum += file.size;
        }
        return sum;
    }
};

std::string write_manifest(const KeptDistribution& kept);
std::optional<KeptDistribution> read_manifest(std::string_view text);

// The name of its directory: no separator, nothing hidden.
std::string kept_name(std::string_view name, std::string_view version);

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
