#include "check/repair/uninstall.hpp"

#include "base/directory_names.hpp"
#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "check/repair/file_copy.hpp"
#include "check/repair/repair_case.hpp"
#include "check/rules/ownership.hpp"
#include "host/file_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace cudaenv::repair {

namespace {

bool is_below(std::string_view path, std::string_view directory) {
    return path.size() > directory.size() && path.starts_with(directory) &&
           path[directory.size()] == '/';
}

// What makes the environment one: no distribution's, whatever a record says.
bool is_environments(std::string_view path) {
    if (path == "pyvenv.cfg" || is_below(path, "conda-meta")) {
        return true;
    }
    constexpr std::string_view k_bin = "bin/";
    const auto name = path.starts_with(k_bin) ? path.substr(k_bin.size()) : std::string_view();
    return name.starts_with("python") || name.starts_with("activate");
}

class Planning {
public:
    Planning(const PrefixDirectory& prefix, const facts::Inventory& inventory,
             const facts::Claims& claims, std::uint32_t distribution, const Paths& stays,
             const GoesOn& wanted)
        : m_prefix(&prefix), m_claims(&claims), m_distribution(distribution), m_stays(&stays),
          m_wanted(&wanted), m_one(&inventory.distributions[distribution]),
          m_has_digests(std::ranges::any_of(m_one->files, [](const auto& file) {
              return file.hash != facts::ClaimHash::None;
          })) {}

    Uninstallation make() {
        for (const auto& file : m_one->files) {
            consider(std::string(m_one->files.path(file)), file);
        }
        m_planned.site = m_one->site;
        finish_metadata();
        for (auto* paths :
             {&m_planned.files, &m_planned.metadata_files, &m_planned.left, &m_planned.outside}) {
            sort_unique(*paths);
        }
        return std::move(m_planned);
    }

private:
    [[nodiscard]] bool stays(const std::string& path) const {
        const auto claimed = m_claims->of(path);
        return m_stays->contains(path) ||
               std::ranges::any_of(claimed, [&](const facts::Claim& claim) {
                   return claim.by == facts::Claim::By::Conda || claim.package != m_distribution;
               });
    }

    void consider(const std::string& path, const facts::FileClaim& claim) {
        if (!is_inner_path(path)) {
            m_planned.outside.push_back(path);
            return;
        }
        if (stays(path)) {
            return;
        }
        const auto place = m_prefix->place(path);
        if (!place) {
            if (place.error().code == "outside") {
                m_planned.outside.push_back(path);
            }
            return; // there is nothing, else
        }
        const auto status = place->status();
        if (!status || S_ISDIR(status->st_mode)) {
            return;
        }
        if (!is_own(path, claim, *place, *status)) {
            m_planned.left.push_back(path);
            return;
        }
        (is_below(path, m_one->metadata) ? m_planned.metadata_files : m_planned.files)
            .push_back(path);
    }

    [[nodiscard]] bool is_own(const std::string& path, const facts::FileClaim& claim,
                              const Place& place, const struct stat& status) const {
        const bool is_file = S_ISREG(status.st_mode) || S_ISLNK(status.st_mode);
        if (is_environments(path)) {
            return false;
        }
        if (rules::is_ordinary_difference(path) || claim.hash == facts::ClaimHash::Other) {
            return is_file;
        }
        if (claim.hash == facts::ClaimHash::None) {
            // Installers give each file a digest but those that may change; old lists give none.
            return is_file && (!m_has_digests || is_below(path, m_one->metadata));
        }
        if (S_ISREG(status.st_mode)) {
            const auto digest = digest_of(place.directory.get(), place.name, *m_wanted);
            return digest && *digest == claim.sha256;
        }
        // uv can link into its cache; a link of the user's own leads to something else.
        if (S_ISLNK(status.st_mode)) {
            const Fd target(
                ::openat(place.directory.get(), place.name.c_str(), O_PATH | O_CLOEXEC));
            if (!target) {
                return errno == ENOENT; // it leads to nothing any more
            }
            const auto real = read_link(AT_FDCWD, "/proc/self/fd/" + std::to_string(target.get()));
            const auto digest = real ? digest_of(AT_FDCWD, *real, *m_wanted)
                                     : Result<facts::Sha256Digest>(facts::Sha256Digest{});
            return real && digest && *digest == claim.sha256;
        }
        return false;
    }

