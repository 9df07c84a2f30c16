#include "check/repair/restore_kept.hpp"

#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "check/repair/file_copy.hpp"
#include "check/repair/repair_case.hpp"
#include "check/rules/ownership.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace cudaenv::repair {

namespace {

Result<std::string> stage_file(Staging& staging, const Fd& tree, const KeptFile& file,
                               const GoesOn& wanted) {
    const auto damaged = [&] {
        return unavailable("damaged", "the kept copy of " + printable(file.path) +
                                          " is damaged: its content has changed");
    };
    const std::string name = staging.new_name();
    if (file.link) {
        if (::symlinkat(file.link->c_str(), staging.fd(), name.c_str()) != 0) {
            return failed_on(errno, "cannot make the link", file.path);
        }
        return name;
    }
    const auto way = copy_file(tree.get(), file.path, staging.fd(), name, file.mode, wanted);
    if (!way) {
        return way.error().code == "no-space" ? tl::unexpected(way.error()) : damaged();
    }
    const auto digest = digest_of(staging.fd(), name, wanted);
    if (!digest || *digest != file.sha256) {
        return damaged();
    }
    return name;
}

// easy-install.pth with the line that leads to the distribution.
Result<std::string> stage_path_file(const PrefixDirectory& prefix, Staging& staging,
                                    const std::string& path, const std::string& line) {
    constexpr std::size_t k_longest = 1U << 20U;
    std::string text;
    if (const auto place = prefix.place(path); place && place->status()) {
        CUDAENV_TRY(text, read_file(place->directory.get(), place->name, k_longest));
    }
    const auto lines = split(text, '\n');
    if (!is_one_of(std::string_view(line), lines)) {
        text += text.empty() || text.ends_with('\n') ? "" : "\n";
        text += line + '\n';
    }
    const std::string name = staging.new_name();
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    CUDAENV_TRY_VOID(write_file(staging.fd(), name, text, 0644, now));
    return name;
}

// All records of a kept copy come back together: those of what replaced it are there until then.
Part part_of_kept(const StagedFile& file) {
    return is_metadata(file.path) ? Part::Records : Part::Content;
}

} // namespace

Result<void> can_be_put_back(const KeptDistribution& kept, const facts::Inventory& inventory) {
    const auto& sites = inventory.sites;
    if (!is_one_of(kept.site, sites)) {
        return unavailable("other-python",
                           "the copy of " + printable(kept.name) + " was kept for " +
                               printable(kept.site) +
                               ", which this environment's Python does not import from");
    }
    struct stat status {};
    if (kept.editable && kept.source.starts_with('/') &&
        (::stat(kept.source.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))) {
        return unavailable("source-gone", printable(kept.name) + " was imported from " +
                                              printable(kept.source) + ", which is gone");
    }
    return {};
}

Result<KeptRestoration> stage_kept(const PrefixDirectory& prefix, Staging& staging,
                                   const KeptStore& store, const facts::Inventory& inventory,
                                   const facts::Claims& claims, const std::string& name,
                                   const std::string& version, const GoesOn& wanted) {
    auto kept = store.find(inventory.prefix, name, version);
    if (!kept) {
        return unavailable("not-kept", "there is no kept copy of " + printable(name) +
                                           (version.empty() ? "" : ' ' + printable(version)));
    }
    CUDAENV_TRY_VOID(can_be_put_back(*kept, inventory));
    KeptRestoration restoration;
    const rules::Ownership ownership(inventory, claims);
    Paths stays;
    for (const KeptFile& file : kept->files) {
        stays.insert(file.path);
    }
    for (std::uint32_t i = 0; i < inventory.distributions.size(); ++i) {
        const facts::Distribution& one = inventory.distributions[i];
        if (one.name != name) {
            continue;
        }
        if (ownership.of(i).owner == rules::Owner::Conda) {
            return unavailable("conda-owns",
                               printable(name) +
                                   " belongs to conda now: "
                                   "remove it with conda before restoring the kept copy");
        }
        if (one.has_record) {
            CUDAENV_TRY(auto planned, plan_uninstall(prefix, inventory, claims, i, stays, wanted));
            restoration.replaced.push_back(std::move(planned));
        }
    }
    const std::string directory = store.files_of(*kept);
    const Fd tree(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!tree) {
        return failed_on(errno, "cannot open", directory);
    }
    for (const KeptFile& file : kept->files) {
        const auto place = prefix.place(file.path);
        const auto status = place ? place->status() : std::nullopt;
        if ((!place && place.error().code == "outside") || (status && S_ISDIR(status->st_mode))) {
            return unavailable("in-the-way", printable(file.path) +
                                                 " cannot be restored: a directory is there, or a "
                                                 "link that leads outside the environment");
        }
        CUDAENV_TRY(auto staged, stage_file(staging, tree, file, wanted));
        restoration.files.push_back({file.path, std::move(staged), false});
    }
    if (!kept->path_line.empty()) {
        const std::string path = kept->site + "/easy-install.pth";
        CUDAENV_TRY(auto staged, stage_path_file(prefix, staging, path, kept->path_line));
        restoration.files.push_back({path, std::move(staged), false});
    }
    // What makes a distribution of a dist-info.
    std::stable_partition(
        restoration.files.begin(), restoration.files.end(), [](const StagedFile& file) {
            return !file.path.ends_with("/METADATA") && !file.path.ends_with("/PKG-INFO");
        });
    return restoration;
}

Result<Commit> prepare(const rules::RestoreKept& repair, const Preparation& with) {
    CUDAENV_TRY(auto staged,
                stage_kept(with.prefix, with.staging, KeptStore(with.places.state_directory),
                           with.inventory, with.claims, repair.distribution, repair.version,
                           with.wanted));
    return Commit([staged = std::move(staged), with](Part part) -> Result<void> {
        for (const StagedFile& file : staged.files) {
            if (part_of_kept(file) == part) {
                (void)goes_on(with.wanted); // reports progress; what is begun is ended
                CUDAENV_TRY_VOID(put_back(with.prefix, with.staging, with.claims, file));
            }
        }
        for (const Uninstallation& planned : staged.replaced) {
            CUDAENV_TRY_VOID(commit(planned, part, with));
        }
        return {};
    });
}

} // namespace cudaenv::repair
