#include "check/repair/repair.hpp"

#include "base/printable.hpp"
#include "base/private_files.hpp"
#include "base/ranges.hpp"
#include "check/repair/repair_case.hpp"
#include "check/repair/staging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <set>
#include <string_view>

namespace cudaenv::repair {

namespace {

constexpr auto k_parts =
    std::to_array<Part>({Part::NewRecords, Part::Content, Part::Take, Part::Records,
                         Part::TakeShared, Part::Installer, Part::TakeRecords});

struct Carrying {
    const PrefixDirectory& prefix;
    Staging& staging;
    const facts::Inventory& inventory;
    const facts::Claims& claims;
    std::span<const RepairStep> steps;
    const RepairPlaces& places;
    const GoesOn& wanted;
    std::vector<StepOutcome> outcomes{steps.size()};
    std::set<std::size_t> blocked{}; // findings of which a step failed

    Result<std::vector<StepOutcome>> run() {
        std::vector<Commit> commits(steps.size());
        for (std::size_t i = 0; i < steps.size(); ++i) {
            auto prepared = prepare_step(i);
            if (prepared) {
                commits[i] = std::move(*prepared);
            } else {
                fail(i, prepared.error());
            }
        }
        if (!goes_on(wanted)) {
            return stopped();
        }
        if (const auto failed = commit_all(commits)) {
            undo(*failed);
            return std::move(outcomes);
        }
        for (std::size_t i = 0; i < steps.size(); ++i) {
            outcomes[i].done = commits[i] && outcomes[i].error.empty() && !is_blocked(steps[i]);
        }
        return std::move(outcomes);
    }

    // The step that failed; none: all is done.
    std::optional<std::size_t> commit_all(const std::vector<Commit>& commits) {
        for (const Part part : k_parts) {
            for (std::size_t i = 0; i < steps.size(); ++i) {
                if (commits[i] && !is_blocked(steps[i])) {
                    if (const auto done = commits[i](part); !done) {
                        fail(i, done.error());
                        return i;
                    }
                }
            }
        }
        return std::nullopt;
    }

    void undo(std::size_t failed) {
        const auto undone = staging.take_back();
        outcomes[failed].error += undone ? "; what had been done was undone"
                                         : "; it could not be undone: " + undone.error().message;
    }

    Result<Commit> prepare_step(std::size_t number) {
        const Preparation with{prefix, staging, inventory,     claims,          places,
                               wanted, steps,   steps[number], outcomes[number]};
        return std::visit([&](const auto& repair) { return prepare(repair, with); },
                          steps[number].repair);
    }

    void fail(std::size_t step, const Error& error) {
        outcomes[step].error = error.message;
        blocked.insert(steps[step].findings.begin(), steps[step].findings.end());
    }