    // What installers put beside the records goes as well, but not what is somebody else's.
    void finish_metadata() {
        const auto place = m_prefix->place(m_one->metadata);
        const auto status = place ? place->status() : std::nullopt;
        if (!status) {
            return;
        }
        if (!S_ISDIR(status->st_mode)) {
            if (!stays(m_one->metadata)) {
                m_planned.metadata_files.push_back(m_one->metadata);
            }
            return;
        }
        bool shared = std::any_of(m_stays->begin(), m_stays->end(), [&](const std::string& path) {
            return is_below(path, m_one->metadata);
        });
        m_claims->for_each_path([&](std::string_view path, std::span<const facts::Claim> by) {
            shared = shared || (is_below(path, m_one->metadata) &&
                                std::ranges::any_of(by, [&](const facts::Claim& claim) {
                                    return claim.by == facts::Claim::By::Conda ||
                                           claim.package != m_distribution;
                                }));
        });
        if (!shared) {
            m_planned.metadata = m_one->metadata;
            m_planned.metadata_files.clear();
            m_planned.left.erase(
                std::remove_if(m_planned.left.begin(), m_planned.left.end(),
                               [&](const auto& path) { return is_below(path, m_one->metadata); }),
                m_planned.left.end());
            return;
        }
        const auto names = names_in(m_prefix->path() + '/' + m_one->metadata);
        for (const std::string& name : names.value_or(std::vector<std::string>())) {
            const std::string path = m_one->metadata + '/' + name;
            const auto one = m_prefix->place(path);
            const auto found = one ? one->status() : std::nullopt;
            if (found && !S_ISDIR(found->st_mode) && !stays(path) &&
                rules::is_ordinary_difference(path)) {
                m_planned.metadata_files.push_back(path);
            }
        }
    }

    const PrefixDirectory* m_prefix;
    const facts::Claims* m_claims;
    std::uint32_t m_distribution;
    const Paths* m_stays;
    const GoesOn* m_wanted;
    const facts::Distribution* m_one;
    bool m_has_digests; // any of its files
    Uninstallation m_planned;
};

// Files of the conda packages that the same finding restores, which are neither as conda has them
// nor, by the RECORD, the distribution's: they would stay as they are while the metadata says
// otherwise.
std::vector<std::string> unlike_both(const Preparation& with) {
    std::vector<std::string> unlike;
    for (const RepairStep& other : with.steps) {
        const auto* restore = std::get_if<rules::RestoreConda>(&other.repair);
        if (restore == nullptr || !share_a_finding(with.step, other)) {
            continue;
        }
        const auto& back = restore->files;
        const auto& files = with.inventory.conda[restore->package].files;
        for (const auto& file : files) {
            const std::string path(files.path(file));
            if (file.hash != facts::ClaimHash::Sha256 || rules::is_ordinary_difference(path) ||
                is_one_of(path, back)) {
                continue;
            }
            const auto place = with.prefix.place(path);
            const auto digest = place ? digest_of(place->directory.get(), place->name, with.wanted)
                                      : Result<facts::Sha256Digest>(file.sha256);
            if (digest && *digest != file.sha256) {
                unlike.push_back(path);
            }
        }
    }
    return unlike;
}

} // namespace

Result<Uninstallation> plan_uninstall(const PrefixDirectory& prefix,
                                      const facts::Inventory& inventory,
                                      const facts::Claims& claims, std::uint32_t distribution,
                                      const Paths& stays, const GoesOn& wanted) {
    const facts::Distribution& one = inventory.distributions[distribution];
    if (!one.has_record) {
        return unavailable("no-record",
                           printable(one.written) + " has no RECORD: its files are unknown");
    }
    if (const auto place = prefix.place(one.metadata); !place) {
        return tl::unexpected(place.error());
    }
    return Planning(prefix, inventory, claims, distribution, stays, wanted).make();
}

