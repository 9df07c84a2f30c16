#include "host/repair/repair.hpp"

#include "host/repair/file_copy.hpp"
#include "host/repair/kept_store.hpp"
#include "host/repair/package_caches.hpp"
#include "host/repair/restore_conda.hpp"
#include "host/repair/restore_kept.hpp"
#include "host/repair/staging.hpp"
#include "host/repair/uninstall.hpp"
#include "solver/plan/check/ownership.hpp"
#include "solver/plan/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <set>
#include <variant>

namespace cudaenv::host {

namespace {

using plan::Repair;

bool is_same(const Repair& left, const Repair& right) {
    return left.kind == right.kind && left.path == right.path &&
           left.distribution == right.distribution && left.version == right.version &&
           (left.kind != Repair::Kind::RestoreConda || left.package == right.package);
}

// Sound for any findings: what goes leaves every path that another package claims.
int phase_of(Repair::Kind kind) {
    switch (kind) {
    case Repair::Kind::Remove:
        return 0;
    case Repair::Kind::UninstallPip:
        return 1;
    case Repair::Kind::RestoreKept:
        return 2;
    case Repair::Kind::RestoreConda:
        return 3;
    case Repair::Kind::ReinstallPip:
        break;
    }
    return 4;
}

std::string few_of(const std::vector<std::string>& paths) {
    constexpr std::size_t k_named = 3;
    std::string text;
    for (std::size_t i = 0; i < paths.size() && i < k_named; ++i) {
        text += (text.empty() ? "" : ", ") + plan::printable(paths[i]);
    }
    return paths.size() > k_named ? text + fmt::format(" and {} more", paths.size() - k_named)
                                  : text;
}

std::string files_text(std::size_t number) {
    return number == 1 ? "1 file" : fmt::format("{} files", number);
}

// A leftover is a name of its own in a site, or a record of metadata.
bool may_be_removed(const facts::Inventory& inventory, const facts::Claims& claims,
                    const std::string& path) {
    const auto slash = path.rfind('/');
    const std::string above = slash == std::string::npos ? std::string() : path.substr(0, slash);
    const std::string_view name = std::string_view(path).substr(slash + 1);
    const bool in_site =
        std::find(inventory.sites.begin(), inventory.sites.end(), above) != inventory.sites.end();
    const bool is_leftover = name.starts_with('~') || name.ends_with(".dist-info") ||
                             name.ends_with(".egg-info") || name.ends_with(".egg-link");
    bool conda_claims = false;
    claims.for_each_path([&](std::string_view claimed, std::span<const facts::Claim> by) {
        conda_claims = conda_claims || ((claimed == path || claimed.starts_with(path + '/')) &&
                                        by.front().by == facts::Claim::By::Conda);
    });
    return is_inner_path(path) && in_site && is_leftover && !conda_claims;
}

struct Removal {
    std::string path;
};
using Prepared =
    std::variant<std::monostate, Removal, Uninstallation, CondaRestoration, KeptRestoration>;

// What is done of all steps before anything of the next: for as long as something is left to do,
// the records of what is in the wrong place are there, and those of conda's package beside them, so
// that the next `check` sees both. INSTALLER says whose a distribution is: where another one lies
// there, it comes back when all is back.
enum class Part { NewRecords, Content, Take, Records, TakeShared, Installer, TakeRecords };
constexpr auto k_parts =
    std::to_array<Part>({Part::NewRecords, Part::Content, Part::Take, Part::Records,
                         Part::TakeShared, Part::Installer, Part::TakeRecords});

enum class Source { Conda, Kept };

// All of a kept one's records come back together: those of what took its place are there until
// then.
Part part_of(const StagedFile& file, Source source) {
    const std::string_view path = file.path;
    const auto slash = path.rfind('/');
    const auto above = path.substr(0, slash == std::string_view::npos ? 0 : slash);
    if (above.find(".dist-info") == std::string_view::npos &&
        above.find(".egg-info") == std::string_view::npos) {
        return Part::Content;
    }
    if (source == Source::Kept) {
        return Part::Records;
    }
    return file.is_new                             ? Part::NewRecords
           : path.substr(slash + 1) == "INSTALLER" ? Part::Installer
                                                   : Part::Records;
}

class Carrying {
public:
    Carrying(const PrefixDirectory& prefix, Staging& staging, const facts::Inventory& inventory,
             const facts::Claims& claims, std::span<const RepairStep> steps,
             const RepairPlaces& places, const GoesOn& wanted)
        : m_prefix(&prefix), m_staging(&staging), m_inventory(&inventory), m_claims(&claims),
          m_steps(steps), m_places(&places), m_wanted(&wanted), m_outcomes(steps.size()) {}

