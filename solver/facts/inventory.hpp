// What the records of an environment say that it holds: conda's (conda-meta) and Python's
// (dist-info, egg-info, egg-link), each with the files that it claims. Pure data, and nothing of it
// judged: whether a claimed file is there, and is what the record says, is not known here. Law: a
// path is bytes, relative to the prefix without a leading "./", or absolute where a record leads
// out of the prefix. It need not be UTF-8.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudaenv::facts {

using Sha256Digest = std::array<std::uint8_t, 32>;

enum class ClaimKind : std::uint8_t { File, Softlink, Directory };

// Sha256: it is in `sha256`. Other: another algorithm (or damaged), FileClaims::other_hash has it.
enum class ClaimHash : std::uint8_t { None, Sha256, Other };

// One file as a record has it; its path is FileClaims::path.
struct FileClaim {
    static constexpr std::uint64_t k_no_size = ~std::uint64_t{0};

    // Of a file whose prefix was replaced, conda's record has the size before, rattler's after.
    std::uint64_t size = k_no_size;
    // conda: sha256_in_prefix, else sha256. Of a softlink, rattler writes that of the link's text.
    Sha256Digest sha256{};
    ClaimKind kind = ClaimKind::File;
    ClaimHash hash = ClaimHash::None;
    bool prefix_replaced = false; // conda's: the build's prefix was replaced in it
    std::uint32_t path_at = 0;    // FileClaims' own
    std::uint32_t path_size = 0;
};

// The files of one record, in its order, a path that it has twice twice. 56 bytes a file and the
// path itself: 60,000 files are 7 MB.
class FileClaims {
public:
    // False where no more paths fit, at 4 GiB of them: no real record comes near.
    bool add(std::string_view path, FileClaim claim, std::string_view other_hash = {}) {
        if (path.size() > k_most_bytes - m_text.size()) {
            return false;
        }
        claim.path_at = static_cast<std::uint32_t>(m_text.size());
        claim.path_size = static_cast<std::uint32_t>(path.size());
        m_text += path;
        if (claim.hash == ClaimHash::Other) {
            m_other_hashes.emplace_back(m_files.size(), other_hash);
        }
        m_files.push_back(claim);
        return true;
    }
    void reserve(std::size_t files, std::size_t bytes_of_paths) {
        m_files.reserve(files);
        m_text.reserve(bytes_of_paths);
    }
    void shrink_to_fit() {
        m_files.shrink_to_fit();
        m_text.shrink_to_fit();
    }

    [[nodiscard]] std::size_t size() const { return m_files.size(); }
    [[nodiscard]] bool empty() const { return m_files.empty(); }
    [[nodiscard]] const FileClaim& operator[](std::size_t index) const { return m_files[index]; }
    [[nodiscard]] auto begin() const { return m_files.begin(); }
    [[nodiscard]] auto end() const { return m_files.end(); }
    // Valid until the next add().
    [[nodiscard]] std::string_view path(const FileClaim& claim) const {
        return std::string_view(m_text).substr(claim.path_at, claim.path_size);
    }
    [[nodiscard]] std::string_view path(std::size_t index) const { return path(m_files[index]); }
    // "sha512=..." as the record has it; empty for a claim whose hash is not Other.
    [[nodiscard]] std::string_view other_hash(std::size_t index) const {
        const auto found = std::ranges::lower_bound(m_other_hashes, index, {},
                                                    [](const auto& one) { return one.first; });
        return found != m_other_hashes.end() && found->first == index
                   ? std::string_view(found->second)
                   : std::string_view();
    }
    // What it takes, allocations included.
    [[nodiscard]] std::size_t bytes() const {
        return m_files.capacity() * sizeof(FileClaim) + m_text.capacity();
    }

private:
    static constexpr std::size_t k_most_bytes = ~std::uint32_t{0};

    std::vector<FileClaim> m_files;
    std::string m_text; // all paths, one after the other
    std::vector<std::pair<std::size_t, std::string>> m_other_hashes; // by index
};

// One record of conda-meta/.
struct CondaPackage {
    std::string name;
    std::string version;
    std::string build;
    std::string channel; // without passwords and tokens
    std::vector<std::string> depends;
    std::string record;          // conda-meta/NAME-VERSION-BUILD.json
    std::string extracted;       // where it was linked from, in a package cache; empty: not known
    std::int64_t written_ns = 0; // since the epoch: when the record was
    // Since the epoch: its files were there by then. The earliest of the times that tell: one of
    // them is late where a record was written again or linked once more, and early in a copy.
    std::int64_t laid_down_ns = 0;
    FileClaims files;
};

