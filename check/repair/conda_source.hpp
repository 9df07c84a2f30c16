// One conda package as it lies extracted in a cache: which of its files becomes which of an
// environment's.
#pragma once

#include "base/fd.hpp"
#include "base/goes_on.hpp"
#include "base/result.hpp"
#include "host/trusted/trusted_file.hpp"
#include "solver/facts/inventory.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::repair {

enum class PrefixMode { Text, Binary };

struct PackagedFile {
    std::string placeholder; // empty: the prefix is not in it
    PrefixMode mode = PrefixMode::Text;
};

// info/paths.json, by path; nothing of one that cannot be read.
std::map<std::string, PackagedFile> read_paths_json(const std::string& text);
// info/has_prefix of packages older than that: PLACEHOLDER MODE PATH, or a path alone.
std::map<std::string, PackagedFile> read_has_prefix(std::string_view text);
// Where the file of an environment may lie in its package: as it is, and, of Python packages for
// every Python, site-packages/ and python-scripts/.
std::vector<std::string> packaged_names(std::string_view path);

class CondaSource {
public:
    // Content without a digest on record (links, the list of commands) is accepted only from owners
    // that `trust` names.
    static std::optional<CondaSource> open(const std::string& directory,
                                           const trusted::Trust& trust);

    // Makes the file, or link, as it is in `prefix`; nothing is left of one that cannot be made.
    // Whether a file is what the record says is for the caller to see. False: the package has no
    // such file.
    [[nodiscard]] Result<bool> stage(const std::string& path, const std::string& prefix, int into,
                                     const std::string& name, const GoesOn& wanted = {}) const;

    // What the command of that name calls, "MODULE:FUNCTION", of a noarch Python package.
    [[nodiscard]] std::optional<std::string> entry_point(const std::string& command) const;

private:
    Fd m_fd;
    trusted::Trust m_trust;
    std::map<std::string, PackagedFile> m_files;
    std::map<std::string, std::string> m_entry_points;
};

} // namespace cudaenv::repair