    Result<std::vector<StepOutcome>> run() {
        std::vector<Prepared> prepared(m_steps.size());
        for (std::size_t i = 0; i < m_steps.size(); ++i) {
            auto made = prepare(m_steps[i], m_outcomes[i]);
            if (made) {
                prepared[i] = std::move(*made);
            } else {
                fail(i, made.error());
            }
        }
        if (!goes_on(*m_wanted)) {
            return stopped();
        }
        for (const Part part : k_parts) {
            for (std::size_t i = 0; i < m_steps.size(); ++i) {
                if (!is_blocked(m_steps[i])) {
                    if (const auto done = commit(prepared[i], part); !done) {
                        fail(i, done.error());
                    }
                }
            }
        }
        for (std::size_t i = 0; i < m_steps.size(); ++i) {
            m_outcomes[i].done = m_outcomes[i].error.empty() && !is_blocked(m_steps[i]) &&
                                 m_steps[i].repair.kind != Repair::Kind::ReinstallPip;
        }
        return std::move(m_outcomes);
    }

private:
    void fail(std::size_t step, const Error& error) {
        m_outcomes[step].error = error.message;
        m_blocked.insert(m_steps[step].findings.begin(), m_steps[step].findings.end());
    }

    [[nodiscard]] bool is_blocked(const RepairStep& step) const {
        return std::any_of(step.findings.begin(), step.findings.end(),
                           [&](std::size_t finding) { return m_blocked.contains(finding); });
    }

    // Whether a finding needs both.
    static bool is_shared(const RepairStep& step, const RepairStep& other) {
        return std::any_of(other.findings.begin(), other.findings.end(), [&](std::size_t one) {
            return std::find(step.findings.begin(), step.findings.end(), one) !=
                   step.findings.end();
        });
    }

    // Whether it is all that is done for its findings.
    [[nodiscard]] bool is_alone(const RepairStep& step) const {
        return std::none_of(m_steps.begin(), m_steps.end(), [&](const RepairStep& other) {
            return &other != &step && is_shared(step, other);
        });
    }

    Result<Prepared> prepare(const RepairStep& step, StepOutcome& outcome) {
        const Repair& repair = step.repair;
        switch (repair.kind) {
        case Repair::Kind::Remove:
            return prepare_removal(repair);
        case Repair::Kind::UninstallPip:
            return prepare_uninstall(step, outcome);
        case Repair::Kind::RestoreKept: {
            CUDAENV_TRY(auto staged,
                        stage_kept(*m_prefix, *m_staging, KeptStore(m_places->state_directory),
                                   *m_inventory, *m_claims, repair.distribution, repair.version,
                                   *m_wanted));
            return Prepared(std::move(staged));
        }
        case Repair::Kind::RestoreConda:
            return prepare_conda(step, outcome);
        case Repair::Kind::ReinstallPip:
            break;
        }
        return Prepared();
    }

    Result<Prepared> prepare_removal(const Repair& repair) {
        if (!may_be_removed(*m_inventory, *m_claims, repair.path)) {
            return unavailable("no-leftover",
                               plan::printable(repair.path) +
                                   " is left alone: it is no leftover of an install");
        }
        CUDAENV_TRY(const auto place, m_prefix->place(repair.path));
        static_cast<void>(place);
        return Prepared(Removal{repair.path});
    }

