// Files of a conda package put back as its record has them, from a package cache. Law: what comes
// into place has the digest on record, or is a command that an installer generates from the
// package's metadata; every other file is as it was.
#pragma once

#include "base/goes_on.hpp"
#include "base/result.hpp"
#include "check/repair/staging.hpp"
#include "host/trusted/trusted_file.hpp"
#include "solver/facts/claims.hpp"

#include <string>
#include <vector>

namespace cudaenv::repair {

struct StagedFile {
    std::string path;
    std::string staged;
    bool is_new = false; // nothing lies there
};

struct CondaRestoration {
    std::vector<StagedFile> files;
    std::vector<std::string> directories;
    // What no package contains: compiled Python, and commands without an entry in metadata.
    std::vector<std::string> without_source;
    // What the package should contain, and no cache has with the digest on record.
    std::vector<std::string> missing;
};

// Makes them aside. `paths`: of which only those are made that are not as recorded. Errors: those
// of writing; a file that cannot be had is in the result.
Result<CondaRestoration> stage_conda(const PrefixDirectory& prefix, Staging& staging,
                                     const facts::CondaPackage& package,
                                     const std::vector<std::string>& paths,
                                     const std::vector<std::string>& places,
                                     const trusted::Trust& trust, const GoesOn& wanted);
Result<void> make_directories(const PrefixDirectory& prefix, const CondaRestoration& restoration);
Result<void> put_back(const PrefixDirectory& prefix, Staging& staging, const facts::Claims& claims,
                      const StagedFile& file);

} // namespace cudaenv::repair