enum class DistributionKind {
    DistInfo,
    EggInfoDirectory,
    EggInfoFile,
    EggLink, // setup.py develop: the metadata lies beside the source
    // setup.py install, where a .pth names it: without that Python does not see it. The whole is
    // one directory or zip, which is its `metadata` and its `site`; no list of its files is in it.
    EggDirectory,
    EggFile,
};

// direct_url.json: where a distribution came from that did not come from an index.
struct DirectUrl {
    std::string url; // as text, without user, password, token and query
    bool editable = false;
    std::string vcs; // "git"; empty: not from a repository
    std::string commit;
    std::string archive_hash;    // "sha256=..."
    std::string local_directory; // absolute; of a file: URL only
};

// One distribution as Python's importlib.metadata has it.
struct Distribution {
    std::string name;    // PEP 503: lower case, one '-' for every run of '-', '_' and '.'
    std::string written; // as its metadata has it, else as the name of its metadata
    std::string version;
    std::string installer; // INSTALLER, trimmed: "pip", "uv", "conda"; may be empty
    std::string metadata;  // the directory or file; absolute of one in a base
    DistributionKind kind = DistributionKind::DistInfo;
    std::string site; // the directory that Python imports it from
    std::optional<DirectUrl> direct_url;
    std::vector<std::string> requires_dist; // as Requires-Dist has it
    bool requested = false;                 // asked for by name, not for another's sake
    bool has_metadata = false;              // METADATA or PKG-INFO is there
    bool has_record = false;                // RECORD or installed-files.txt is there
    std::vector<std::string> tags;          // WHEEL: "cp311-cp311-linux_x86_64"
    std::string generator;                  // WHEEL: "bdist_wheel (0.41.2)"
    std::string source_directory;           // of an egg-link: where the source is
    std::int64_t installed_ns = 0;   // since the epoch: when RECORD was written, else METADATA
    std::int64_t laid_down_ns = 0;   // as CondaPackage::laid_down_ns
    std::uint32_t damaged_lines = 0; // of RECORD
    FileClaims files;
};

enum class LeftoverKind {
    InterruptedUninstall, // pip moves what it takes away to "~ame" first, and was killed
    NoMetadata,           // a dist-info without METADATA
    NoRecord,             // a dist-info without RECORD
    InterruptedConda,     // conda's record, moved aside by a conda that was killed
};

// What may be left of an install or uninstall that did not come to its end. Not of every one: some
// of conda's and Debian's packages have never had a RECORD.
struct Leftover {
    LeftoverKind kind = LeftoverKind::InterruptedUninstall;
    std::string path;
    std::string name; // PEP 503, or conda's, of what it was; empty: not known
    std::string version;
};

// A .pth file that leads to source elsewhere: easy-install.pth, __editable__.NAME-VERSION.pth.
struct PathFile {
    std::string path;
    std::vector<std::string> directories; // absolute, as Python would add them
    std::vector<std::string> finders;     // modules of editable installs that it imports
};

// A package that imports, without a condition, what no distribution of that name is here for.
struct FailingImport {
    std::uint32_t distribution = 0; // of Inventory::distributions
    std::string requirement;        // PEP 503: "python-dateutil"
    std::string module;             // "dateutil"
    std::string path;               // of the file that imports it
    unsigned line = 0;
};

// What could not be read, whole or in part.
struct InventoryNote {
    std::string path;
    std::string reason;   // "permission denied"
    bool damaged = false; // read, and not a record
    // A directory that has or may have records: which, is not known.
    bool hides_records = false;
};

struct Inventory {
    std::string prefix;                // absolute
    bool conda_prefix = false;         // conda-meta/ is there
    std::string python = "bin/python"; // relative to the prefix; a system has python3 alone
    // Directories that Python imports from, in the order it looks; behind each those of its eggs
    // that are directories.
    std::vector<std::string> sites;
    std::vector<CondaPackage> conda;         // by record
    std::vector<Distribution> distributions; // by site, then by metadata
    std::vector<Leftover> leftovers;         // by path
    std::vector<PathFile> path_files;        // by path
    std::vector<InventoryNote> notes;        // by path
    // Of a virtual environment that sees the packages of the Python it was made with: those that it
    // has not itself, in the order of their sites. They belong to another environment: their files
    // are not listed.
    std::vector<std::string> base_sites; // absolute
    std::vector<Distribution> base;
};

} // namespace cudaenv::facts