    // Of conda's packages that are put back in the same finding: files that are neither as conda
    // has them nor, by the RECORD, the distribution's, so that they would stay as they are while
    // the metadata says otherwise.
    std::vector<std::string> unlike_both(const RepairStep& step) const {
        std::vector<std::string> unlike;
        for (const RepairStep& other : m_steps) {
            if (other.repair.kind != Repair::Kind::RestoreConda || !is_shared(step, other)) {
                continue;
            }
            const auto& back = other.repair.files;
            const auto& files = m_inventory->conda[other.repair.package].files;
            for (const auto& file : files) {
                const std::string path(files.path(file));
                if (file.hash != facts::ClaimHash::Sha256 || plan::is_ordinary_difference(path) ||
                    std::find(back.begin(), back.end(), path) != back.end()) {
                    continue;
                }
                const auto place = m_prefix->place(path);
                const auto digest = place
                                        ? digest_of(place->directory.get(), place->name, *m_wanted)
                                        : Result<facts::Sha256Digest>(file.sha256);
                if (digest && *digest != file.sha256) {
                    unlike.push_back(path);
                }
            }
        }
        return unlike;
    }

    Result<Prepared> prepare_uninstall(const RepairStep& step, StepOutcome& outcome) {
        const Repair& repair = step.repair;
        const auto& all = m_inventory->distributions;
        const auto one = std::find_if(all.begin(), all.end(), [&](const auto& distribution) {
            return distribution.name == repair.distribution &&
                   (repair.path.empty() || distribution.metadata == repair.path);
        });
        if (one == all.end()) {
            return unavailable("not-installed",
                               plan::printable(repair.distribution) + " is not installed any more");
        }
        CUDAENV_TRY(auto planned,
                    plan_uninstall(*m_prefix, *m_inventory, *m_claims,
                                   static_cast<std::uint32_t>(one - all.begin()), {}, *m_wanted));
        if (const auto unlike = unlike_both(step); !unlike.empty()) {
            return unavailable(
                "unlike-both",
                fmt::format("{} left as installed: what it overwrote of conda's is not in "
                            "its RECORD: {}",
                            plan::printable(repair.distribution), few_of(unlike)));
        }
        if (!planned.left.empty()) {
            outcome.note = fmt::format("{} left, not as its RECORD says: {}",
                                       files_text(planned.left.size()), few_of(planned.left));
        }
        if (!planned.outside.empty()) {
            outcome.note +=
                (outcome.note.empty() ? "" : "; ") +
                fmt::format("{} left, outside of the environment: {}",
                            files_text(planned.outside.size()), few_of(planned.outside));
        }
        return Prepared(std::move(planned));
    }

    // Where nothing was taken away for it, what can be had is put back.
    Result<Prepared> prepare_conda(const RepairStep& step, StepOutcome& outcome) {
        const Repair& repair = step.repair;
        const facts::CondaPackage& package = m_inventory->conda[repair.package];
        CUDAENV_TRY(auto staged, stage_conda(*m_prefix, *m_staging, package, repair.files,
                                             extracted_places(package, m_places->package_caches),
                                             m_places->trust, *m_wanted));
        if (!staged.missing.empty()) {
            auto failed = unavailable(
                "no-source",
                fmt::format("{} of {} {} in no package cache as conda's record has {}: {}",
                            staged.missing.size(), files_text(repair.files.size()),
                            staged.missing.size() == 1 ? "is" : "are",
                            staged.missing.size() == 1 ? "it" : "them", few_of(staged.missing)));
            if (staged.files.empty() || !is_alone(step)) {
                return failed;
            }
            outcome.error = std::move(failed).value().message + "; the others are put back";
        }
        if (!staged.without_source.empty()) {
            outcome.note = fmt::format("{} left, made by the installer: {}",
                                       files_text(staged.without_source.size()),
                                       few_of(staged.without_source));
        }
        return Prepared(std::move(staged));
    }

    Result<void> commit(const Prepared& prepared, Part part) {
        if (const auto* removal = std::get_if<Removal>(&prepared)) {
            return part == Part::Content ? m_staging->take_away(removal->path) : Result<void>();
        }
        if (const auto* planned = std::get_if<Uninstallation>(&prepared)) {
            return commit(*planned, part);
        }
        if (const auto* conda = std::get_if<CondaRestoration>(&prepared)) {
            if (part == Part::Content) {
                CUDAENV_TRY_VOID(make_directories(*m_prefix, *conda));
            }
            return commit(conda->files, Source::Conda, part);
        }
        if (const auto* kept = std::get_if<KeptRestoration>(&prepared)) {
            CUDAENV_TRY_VOID(commit(kept->files, Source::Kept, part));
            for (const Uninstallation& planned : kept->replaced) {
                CUDAENV_TRY_VOID(commit(planned, part));
            }
        }
        return {};
    }

