#include "check/repair/restore_conda.hpp"

#include "base/shell_word.hpp"
#include "check/repair/conda_source.hpp"
#include "check/repair/file_copy.hpp"
#include "check/repair/repair_case.hpp"
#include "check/repair/uninstall.hpp"
#include "check/rules/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <map>
#include <optional>
#include <string_view>
#include <sys/stat.h>

namespace cudaenv::repair {

namespace {

using facts::ClaimHash;
using facts::ClaimKind;

constexpr std::string_view k_commands = "bin/";

// Can only be read by setting it.
mode_t umask_now() {
    const mode_t mask = ::umask(077);
    ::umask(mask);
    return mask;
}

class CondaStaging {
public:
    CondaStaging(const PrefixDirectory& prefix, Staging& staging,
                 const facts::CondaPackage& package, const std::vector<std::string>& places,
                 const trusted::Trust& trust, const GoesOn& wanted)
        : m_prefix(&prefix), m_staging(&staging), m_package(&package), m_wanted(&wanted) {
        for (std::size_t i = 0; i < package.files.size(); ++i) {
            m_claims.emplace(package.files.path(i), i);
        }
        for (const std::string& place : places) {
            if (auto source = CondaSource::open(place, trust)) {
                m_sources.push_back(std::move(*source));
            }
        }
    }

    Result<void> add(const std::string& path) {
        const auto claimed = m_claims.find(path);
        if (claimed == m_claims.end() || !is_inner_path(path)) {
            m_result.missing.push_back(path);
            return {};
        }
        const facts::FileClaim& claim = m_package->files[claimed->second];
        const auto place = m_prefix->place(path);
        if (!place && place.error().code == "outside") {
            m_result.missing.push_back(path);
            return {};
        }
        const auto status = place ? place->status() : std::nullopt;
        if (claim.kind == ClaimKind::Directory) {
            if (!status) {
                m_result.directories.push_back(path);
            }
            return {};
        }
        if (status && claim.kind == ClaimKind::File && S_ISREG(status->st_mode) &&
            claim.hash == ClaimHash::Sha256) {
            const auto digest = digest_of(place->directory.get(), place->name, *m_wanted);
            if (digest && *digest == claim.sha256) {
                return {};
            }
        }
        if (status && S_ISDIR(status->st_mode)) {
            m_result.missing.push_back(path); // it cannot be replaced at once
            return {};
        }
        return make(path, claim, place, status);
    }

    CondaRestoration result() { return std::move(m_result); }

private:
    Result<void> make(const std::string& path, const facts::FileClaim& claim,
                      const Result<Place>& place, const std::optional<struct stat>& status) {
        const bool compiled = path.ends_with(".pyc");
        bool held = false;
        for (const CondaSource& source : m_sources) {
            for (const std::string& prefix : {m_prefix->path(), m_prefix->real_path()}) {
                const std::string name = m_staging->new_name();
                auto made = source.stage(path, prefix, m_staging->fd(), name, *m_wanted);
                if (!made && made.error().code == "no-space") {
                    return tl::unexpected(std::move(made).error());
                }
                held = held || !made || *made;
                if (!made || !*made) {
                    continue;
                }
                if (!is_as_recorded(name, claim)) {
                    ::unlinkat(m_staging->fd(), name.c_str(), 0);
                    continue;
                }
                if (!is_same_link(name, place, status)) {
                    m_result.files.push_back({path, name, !status});
                }
                return {};
            }
        }
        if (!held && path.starts_with(k_commands)) {
            CUDAENV_TRY(const bool made, make_command(path, !status));
            if (made) {
                return {};
            }
        }
        // One that is there is as some installer has written it; one that is not is missing.
        const bool made_by_installer =
            !m_sources.empty() && !held && (compiled || (path.starts_with(k_commands) && status));
        (made_by_installer ? m_result.without_source : m_result.missing).push_back(path);
        return {};
    }

    // A command that an installer writes from a line of metadata. Installers write it differently,
    // so its digest on record proves nothing.
    Result<bool> make_command(const std::string& path, bool is_new) {
        for (const CondaSource& source : m_sources) {
            const auto target = source.entry_point(path.substr(k_commands.size()));
            const auto text =
                target ? entry_point_script(python(), *target) : std::optional<std::string>();
            if (!text) {
                continue;
            }
            const std::string name = m_staging->new_name();
            timespec now{};
            ::clock_gettime(CLOCK_REALTIME, &now);
            CUDAENV_TRY_VOID(write_file(m_staging->fd(), name, *text, 0777U & ~umask_now(), now));
            m_result.files.push_back({path, name, is_new});
            return true;
        }
        return false;
    }

    // That the package's files were linked for: "python3.11" of lib/python3.11/site-packages.
    [[nodiscard]] std::string python() const {
        constexpr std::string_view k_site = "/site-packages/";
        for (const auto& [path, number] : m_claims) {
            const auto above = path.substr(0, std::min(path.find(k_site), path.size()));
            const auto name = above.substr(above.rfind('/') + 1);
            if (above.size() != path.size() && name.starts_with("python")) {
                return m_prefix->path() + '/' + std::string(k_commands) + std::string(name);
            }
        }
        return m_prefix->path() + '/' + std::string(k_commands) + "python";
    }

