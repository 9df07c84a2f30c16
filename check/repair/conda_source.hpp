// One conda package as it lies extracted in a cache: which of its files becomes which of an
// environment's.
#pragma once

#include "base/fd.hpp"
#include "base/goes_on.hpp"
#include "base/result.hpp"
#include "host/environment.hpp"
#include "host/trusted/trusted_file.hpp"
#include "solver/facts/inventory.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// What conda does to files that have the build's prefix in them. Pure text. Law: who uses the
// result compares its digest with that on record, so a rule that some installer has otherwise costs
// a file that is not put back, never a wrong one.

// Every `placeholder` becomes `prefix`. A first line that the kernel would not read then (longer
// than 127 bytes, or a prefix with a blank) becomes `#!/usr/bin/env PROGRAM ARGUMENTS`.
std::string with_prefix_in_text(std::string_view content, std::string_view placeholder,
                                std::string_view prefix);
// In each string that ends in a NUL; what it loses in length is NULs at its end, so that nothing
// behind it moves. None where the prefix is longer than the placeholder.
std::optional<std::string> with_prefix_in_binary(std::string_view content,
                                                 std::string_view placeholder,
                                                 std::string_view prefix);

// Commands of a noarch Python package, which no file of the package holds: an installer makes them
// of a line of metadata. Pure text.

// info/link.json: "pip" -> "pip._internal.cli.main:main". Nothing of one that cannot be read.
std::map<std::string, std::string> read_entry_points(const std::string& link_json);

// A program that calls it. `python`: absolute. None where `target` is no MODULE:FUNCTION.
std::optional<std::string> entry_point_script(std::string_view python, std::string_view target);

// Where conda, mamba, rattler and pixi keep packages extracted, from which an environment's files
// were linked.

// Directories that hold NAME-VERSION-BUILD/, in the order to look: those that variables name, those
// of the installs of this machine and of the environment's own root, those below the home. Whether
// they are there is not looked at.
std::vector<std::string> package_caches(const host::Environment& environment,
                                        const std::string& home, const std::string& prefix);

// Where the package may be, the place on its record first.
std::vector<std::string> extracted_places(const facts::CondaPackage& package,
                                          const std::vector<std::string>& caches);

} // namespace cudaenv::repair
