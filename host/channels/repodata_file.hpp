// One repodata.json or repodata.json.zst on disk, opened for looking names up.
//
// Law: opening reads the whole file once (or a valid index kept from an earlier run) and refuses it
// if any record is wrong; look-ups read only what they return. A file that is rewritten in place
// meanwhile gives an error or the new state, never a crash: texts are read, not mapped.
#pragma once

#include "base/result.hpp"
#include "host/channels/index_cache.hpp"
#include "host/channels/record_text.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::channels {

class RepodataFile {
public:
    struct Options {
        std::string cache_directory; // empty: nothing is kept
        std::uint64_t largest_text = 0xFFFFFFFFU;
    };

    // `path` ending in .zst is decompressed. Errors: "bad-repodata" with line and column,
    // "bad-zstd", "cannot-read". `default_subdir` where neither the record nor the file names one.
    static Result<std::unique_ptr<RepodataFile>> open(const std::string& path, RecordOrigin origin,
                                                      const Options& options);

    // Appends; a .tar.bz2 whose .conda is there too is left out.
    Result<void> records_of(std::string_view name, std::vector<specs::PackageRecord>& out) const;
    [[nodiscard]] bool has(std::string_view name) const;
    [[nodiscard]] std::vector<std::string> names() const; // ascending
    // Whether the index came from the cache: for tests and benchmarks.
    [[nodiscard]] bool from_cache() const;

private:
    // An index and the text it points into.
    struct Loaded {
        Fd text;
        std::uint64_t text_offset = 0;
        Mapping mapped;
        std::vector<char> owned;
        RecordIndex index;
        bool cached = false;
    };

    RepodataFile(std::string path, RecordOrigin origin, const Options& options);

    Result<std::shared_ptr<const Loaded>> load() const;
    Result<std::shared_ptr<const Loaded>> scan(Fd file, const std::string& real_path,
                                               const FileIdentity& stamp) const;
    Result<std::shared_ptr<const Loaded>> scan_plain(Fd file, const std::string& real_path,
                                                     const FileIdentity& stamp) const;
    Result<std::shared_ptr<const Loaded>> scan_compressed(Fd file, const std::string& real_path,
                                                          const FileIdentity& stamp,
                                                          bool text_in_cache) const;
    Result<void> decode(const Loaded& loaded, std::string_view name,
                        std::vector<specs::PackageRecord>& out) const;
    std::shared_ptr<const Loaded> loaded() const;
    void use(std::shared_ptr<const Loaded> fresh) const;
    RecordOrigin origin_of(const Loaded& loaded) const;

    std::string m_path;
    RecordOrigin m_origin;
    IndexCache m_cache;
    std::uint64_t m_largest_text;
    bool m_compressed;
    mutable std::mutex m_lock; // guards the pointer, not what it points at
    mutable std::shared_ptr<const Loaded> m_loaded;
};

// A zstd-compressed file, decompressed window by window.

// Gets each decompressed window; false stops the work.
using WindowSink = std::function<bool(std::span<const char>)>;

enum class StreamEnd { Whole, Stopped };

// Reads `fd` from its beginning. `largest` bounds the decompressed text. Errors: "bad-zstd"
// (damaged, truncated, or a text that is only big: see the .cpp), "cannot-read". Memory: two
// windows and zstd's own, at most 128 MiB.
Result<StreamEnd> decompress(int fd, std::uint64_t largest, const WindowSink& sink);

} // namespace cudaenv::channels