    [[nodiscard]] bool is_as_recorded(const std::string& name,
                                      const facts::FileClaim& claim) const {
        const auto text = read_link(m_staging->fd(), name);
        if (claim.kind == ClaimKind::Softlink || text) {
            return claim.kind == ClaimKind::Softlink && text.has_value();
        }
        const auto digest = digest_of(m_staging->fd(), name, *m_wanted);
        return claim.hash == ClaimHash::Sha256 && digest && *digest == claim.sha256;
    }

    [[nodiscard]] bool is_same_link(const std::string& name, const Result<Place>& place,
                                    const std::optional<struct stat>& status) const {
        if (!status || !S_ISLNK(status->st_mode)) {
            return false;
        }
        const auto staged = read_link(m_staging->fd(), name);
        const auto there = read_link(place->directory.get(), place->name);
        return staged && there && *staged == *there;
    }

    const PrefixDirectory* m_prefix;
    Staging* m_staging;
    const facts::CondaPackage* m_package;
    const GoesOn* m_wanted;
    std::map<std::string_view, std::size_t> m_claims;
    std::vector<CondaSource> m_sources;
    CondaRestoration m_result;
};

Part part_of(const StagedFile& file) {
    return !is_metadata(file.path)             ? Part::Content
           : file.is_new                       ? Part::NewRecords
           : file.path.ends_with("/INSTALLER") ? Part::Installer
                                               : Part::Records;
}

// Whether it is all that is done for its findings.
bool is_alone(const Preparation& with) {
    return std::ranges::none_of(with.steps, [&](const RepairStep& other) {
        return &other != &with.step && share_a_finding(with.step, other);
    });
}

} // namespace

Result<CondaRestoration> stage_conda(const PrefixDirectory& prefix, Staging& staging,
                                     const facts::CondaPackage& package,
                                     const std::vector<std::string>& paths,
                                     const std::vector<std::string>& places,
                                     const trusted::Trust& trust, const GoesOn& wanted) {
    CondaStaging made(prefix, staging, package, places, trust, wanted);
    for (const std::string& path : paths) {
        CUDAENV_TRY_VOID(made.add(path));
    }
    return made.result();
}

Result<void> make_directories(const PrefixDirectory& prefix, const CondaRestoration& restoration) {
    for (const std::string& path : restoration.directories) {
        CUDAENV_TRY(const auto place, prefix.make_place(path));
        if (::mkdirat(place.directory.get(), place.name.c_str(), 0777) != 0 && errno != EEXIST) {
            return failed_on(errno, "cannot make", path);
        }
    }
    return {};
}

Result<void> put_back(const PrefixDirectory& prefix, Staging& staging, const facts::Claims& claims,
                      const StagedFile& file) {
    CUDAENV_TRY_VOID(staging.put(file.staged, file.path));
    remove_compiled(prefix, claims, file.path);
    return {};
}

// Where nothing was removed for it, the files that can be had are restored.
Result<Commit> prepare(const rules::RestoreConda& repair, const Preparation& with) {
    const facts::CondaPackage& package = with.inventory.conda[repair.package];
    CUDAENV_TRY(auto staged, stage_conda(with.prefix, with.staging, package, repair.files,
                                         extracted_places(package, with.places.package_caches),
                                         with.places.trust, with.wanted));
    if (!staged.missing.empty()) {
        auto failed = unavailable(
            "no-source", fmt::format("no package cache has {} of {} with the digest on record: {}",
                                     staged.missing.size(), files_text(repair.files.size()),
                                     few_of(staged.missing)));
        if (staged.files.empty() || !is_alone(with)) {
            return failed;
        }
        with.outcome.error = std::move(failed).value().message + "; the others are restored";
    }
    if (!staged.without_source.empty()) {
        with.outcome.note =
            fmt::format("{} not restored, because the installer generates them: {}",
                        files_text(staged.without_source.size()), few_of(staged.without_source));
    }
    return Commit([staged = std::move(staged), with](Part part) -> Result<void> {
        if (part == Part::Content) {
            CUDAENV_TRY_VOID(make_directories(with.prefix, staged));
        }
        for (const StagedFile& file : staged.files) {
            if (part_of(file) == part) {
                (void)goes_on(with.wanted); // reports progress; what is begun is ended
                CUDAENV_TRY_VOID(put_back(with.prefix, with.staging, with.claims, file));
            }
        }
        return {};
    });
}

std::string way_out_for(const rules::RestoreConda& repair, const facts::Inventory& inventory,
                        const UserPrograms& programs) {
    const facts::CondaPackage& package = inventory.conda[repair.package];
    const auto what = rules::conda_requirement(package.name, package.version, package.build);
    return what.empty() ? std::string()
                        : programs.conda + " install -p " + shell_word(inventory.prefix) +
                              " --force-reinstall " + shell_word(what);
}

} // namespace cudaenv::repair
