// The verdicts of earlier probes for each environment and kind of shell, kept between runs so that
// `status` and the prompt can tell them without asking the driver.
//
// Law: a verdict is given back only where all that it rests on is as it was before that probe: this
// boot, the loaded module and the driver's library, the GPUs and MIG instances, the environment's
// runtime libraries and what else of them could be found where they were looked for, the variables
// that change a driver's answers. What none of these shows is told for an hour. A probe that looked
// less far, or left rungs out, takes nothing back of what was found beyond; nor does one in another
// kind of shell. Files are looked at, never opened but for a few of /proc and the loader's cache.
// Best effort: a store that is missing, broken or not ours alone counts as empty.
#pragma once

#include "host/file_system.hpp"
#include "host/probe/driver_files.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::host {

// How far the probe looked. The full ladder begins with the quick one; what was built stands for
// itself and rests on more.
enum class VerdictDepth { Quick, Full, Build };
std::string_view name_of(VerdictDepth depth); // "quick", "full", "build"

struct KeptVerdict {
    std::string verdict; // "ok", "fails": plan::name_of
    std::string step;    // the first rung that failed, else the first that warns; empty: none
    std::string code;    // its
    std::string summary;
    std::int64_t at = 0; // seconds since the epoch
    VerdictDepth depth = VerdictDepth::Quick;
    // Rungs that it did not look at though it looked so far: what failed there it does not take
    // back. Not kept.
    std::vector<std::string> left_out = {};
};

// "busy", "crashed", "timeout": the next probe may well say something else.
bool is_transient(std::string_view verdict);
// As long as such a verdict is told. Then it is as if that probe had not been.
inline constexpr std::chrono::hours k_transient_life{1};

// Nor does any file show that what these found was put right: the fabric manager, nvidia_uvm,
// limits and sandboxes, permissions, the paths between GPUs. They are told for as long.
bool is_of_the_system(std::string_view code);

// For whom it holds, besides what is found out about the machine.
struct VerdictQuestion {
    std::string prefix;   // of the environment; empty: none
    std::string shell;    // the variables that change what a driver answers; kept as a fingerprint
    std::string building; // likewise, of what is built alone
    // As whoever asks has looked already; else it is looked at.
    std::optional<DriverFiles> driver = {};
};

// What a probe is about to rest on, before it is begun: what changes under it is told of nobody.
struct VerdictGrounds {
    std::string machine;
    VerdictDepth depth = VerdictDepth::Quick;  // Quick, or Full: more of what is in directories
    std::map<std::string, std::string> stamps; // of files and directories, by their paths
    std::int64_t began_ns = 0;                 // since the epoch; 0: not told
};
VerdictGrounds grounds_of(FileSystem& files, VerdictDepth depth,
                          const std::vector<std::string>& paths);

class VerdictStore {
public:
    // `directory`/probes.json; empty: nothing is kept.
    explicit VerdictStore(std::string directory) : m_directory(std::move(directory)) {}

    // The worst that holds; of several as bad as each other the newest. `now`: seconds since the
    // epoch; what was kept later than that is none.
    std::optional<KeptVerdict> find(FileSystem& files, const VerdictQuestion& question,
                                    std::int64_t now) const;
    // In the place of those that look no further; a transient one only in the place of such. That
    // all is well with what was built takes an earlier failure away and is not kept itself.
    // `rests_on`: the files that were loaded, or would have been, and the directories that were
    // searched. Where the grounds are not as they were nothing is kept: false. A failure to write
    // is no error.
    bool keep(FileSystem& files, const VerdictQuestion& question, const VerdictGrounds& grounds,
              const std::vector<std::string>& rests_on, const KeptVerdict& verdict) const;

    // The question and the machine as it is now, but no file of the environment.
    static std::string key(FileSystem& files, const VerdictQuestion& question);

private:
    std::string m_directory;
};

} // namespace cudaenv::host
