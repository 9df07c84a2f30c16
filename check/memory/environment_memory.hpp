// What is remembered of an environment from one examination to the next, because nothing in the
// environment shows it afterwards: what was built there before a wheel replaced it, and which
// findings a prompt has already shown. Law: losing it (see PrivateStore) costs a line shown twice
// or a missing finding, never a wrong one.
#pragma once

#include "base/private_store.hpp"
#include "solver/facts/seen_distribution.hpp"

#include <string>
#include <vector>

namespace cudaenv::memory {

// A finding worth a line, as it was found.
struct UnsaidFinding {
    std::string key; // the same for as long as the finding is there
    std::string code;
    std::string line;
};

// One that the user accepted: it is not reported again for as long as it is the same.
struct AcceptedFinding {
    std::string key; // as UnsaidFinding
    std::string code;
    std::string subject;
};

struct EnvironmentMemory {
    // How the directories of records were at that look; empty: there was none.
    std::string stamp;
    std::vector<facts::SeenDistribution> seen; // by name
    std::vector<std::string> reported;         // keys of what a prompt has said and is still there
    std::vector<UnsaidFinding> unsaid;         // what none has said yet, the worst first
    std::vector<AcceptedFinding> accepted;     // in the order of `check --accept`
};

class EnvironmentMemories {
public:
    // No more is written, nor read: an environment of a thousand distributions takes some 200 KB.
    static constexpr std::size_t k_size_limit = std::size_t{4} * 1024 * 1024;

    // `directory`/environments/, a file for each; empty: nothing is remembered.
    explicit EnvironmentMemories(std::string directory) : m_directory(std::move(directory)) {}

    // `prefix`: absolute, by whichever way it is reached. Nothing of an environment that was there
    // before this one.
    [[nodiscard]] EnvironmentMemory read(const std::string& prefix) const;
    // False where it cannot be written: findings that are shown once are then not shown.
    bool write(const std::string& prefix, const EnvironmentMemory& memory) const;
    [[nodiscard]] const std::string& directory() const { return m_directory; }

private:
    [[nodiscard]] PrivateStore store_of(const std::string& prefix) const;

    std::string m_directory;
};

} // namespace cudaenv::memory
