// One package record as a channel lists it (repodata.json), or as we make one for the host and the
// embedded catalogue. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cudaenv::specs {

struct PackageRecord {
    std::string name;
    std::string version;
    std::string build;
    std::uint64_t build_number = 0;
    std::string subdir;                      // linux-64, noarch
    std::string channel;                     // as the user named it, secrets removed
    std::string file_name;                   // pytorch-1.7.0-....conda
    std::string url;                         // secrets removed; may be empty
    std::string sha256;                      // 64 hexadecimal digits or empty
    std::vector<std::string> depends;        // MatchSpecs
    std::vector<std::string> constrains;     // MatchSpecs (run_constrained)
    std::vector<std::string> track_features; // any makes the record less wanted
    std::int64_t timestamp_ms = 0;           // milliseconds since the epoch, 0 unknown
    bool noarch = false;
};

} // namespace cudaenv::specs