Result<void> take_files(const PrefixDirectory& prefix, Staging& staging,
                        const facts::Claims& claims, const Uninstallation& planned) {
    for (const std::string& path : planned.files) {
        CUDAENV_TRY_VOID(staging.take_away(path));
        remove_compiled(prefix, claims, path);
    }
    return {};
}

Result<void> take_shared_metadata(Staging& staging, const Uninstallation& planned) {
    for (const std::string& path : planned.metadata_files) {
        CUDAENV_TRY_VOID(staging.take_away(path));
    }
    return {};
}

Result<void> take_metadata(const PrefixDirectory& prefix, Staging& staging,
                           const Uninstallation& planned) {
    if (!planned.metadata.empty()) {
        CUDAENV_TRY_VOID(staging.take_away(planned.metadata));
    }
    Paths directories;
    for (const auto* paths : {&planned.files, &planned.metadata_files}) {
        for (const std::string& path : *paths) {
            if (is_below(path, planned.site)) {
                directories.emplace(host::parent_path(path));
            }
        }
    }
    // The deepest first.
    for (auto directory = directories.rbegin(); directory != directories.rend(); ++directory) {
        prefix.remove_empty(*directory + "/__pycache__", *directory);
        prefix.remove_empty(*directory, planned.site);
    }
    return {};
}

void remove_compiled(const PrefixDirectory& prefix, const facts::Claims& claims,
                     std::string_view source) {
    if (!source.ends_with(".py")) {
        return;
    }
    const auto slash = source.rfind('/');
    const std::string above(slash == std::string_view::npos ? "" : source.substr(0, slash + 1));
    const std::string stem(source.substr(slash + 1, source.size() - slash - 3)); // "core."
    const std::string cache = above + "__pycache__";
    const auto place = prefix.place(cache + "/x");
    if (!place) {
        return;
    }
    const auto names = names_in(prefix.path() + '/' + cache);
    for (const std::string& name : names.value_or(std::vector<std::string>())) {
        if (name.starts_with(stem) && name.ends_with(".pyc") &&
            claims.of(cache + '/' + name).empty()) {
            ::unlinkat(place->directory.get(), name.c_str(), 0);
        }
    }
}

Result<void> commit(const Uninstallation& planned, Part part, const Preparation& with) {
    switch (part) {
    case Part::Take:
        return take_files(with.prefix, with.staging, with.claims, planned);
    case Part::TakeShared:
        return take_shared_metadata(with.staging, planned);
    case Part::TakeRecords:
        return take_metadata(with.prefix, with.staging, planned);
    case Part::NewRecords:
    case Part::Content:
    case Part::Records:
    case Part::Installer:
        break;
    }
    return {};
}

Result<Commit> prepare(const rules::UninstallPip& repair, const Preparation& with) {
    const auto& all = with.inventory.distributions;
    const auto one = std::ranges::find_if(all, [&](const auto& distribution) {
        return distribution.name == repair.distribution &&
               (repair.metadata.empty() || distribution.metadata == repair.metadata);
    });
    if (one == all.end()) {
        return unavailable("not-installed",
                           printable(repair.distribution) + " is no longer installed");
    }
    CUDAENV_TRY(auto planned,
                plan_uninstall(with.prefix, with.inventory, with.claims,
                               static_cast<std::uint32_t>(one - all.begin()), {}, with.wanted));
    if (const auto unlike = unlike_both(with); !unlike.empty()) {
        return unavailable("unlike-both",
                           fmt::format("{} stays installed: its RECORD does not list files of "
                                       "conda's that it overwrote: {}",
                                       printable(repair.distribution), few_of(unlike)));
    }
    auto& note = with.outcome.note;
    if (!planned.left.empty()) {
        note = fmt::format("{} kept, because the content is not what its RECORD says: {}",
                           files_text(planned.left.size()), few_of(planned.left));
    }
    if (!planned.outside.empty()) {
        note += (note.empty() ? "" : "; ") + fmt::format("{} kept, outside the environment: {}",
                                                         files_text(planned.outside.size()),
                                                         few_of(planned.outside));
    }
    return Commit(
        [planned = std::move(planned), with](Part part) { return commit(planned, part, with); });
}

} // namespace cudaenv::repair
