// The last verdict of the probe for each environment, kept between runs so that `status` and the
// prompt can tell it without asking the driver.
//
// Law: a verdict is given back only where all that it rests on is as it was: this boot, the loaded
// module and the driver's library, the GPUs and MIG instances, the environment's runtime libraries,
// CUDA_VISIBLE_DEVICES and LD_LIBRARY_PATH. Files are looked at, never opened but for a few of
// /proc. Best effort: a store that is missing, broken or not ours alone counts as empty.
#pragma once

#include "host/file_system.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cudaenv::host {

struct KeptVerdict {
    std::string verdict; // "ok", "fails": plan::name_of
    std::string step;    // the first rung that failed; empty: none
    std::string code;    // its
    std::string summary;
    std::int64_t at = 0; // seconds since the epoch
};

// For whom it holds, besides what is found out about the machine.
struct VerdictQuestion {
    std::string prefix; // of the environment; empty: none
    std::string visible_devices;
    std::string library_path;
};

class VerdictStore {
public:
    // `directory`/probes.json; empty: nothing is kept.
    explicit VerdictStore(std::string directory) : m_directory(std::move(directory)) {}

    std::optional<KeptVerdict> find(FileSystem& files, const VerdictQuestion& question) const;
    // `rests_on`: the files that were loaded, or would have been. A failure to write is no error.
    void keep(FileSystem& files, const VerdictQuestion& question,
              const std::vector<std::string>& rests_on, const KeptVerdict& verdict) const;

    // The question and the machine as it is now, but no file of the environment.
    static std::string key(FileSystem& files, const VerdictQuestion& question);

private:
    std::string m_directory;
};

} // namespace cudaenv::host
