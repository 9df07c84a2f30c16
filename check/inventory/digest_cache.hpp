// Digests of files, kept by what distinguishes one content of a file from another, so a large
// library is read once. Law: kept is only what a later change of the file would have to show in its
// identity. Best effort: a store that is missing, damaged, of another machine or not ours alone
// counts as empty.
#pragma once

#include "base/private_store.hpp"
#include "check/inventory/sha256_file.hpp"
#include "solver/facts/inventory.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cudaenv::inventory {

struct KeptDigest {
    FileIdentity file;
    std::int64_t used_at = 0; // seconds since the epoch
    facts::Sha256Digest sha256{};

    bool operator==(const KeptDigest&) const = default;
};

// The store as text; `machine`: by which name it goes. Of a text that is damaged, of another
// version or of another machine there is nothing.
std::string write_digests(const std::vector<KeptDigest>& digests, std::string_view machine);
std::optional<std::vector<KeptDigest>> read_digests(std::string_view text,
                                                    std::string_view machine);

// May be used by several threads.
class DigestCache {
public:
    // An environment with torch has some 30,000 files; 12 MB.
    static constexpr std::size_t k_most = 150'000;

    // Reads `directory`/digests; empty: nothing is kept beyond this object. `machine`: its name
    // (name_of_machine), since several may share the directory and number their devices alike.
    explicit DigestCache(std::string directory = {}, std::string machine = {});

    // `now_ns`: since the epoch.
    [[nodiscard]] std::optional<facts::Sha256Digest> find(const FileIdentity& file,
                                                          std::int64_t now_ns);
    // `read_ns`: since the epoch, before it was begun to be read. One that was changed just then is
    // not kept: another change in the same tick of the clock would leave its identity as it is.
    void keep(const FileIdentity& file, const facts::Sha256Digest& sha256, std::int64_t read_ns);
    // Writes where something was added, together with what others have written meanwhile; of more
    // than k_most those go that were not used for longest. A failure to write is no error.
    void save();

    [[nodiscard]] std::size_t size() const;

private:
    struct Hash {
        std::size_t operator()(const FileIdentity& file) const;
    };
    struct Kept {
        std::int64_t used_at = 0;
        facts::Sha256Digest sha256{};
    };

    void add(const std::vector<KeptDigest>& digests);
    std::vector<KeptDigest> keep_newest();

    PrivateStore m_store;
    std::string m_machine;
    mutable std::mutex m_guard;
    std::unordered_map<FileIdentity, Kept, Hash> m_kept;
    bool m_changed = false;
};

} // namespace cudaenv::inventory
