// One record of an environment as it lies on disk, conda's or Python's, made into facts. Law: what
// cannot be read is a note with its path, and whatever else is known of the record stays.
#pragma once

#include "check/inventory/claimed_path.hpp"
#include "check/inventory/conda_meta.hpp"
#include "check/inventory/open_files.hpp"
#include "check/inventory/record_text.hpp"
#include "check/inventory/sha256_file.hpp"
#include "solver/facts/inventory.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::inventory {

inline constexpr std::size_t k_longest_small_file = std::size_t{64} << 10U;
inline constexpr std::size_t k_longest_path_file = std::size_t{1} << 20U; // easy-install.pth

// Tilde: what pip has moved out of the way.
enum class RecordKind { Conda, DistInfo, EggInfo, EggLink, Egg, PathFile, Tilde };

// Of a name in a directory that Python imports from; absent if it is not a record. An egg is one
// only where a .pth names it.
std::optional<inventory::RecordKind> kind_in_site(std::string_view name);

// A directory that has records, open while they are read.
struct RecordPlace {
    std::string path; // as the inventory has it
    OpenDirectory open;
    bool of_base = false; // of the Python that a virtual environment was made with
};

struct ReadRecord {
    std::optional<facts::CondaPackage> conda;
    std::optional<facts::Distribution> distribution;
    std::optional<facts::PathFile> path_file;
    std::vector<facts::Leftover> leftovers;
    std::vector<facts::InventoryNote> notes;
};

// Of all that read() would read of it, and of those that it would miss; what is the same again has
// the same content. Empty where that is unknown. `now_ns`: since the epoch.
std::vector<FileIdentity> stamps_of(RecordKind kind, const RecordPlace& place,
                                    const std::string& name, std::int64_t now_ns);

// One for each thread: it keeps its memory.
class RecordReader {
public:
    explicit RecordReader(ClaimedPaths paths) : m_paths(std::move(paths)) {}

    ReadRecord read(RecordKind kind, const RecordPlace& place, const std::string& name);

private:
    friend struct RecordKindRow; // which of the readers below is whose

    void note(const std::string& path, std::string reason);
    void note(const std::string& path, const Error& error);
    std::optional<inventory::FileText> text_of(const OpenDirectory& in, const std::string& name,
                                               const std::string& path, std::size_t limit,
                                               bool* is_there = nullptr);
    std::optional<inventory::FileText> headers_of(const OpenDirectory& in, const std::string& name,
                                                  const std::string& path,
                                                  bool* is_there = nullptr);
    std::optional<inventory::FileText> taken(Result<FileText> text, const std::string& path,
                                             bool* is_there);

    void read_conda_record(const std::string& name, const std::string& path);
    facts::Distribution& begin_distribution(facts::DistributionKind kind, const std::string& path);
    void take_files(facts::Distribution& distribution, RecordText record, const std::string& path);
    void read_dist_info(const std::string& name, const std::string& path);
    void read_direct_url(facts::Distribution& distribution, const OpenDirectory& in,
                         const std::string& path);
    void read_egg_info(const std::string& name, const std::string& path);
    void read_egg_directory(facts::Distribution& distribution, const OpenDirectory& in,
                            const std::string& path);
    void read_egg_link(const std::string& name, const std::string& path);
    void read_egg(const std::string& name, const std::string& path);
    void read_path_file(const std::string& name, const std::string& path);
    void read_tilde(const std::string& name, const std::string& path);

    const RecordPlace* m_place = nullptr; // of the record that is being read
    ClaimedPaths m_paths;
    FileTexts m_files;
    CondaMetaReader m_conda_meta;
    ReadRecord m_record;
};

// With what every kind of record is made into facts.

// By when a record says that its files were there: the earliest of its own times and `other_ns`.
// Any of them may be late (somebody touched the directory, linked the file once more, copied it).
std::int64_t laid_down_by(const FileText& record, std::int64_t other_ns);
// What is empty is not taken.
void take_name(facts::Distribution& distribution, std::string name, std::string version);
// Of METADATA or PKG-INFO.
void take_metadata(facts::Distribution& distribution, std::string_view text);

} // namespace cudaenv::inventory