    Result<void> commit(const std::vector<StagedFile>& files, Source source, Part part) {
        for (const StagedFile& file : files) {
            if (part_of(file, source) == part) {
                (void)goes_on(*m_wanted); // shown, not asked
                CUDAENV_TRY_VOID(put_back(*m_prefix, *m_staging, *m_claims, file));
            }
        }
        return {};
    }

    Result<void> commit(const Uninstallation& planned, Part part) {
        switch (part) {
        case Part::Take:
            return take_files(*m_prefix, *m_claims, planned);
        case Part::TakeShared:
            return take_shared_metadata(*m_prefix, planned);
        case Part::TakeRecords:
            return take_metadata(*m_prefix, *m_staging, planned);
        case Part::NewRecords:
        case Part::Content:
        case Part::Records:
        case Part::Installer:
            break;
        }
        return {};
    }

    const PrefixDirectory* m_prefix;
    Staging* m_staging;
    const facts::Inventory* m_inventory;
    const facts::Claims* m_claims;
    std::span<const RepairStep> m_steps;
    const RepairPlaces* m_places;
    const GoesOn* m_wanted;
    std::vector<StepOutcome> m_outcomes;
    std::set<std::size_t> m_blocked; // findings of which a step failed
};

} // namespace

std::vector<RepairStep> steps_of(std::span<const plan::CheckFinding> findings) {
    std::vector<RepairStep> steps;
    const auto add = [&](const Repair& repair, std::size_t finding) {
        const auto same = std::find_if(steps.begin(), steps.end(), [&](const RepairStep& step) {
            return is_same(step.repair, repair);
        });
        if (same == steps.end()) {
            steps.push_back({repair, {finding}});
            return;
        }
        std::set<std::string> files(same->repair.files.begin(), same->repair.files.end());
        files.insert(repair.files.begin(), repair.files.end());
        same->repair.files.assign(files.begin(), files.end());
        if (same->findings.back() != finding) {
            same->findings.push_back(finding);
        }
    };
    std::set<std::string> kept;
    for (const plan::CheckFinding& found : findings) {
        for (const Repair& repair : found.repairs) {
            if (repair.kind == Repair::Kind::RestoreKept) {
                kept.insert(repair.distribution);
            }
        }
    }
    for (std::size_t i = 0; i < findings.size(); ++i) {
        for (const Repair& repair : findings[i].repairs) {
            if (repair.kind != Repair::Kind::UninstallPip || !kept.contains(repair.distribution)) {
                add(repair, i);
            }
        }
    }
    std::stable_sort(steps.begin(), steps.end(), [](const auto& left, const auto& right) {
        return phase_of(left.repair.kind) < phase_of(right.repair.kind);
    });
    return steps;
}

Result<void> check_writable(const facts::Inventory& inventory) {
    CUDAENV_TRY(const auto prefix, PrefixDirectory::open(inventory.prefix));
    std::vector<std::string> directories{""};
    for (const std::string& site : inventory.sites) {
        if (is_inner_path(site)) {
            directories.push_back(site);
        }
    }
    for (const std::string& directory : directories) {
        if (!prefix.is_writable(directory)) {
            return unavailable(
                "not-writable",
                plan::printable(inventory.prefix + (directory.empty() ? "" : '/' + directory)) +
                    " cannot be written by this user",
                "who may write to this environment can fix it");
        }
    }
    return {};
}

void clear_interrupted(const std::string& prefix) {
    const auto directory = PrefixDirectory::open(prefix);
    struct stat status {};
    if (directory &&
        ::fstatat(directory->fd(), Staging::k_name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        static_cast<void>(Staging::begin(*directory));
    }
}

Result<std::vector<StepOutcome>> carry_out(const facts::Inventory& inventory,
                                           const facts::Claims& claims,
                                           std::span<const RepairStep> steps,
                                           const RepairPlaces& places, const GoesOn& wanted) {
    CUDAENV_TRY_VOID(check_writable(inventory));
    CUDAENV_TRY(const auto prefix, PrefixDirectory::open(inventory.prefix));
    CUDAENV_TRY(const auto staging, Staging::begin(prefix));
    return Carrying(prefix, *staging, inventory, claims, steps, places, wanted).run();
}

} // namespace cudaenv::host
