// The verdicts of earlier probes for each environment and kind of shell, kept between runs so that
// `status` and the prompt can report them without asking the driver.
//
// Law: a verdict is given back only where all that it rests on is as it was before that probe: this
// boot, the loaded module and the driver's library, the GPUs and MIG instances, the environment's
// runtime libraries and what else of them could be found where they were looked for, the variables
// that change a driver's answers. A failure that none of these shows is reported for an hour, as
// whoever judged it said (Keep, below). A machine or a kind of shell takes nothing from
// another. Files are looked at, never opened but for a few of /proc and the loader's cache. Best
// effort: a store that is missing, broken or not ours alone counts as empty.
#pragma once

#include "base/private_store.hpp"
#include "host/file_system.hpp"
#include "host/probe/driver_files.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::probe {

// The verdict of an earlier probe: how long it is reported, and what replaces it. Pure.
//
// Law: a probe that went less far, or skipped rungs, replaces no result beyond that depth or of
// those rungs. A temporary verdict hides no lasting one. A test checks every cell of the tables in
// docs/probe.md.

// How far the probe went. The full ladder includes the quick one. A build is independent of both,
// and depends on more.
enum class VerdictDepth { Quick, Full, Build };
std::string_view name_of(VerdictDepth depth); // "quick", "full", "build"

struct KeptVerdict {
    std::string verdict; // "ok", "fails": judge::name_of
    std::string step;    // the first rung that failed, else the first that warns; empty: none
    std::string code;    // its
    std::string summary;
    std::int64_t at = 0; // seconds since the epoch
    VerdictDepth depth = VerdictDepth::Quick;
    // Rungs that it skipped though it reached that depth: an earlier failure there stays. Not
    // saved.
    std::vector<std::string> left_out = {};
    // No file shows that its failure was repaired (judge::JudgedStep::of_the_moment).
    bool of_the_moment = false;
};

// "busy", "crashed", "timeout": the next probe may say something else.
bool is_transient(std::string_view verdict);
// "ok" and "warns".
bool is_well(const KeptVerdict& verdict);
// It is reported for an hour, and then ignored.
bool passes(const KeptVerdict& verdict);
inline constexpr std::chrono::hours k_transient_life{1};

// At that time, in seconds since the epoch: in the future (a clock was set back), or expired.
bool is_out_of_time(const KeptVerdict& verdict, std::int64_t now);
// Of the same environment and shell: `verdict` replaces `earlier`.
bool replaces(const KeptVerdict& verdict, const KeptVerdict& earlier);
// A good verdict of a build says nothing about the ladder: it only deletes a stored failure.
bool is_worth_keeping(const KeptVerdict& verdict);
// Of two that hold: `verdict` is reported rather than `other`: the worse one; of two equal ones the
// newer.
bool is_worse_than(const KeptVerdict& verdict, const KeptVerdict& other);

// How the files are that a verdict rests on, in short texts that are compared with themselves from
// one run to the next.
//
// Law: files are looked at, never opened but the loader's cache; each once, whoever asks.
class FileStamps {
public:
    // For as long as what was seen is to be believed: one question, or one probe's begin.
    explicit FileStamps(host::FileSystem& files) : m_files(&files) {}

    // Size and time; a package's upgrade changes one of them. Of a directory, and of the loader's
    // cache, the names that a probe so deep may load: what else is there changes with every
    // package.
    std::string of(const std::string& path, VerdictDepth depth);

private:
    struct Look {
        std::string stamp; // empty: that of the names
        std::vector<std::string> names;
        bool all = false; // names of whatever kind count
    };
    const Look& look(const std::string& path);

    host::FileSystem* m_files;
    std::map<std::string, Look> m_looks;
};

// Of a stamp: it depends on how deep the probe looks.
bool is_of_names(std::string_view stamp);

// The machine as every verdict rests on it: this boot, the loaded module, libcuda, GPUs and MIG
// instances. Law: a few files of /proc are read, the rest is looked at.

// `looked_at`: as whoever asks has seen the driver already.
std::string machine_stamp(host::FileSystem& files,
                          const std::optional<DriverFiles>& looked_at = {});

// /dev/nvidia0 and the like: a container has those that it was given, /proc shows all. Not among
// what a probe's grounds are, since the driver may make them for it.
std::string devices_stamp(host::FileSystem& files);

// Whose entries are this machine's where several share a home: its host name. /etc/machine-id is
// the image's in containers, one for all nodes that run it; a name that each container has for
// itself costs an entry, which goes when the store is full.
std::string name_of_machine(host::FileSystem& files);

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