    [[nodiscard]] bool is_blocked(const RepairStep& step) const {
        return std::ranges::any_of(step.findings,
                                   [&](std::size_t finding) { return blocked.contains(finding); });
    }
};

// A leftover is a name of its own in a site, or metadata, and no file of conda's is in it.
bool may_be_removed(const facts::Inventory& inventory, const facts::Claims& claims,
                    const std::string& path) {
    const auto slash = path.rfind('/');
    const std::string above = slash == std::string::npos ? std::string() : path.substr(0, slash);
    const std::string_view name = std::string_view(path).substr(slash + 1);
    const bool in_site = is_one_of(above, inventory.sites);
    const bool is_leftover = name.starts_with('~') || name.ends_with(".dist-info") ||
                             name.ends_with(".egg-info") || name.ends_with(".egg-link");
    bool conda_claims = false;
    claims.for_each_path([&](std::string_view claimed, std::span<const facts::Claim> by) {
        conda_claims = conda_claims || ((claimed == path || claimed.starts_with(path + '/')) &&
                                        by.front().by == facts::Claim::By::Conda);
    });
    return is_inner_path(path) && in_site && is_leftover && !conda_claims;
}

} // namespace

bool is_metadata(std::string_view path) {
    const auto slash = path.rfind('/');
    const auto above = path.substr(0, slash == std::string_view::npos ? 0 : slash);
    return above.find(".dist-info") != std::string_view::npos ||
           above.find(".egg-info") != std::string_view::npos;
}

bool share_a_finding(const RepairStep& step, const RepairStep& other) {
    return std::ranges::any_of(other.findings,
                               [&](std::size_t one) { return is_one_of(one, step.findings); });
}

std::string few_of(const std::vector<std::string>& paths) {
    constexpr std::size_t k_named = 3;
    std::string text;
    for (std::size_t i = 0; i < paths.size() && i < k_named; ++i) {
        text += (text.empty() ? "" : ", ") + printable(paths[i]);
    }
    return paths.size() > k_named ? text + fmt::format(" and {} more", paths.size() - k_named)
                                  : text;
}

std::string files_text(std::size_t number) {
    return number == 1 ? "1 file" : fmt::format("{} files", number);
}

std::vector<RepairStep> steps_of(std::span<const rules::CheckFinding> findings) {
    std::set<std::string> kept;
    for (const rules::CheckFinding& found : findings) {
        for (const rules::Repair& repair : found.repairs) {
            if (const auto* restore = std::get_if<rules::RestoreKept>(&repair)) {
                kept.insert(restore->distribution);
            }
        }
    }
    std::vector<RepairStep> steps;
    for (std::size_t i = 0; i < findings.size(); ++i) {
        for (const rules::Repair& repair : findings[i].repairs) {
            const auto* uninstall = std::get_if<rules::UninstallPip>(&repair);
            if (uninstall != nullptr && kept.contains(uninstall->distribution)) {
                continue; // restoring the kept copy replaces it
            }
            const auto same = std::ranges::find_if(
                steps, [&](RepairStep& step) { return merge(step.repair, repair); });
            if (same == steps.end()) {
                steps.push_back({repair, {i}});
            } else if (same->findings.back() != i) {
                same->findings.push_back(i);
            }
        }
    }
    std::ranges::stable_sort(steps, [](const auto& left, const auto& right) {
        return left.repair.index() < right.repair.index();
    });
    return steps;
}

std::optional<ClientCommand> client_command(const rules::Repair& repair,
                                            const facts::Inventory& inventory,
                                            const UserPrograms& programs) {
    return std::visit(
        [&](const auto& one) -> std::optional<ClientCommand> {
            if constexpr (requires { command_for(one, inventory, programs); }) {
                return command_for(one, inventory, programs);
            } else {
                return std::nullopt;
            }
        },
        repair);
}

std::string way_out(const rules::Repair& repair, const facts::Inventory& inventory,
                    const UserPrograms& programs) {
    return std::visit(
        [&](const auto& one) {
            if constexpr (requires { way_out_for(one, inventory, programs); }) {
                return way_out_for(one, inventory, programs);
            } else {
                return std::string();
            }
        },
        repair);
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
                printable(inventory.prefix + (directory.empty() ? "" : '/' + directory)) +
                    " cannot be written by this user",
                "a user who may write to this environment can fix it");
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

Carried::Carried(PrefixDirectory prefix)
    : m_prefix(std::make_unique<PrefixDirectory>(std::move(prefix))) {}
Carried::Carried(Carried&&) noexcept = default;
Carried& Carried::operator=(Carried&&) noexcept = default;
Carried::~Carried() = default;

Result<void> Carried::take_back() {
    return m_staging->take_back();
}

Result<Carried> carry_out(const facts::Inventory& inventory, const facts::Claims& claims,
                          std::span<const RepairStep> steps, const RepairPlaces& places,
                          const GoesOn& wanted) {
    CUDAENV_TRY_VOID(check_writable(inventory));
    CUDAENV_TRY(auto prefix, PrefixDirectory::open(inventory.prefix));
    Carried carried(std::move(prefix));
    CUDAENV_TRY(carried.m_staging, Staging::begin(*carried.m_prefix));
    Carrying carrying{
        *carried.m_prefix, *carried.m_staging, inventory, claims, steps, places, wanted};
    CUDAENV_TRY(carried.outcomes, carrying.run());
    return carried;
}

Result<Commit> prepare(const rules::Remove& repair, const Preparation& with) {
    if (!may_be_removed(with.inventory, with.claims, repair.path)) {
        return unavailable("no-leftover",
                           printable(repair.path) + " stays: it is not a leftover of an install");
    }
    CUDAENV_TRY(const auto place, with.prefix.place(repair.path));
    static_cast<void>(place);
    return Commit([path = repair.path, &staging = with.staging](Part part) {
        return part == Part::Content ? staging.take_away(path) : Result<void>();
    });
}

Result<Commit> prepare(const rules::ReinstallPip& /*repair*/, const Preparation& /*with*/) {
    return Commit();
}

// Only pip in the user's own environment knows the user's indexes and proxies.
ClientCommand command_for(const rules::ReinstallPip& repair, const facts::Inventory& inventory,
                          const UserPrograms& programs) {
    const std::string python = inventory.prefix + '/' + inventory.python;
    const std::string what = repair.distribution + "==" + repair.version;
    const bool has_pip = std::ranges::any_of(inventory.distributions,
                                             [](const auto& one) { return one.name == "pip"; });
    if (is_anothers_place(python)) {
        return {{},
                "it runs the Python of another user's environment, which root does not do; its "
                "owner can"};
    }
    if (has_pip) {
        return {{python, "-m", "pip", "install", "--no-deps", "--force-reinstall", what}, {}};
    }
    if (programs.uv.empty()) {
        return {{}, "the environment has no pip, and uv is not on PATH"};
    }
    return {{programs.uv, "pip", "install", "--python", python, "--no-deps", "--reinstall", what},
            {}};
}

} // namespace cudaenv::repair
