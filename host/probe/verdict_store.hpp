// The verdicts of earlier probes for each environment and kind of shell, kept between runs so that
// `status` and the prompt can report them without asking the driver.
//
// Law: a verdict is given back only where all that it rests on is as it was before that probe: this
// boot, the loaded module and the driver's library, the GPUs and MIG instances, the environment's
// runtime libraries and what else of them could be found where they were looked for, the variables
// that change a driver's answers. A failure that none of these shows is reported for an hour, as
// whoever judged it said (verdict_rules.hpp). A machine or a kind of shell takes nothing from
// another. Files are looked at, never opened but for a few of /proc and the loader's cache. Best
// effort: a store that is missing, broken or not ours alone counts as empty.
#pragma once

#include "base/private_store.hpp"
#include "host/file_system.hpp"
#include "host/probe/driver_files.hpp"
#include "host/probe/file_stamps.hpp"
#include "host/probe/verdict_rules.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cudaenv::probe {

// For whom it holds, besides what is found out about the machine.
struct VerdictQuestion {
    std::string prefix; // of the environment; empty: none
    // The variables that change what a driver answers; kept as a fingerprint. Directories of theirs
    // that were searched are among the files that a verdict rests on, and are kept as such.
    std::string shell;
    std::string building; // likewise, of what is built alone
    // As whoever asks has looked already; else it is looked at.
    std::optional<DriverFiles> driver = {};
};

// What a probe is about to rest on, before it is begun: a change during the probe invalidates it.
struct VerdictGrounds {
    std::string machine;
    VerdictDepth depth = VerdictDepth::Quick;  // Quick, or Full: more of what is in directories
    std::map<std::string, std::string> stamps; // of files and directories, by their paths
    std::int64_t began_ns = 0;                 // since the epoch; 0: unknown
};
VerdictGrounds grounds_of(host::FileSystem& files, VerdictDepth depth,
                          const std::vector<std::string>& paths);

class VerdictStore {
public:
    // No more is written, nor read.
    static constexpr std::size_t k_size_limit = std::size_t{1024} * 1024;

    // `directory`/probes.json; empty: nothing is kept.
    explicit VerdictStore(std::string directory)
        : m_store(std::move(directory), "probes.json", k_size_limit) {}

    // The file as it is now, for a VerdictReader.
    [[nodiscard]] std::string text() const { return m_store.read(); }

    // VerdictReader::find of what is there now.
    std::optional<KeptVerdict> find(host::FileSystem& files, const VerdictQuestion& question,
                                    std::int64_t now) const;
    // In the place of those that it takes back. `rests_on`: the files that were loaded, or would
    // have been, and the directories that were searched. Where the grounds are not as they were
    // nothing is kept: false. A failure to write is no error. Of a store that is full the oldest
    // go.
    bool keep(host::FileSystem& files, const VerdictQuestion& question,
              const VerdictGrounds& grounds, const std::vector<std::string>& rests_on,
              const KeptVerdict& verdict) const;

    // The question and the machine as it is now, but no file of the environment.
    static std::string key(host::FileSystem& files, const VerdictQuestion& question);

private:
    PrivateStore m_store;
};

// For whoever asks more than once: the store is read once and each file looked at once.
class VerdictReader {
public:
    VerdictReader(host::FileSystem& files, const VerdictStore& store)
        : m_files(&files), m_stamps(files), m_store(store) {}

    // Which are of interest; of the others no file is looked at.
    enum class Wanted { All, NotWell };
    // The worst of those that hold. `now`: seconds since the epoch.
    std::optional<KeptVerdict> find(const VerdictQuestion& question, std::int64_t now,
                                    Wanted wanted = Wanted::All);

private:
    host::FileSystem* m_files;
    FileStamps m_stamps;
    VerdictStore m_store;
    std::optional<std::string> m_text; // once it was asked for
};

} // namespace cudaenv::probe
