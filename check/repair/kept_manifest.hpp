// The manifest of a kept copy: its files and their digests, and as text. Pure. Law: a manifest that
// is damaged anywhere does not count.
#pragma once

#include "solver/facts/inventory.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::repair {

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

} // namespace cudaenv::repair
