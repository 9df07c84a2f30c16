// The index of one repodata file, kept in a file between runs.
//
// Law: what is read back is used only if it is a regular file of this very user that no other user
// may write, made for exactly this state of the repodata file, and whole (magic, version,
// checksums, bounds); anything else counts as absent. Files appear by rename, so a reader sees an
// old one or a new one.
//
// Layout: a header, where the repodata was compressed its decompressed text, the tables of
// RecordIndex.
#pragma once

#include "base/fd.hpp"
#include "base/file_identity.hpp"
#include "base/temporary_file.hpp"
#include "host/channels/record_index.hpp"

#include <memory>
#include <optional>
#include <string>

namespace cudaenv::channels {

struct Unmap {
    std::size_t size = 0;
    void operator()(void* base) const;
};

// Memory-mapped bytes.
class Mapping {
public:
    // `offset` need not be at a page. None where the system refuses.
    static std::optional<Mapping> of(int fd, std::uint64_t offset, std::size_t size);
    [[nodiscard]] std::span<const char> bytes() const { return m_bytes; }

private:
    std::unique_ptr<void, Unmap> m_base;
    std::span<const char> m_bytes;
};

struct CachedIndex {
    Mapping tables;
    RecordIndex index;             // over `tables`
    Fd file;                       // of the cache file
    std::uint64_t text_offset = 0; // of the decompressed text in it; 0: it holds none
};

class IndexCache {
public:
    // `directory` is made when the first file is written. Empty: nothing is kept.
    explicit IndexCache(std::string directory) : m_directory(std::move(directory)) {}

    [[nodiscard]] bool enabled() const { return !m_directory.empty(); }
    // `repodata_path` with symlinks resolved. None: not there, not for this state, or not to be
    // trusted.
    [[nodiscard]] std::optional<CachedIndex> load(const std::string& repodata_path,
                                                  const FileIdentity& stamp) const;

    // A file being written; unless `commit` is called it is removed again.
    class Draft {
    public:
        explicit Draft(TemporaryFile file) : m_file(std::move(file)) {}
        [[nodiscard]] int fd() const { return m_file.fd(); }
        [[nodiscard]] static std::uint64_t text_offset(); // where its text begins, if it has one
        // Writes tables and header and makes it visible. False: could not; the next run tries
        // again.
        bool commit(const FileIdentity& stamp, const IndexBuilder::Tables& tables, bool with_text);
        [[nodiscard]] Fd take_file() { return m_file.take_fd(); }

    private:
        TemporaryFile m_file;
    };
    // None where the directory cannot be written.
    [[nodiscard]] std::optional<Draft> begin(const std::string& repodata_path) const;

    // Where the index of a repodata file is kept.
    [[nodiscard]] std::string file_for(const std::string& repodata_path) const;

private:
    std::string m_directory;
};

// The tables and where the text lies, of a cache file's bytes: what `load` does after it has the
// file. For tests and fuzzing too.
struct CacheLayout {
    IndexShape shape;
    std::uint64_t text_offset = 0;
    std::uint64_t tables_offset = 0;
};
inline constexpr std::size_t k_cache_header_size = 104;
std::optional<CacheLayout> read_cache_header(std::span<const char> header, std::uint64_t file_size,
                                             const FileIdentity& stamp);
bool tables_are_whole(std::span<const char> header, std::span<const char> tables);
std::string cache_header(const FileIdentity& stamp, const IndexBuilder::Tables& tables,
                         bool with_text);

} // namespace cudaenv::channels
