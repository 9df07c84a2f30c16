// A distribution of Python's taken away by its RECORD. Law: a file goes only if it lies in the
// environment, no other package claims it, and it is what the RECORD says (or that does not tell).
#pragma once

#include "base/goes_on.hpp"
#include "base/result.hpp"
#include "check/repair/staging.hpp"
#include "solver/facts/claims.hpp"

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::repair {

using Paths = std::set<std::string, std::less<>>;

struct Uninstallation {
    std::vector<std::string> files; // without the metadata
    std::vector<std::string> metadata_files;
    std::string metadata; // its directory; empty where another package claims something in it
    std::string site;
    std::vector<std::string> left; // whose content is not the distribution's
    std::vector<std::string> outside;
};

// What would go; nothing is changed. `stays`: paths that stay whoever claims them. Errors:
// "no-record".
Result<Uninstallation> plan_uninstall(const PrefixDirectory& prefix,
                                      const facts::Inventory& inventory,
                                      const facts::Claims& claims, std::uint32_t distribution,
                                      const Paths& stays = {}, const GoesOn& wanted = {});
// In this order, so that what is interrupted can be seen and done again. The first two leave other
// packages' files in their directories; the last takes empty directories away, up to the site.
Result<void> take_files(const PrefixDirectory& prefix, Staging& staging,
                        const facts::Claims& claims, const Uninstallation& planned);
Result<void> take_shared_metadata(Staging& staging, const Uninstallation& planned);
Result<void> take_metadata(const PrefixDirectory& prefix, Staging& staging,
                           const Uninstallation& planned);

// Removes the .pyc files of a source that no package claims. Failures are ignored: they do no harm.
void remove_compiled(const PrefixDirectory& prefix, const facts::Claims& claims,
                     std::string_view source);

} // namespace cudaenv::repair
