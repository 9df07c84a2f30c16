// What a program said when asked for its version, kept between runs so that a second
// examination starts no child.
#pragma once

#include "base/private_store.hpp"
#include "host/environment.hpp"
#include "host/file_system.hpp"
#include "host/process.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cudaenv::host {

// The file's identity: a package upgrade changes the inode or the time, an edit in place the time,
// and device keeps equal inodes of two file systems apart. The path is not part of it: one compiler
// under several names is asked once.
std::string version_key(const FileStatus& status);

struct KeptVersion {
    std::string version; // empty: it gave none
    std::string reason;  // why it gave none
};

class VersionCache {
public:
    // Reads `directory`/compilers.json. Empty: nothing is kept. `now` is seconds since the epoch.
    VersionCache(std::string directory, std::int64_t now);

    [[nodiscard]] std::optional<KeptVersion> find(const std::string& key) const;
    void keep(const std::string& key, KeptVersion answer);
    // For some seconds, in which one command may look more than once.
    void keep_briefly(const std::string& key, KeptVersion answer);
    // Writes by atomic replace when something was added; failure to is not an error.
    void save() const;

private:
    struct Entry {
        KeptVersion answer;
        std::int64_t at = 0;
    };
    void keep(const std::string& key, KeptVersion answer, std::int64_t at);

    PrivateStore m_store;
    std::int64_t m_now;
    std::map<std::string, Entry> m_entries;
    bool m_changed = false;
};

// Asks programs for their version: one child each at most, all at once, none for those whose answer
// is kept.
struct VersionQuestion {
    std::string program;                // absolute path
    std::vector<std::string> arguments; // behind the program
    // The version in what it printed (standard output, then standard error); empty: none.
    std::function<std::string(const std::string&)> parse;
    FileStatus status; // of the program
};

struct VersionAsker {
    ProcessRunner& processes;
    VersionCache& cache;
    const Environment& environment;
    std::chrono::milliseconds deadline{3000};

    // In the questions' order.
    [[nodiscard]] std::vector<KeptVersion> ask(const std::vector<VersionQuestion>& questions) const;
};

} // namespace cudaenv::host
