#include "check/rules/constraints.hpp"

#include "base/ascii.hpp"
#include "base/dotted_version.hpp"
#include "base/ranges.hpp"
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/rules.hpp"
#include "check/rules/torch_pairing.hpp"
#include "solver/pins/pins.hpp"
#include "solver/specs/pep440.hpp"
#include "solver/specs/requirement.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace cudaenv::rules {

namespace {

constexpr std::string_view k_marker = ",!=0+kept.by.cudaenv.until.cudaenv.detach";

struct FamilyName {
    std::string_view pip;
    std::string_view conda;
    // The first release that requires one torch and no other: older ones fit none that is built
    // now, and say so to no resolver. PyPI's metadata, 2026-11.
    std::string_view strict_since;
};
constexpr std::array<FamilyName, 3> k_family{{{"torch", "pytorch", ""},
                                              {"torchvision", "torchvision", "0.4"},
                                              {"torchaudio", "torchaudio", "0.4"}}};

constexpr std::array<std::string_view, 2> k_other_frameworks{"tensorflow", "jax"};

struct Held {
    const facts::Distribution* distribution = nullptr;
    const facts::CondaPackage* conda = nullptr; // on whose record the name is
    bool of_conda = false;                      // and whose files they are
    bool ambiguous = false;
};

Held find_held(const facts::Inventory& inventory, const Ownership& ownership,
               std::string_view name) {
    Held held;
    for (std::uint32_t i = 0; i < inventory.distributions.size(); ++i) {
        const facts::Distribution& one = inventory.distributions[i];
        if (one.name != name) {
            continue;
        }
        if (held.distribution != nullptr) {
            held.ambiguous = held.ambiguous || held.distribution->version != one.version;
            continue;
        }
        const Owned& owned = ownership.of(i);
        held.distribution = &one;
        held.of_conda = owned.owner == Owner::Conda;
        held.conda = owned.conda ? &inventory.conda[*owned.conda] : nullptr;
    }
    return held;
}

// Nothing where the text is no version: what a record says may be anything.
std::optional<std::string> exact(std::string_view name, std::string_view version) {
    const auto read = specs::Pep440Version::parse(version);
    if (!read) {
        return std::nullopt;
    }
    return std::string(name) + "==" + read->normal() + std::string(k_marker);
}

bool is_plain(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return is_alnum(c) || std::string_view("._+!-").find(c) != std::string_view::npos;
    });
}

void add_conda_line(const FamilyName& name, const Held& held, std::vector<std::string>& lines) {
    if (held.conda != nullptr) {
        if (is_plain(held.conda->name) && is_plain(held.conda->version) &&
            is_plain(held.conda->build)) {
            lines.push_back(held.conda->name + " ==" + held.conda->version + ' ' +
                            held.conda->build);
        }
    } else if (const auto version = specs::Pep440Version::parse(held.distribution->version)) {
        lines.push_back(std::string(name.conda) + " ==" + version->normal());
    }
}

bool is_cuda_partner(std::string_view name) {
    return name.starts_with("nvidia-") || name == "triton" || name.starts_with("pytorch-triton");
}

// What torch's own record requires in one version, and is there in that.
void add_partners(const facts::Inventory& inventory, const Ownership& ownership,
                  const facts::Distribution& torch, std::vector<std::string>& lines) {
    std::vector<std::string> names;
    for (const std::string& text : torch.requires_dist) {
        const auto requirement = specs::Requirement::parse(text);
        if (!requirement || requirement->specifiers.clauses().size() != 1 ||
            !requirement->specifiers.str().starts_with("==") ||
            requirement->specifiers.str().ends_with('*')) {
            continue;
        }
        const std::string name = requirement->normalized_name();
        if (!is_cuda_partner(name) || is_one_of(name, names)) {
            continue;
        }
        const Held held = find_held(inventory, ownership, name);
        if (held.distribution == nullptr || held.ambiguous || held.of_conda ||
            !requirement->specifiers.contains(held.distribution->version,
                                              specs::Prereleases::Allowed)) {
            continue;
        }
        if (auto line = exact(name, held.distribution->version)) {
            names.push_back(name);
            lines.push_back(std::move(*line));
        }
    }
}

const pins::EffectivePin* pin_of(std::span<const pins::EffectivePin> pins, std::string_view name) {
    return find_pointer_if(pins, [&](const pins::EffectivePin& one) {
        return one.pin.name == name && one.source != pins::PinSource::Shell &&
               one.source != pins::PinSource::User && one.source != pins::PinSource::System;
    });
}

std::optional<std::string> pinned(std::span<const pins::EffectivePin> pins, std::string_view name) {
    const pins::EffectivePin* const pin = pin_of(pins, name);
    if (pin == nullptr) {
        return std::nullopt;
    }
    const auto constraint = pins::PinConstraint::parse(pin->pin.constraint);
    const std::string specifier = constraint ? constraint->pip_specifier() : "";
    return specifier.empty() ? std::nullopt
                             : std::optional(std::string(name) + specifier + std::string(k_marker));
}

// "1.12.0" of "1.12.0a0+git664058f", a checkout on the way there.
std::string_view release_of(std::string_view version) {
    return leading_numbers(version);
}

// The one made for the torch that is here.
std::string partner_of(const FamilyName& name, const facts::Distribution& torch) {
    const knowledge::TorchRelease* const release =
        knowledge::torch_release(release_of(torch.version));
    const std::string version =
        release == nullptr ? "" : released_partner(*release, name.pip, false);
    return std::string(name.pip) +
           (version.empty() ? ">=" + std::string(name.strict_since) : "==" + version) +
           std::string(k_marker);
}

// "==2.4.0+cu121" of "torch==2.4.0+cu121,!=0+...". Empty: the file holds no such name.
std::string held_at(std::string_view file, std::string_view name) {
    const std::string begin = std::string(name) + "==";
    for (const std::string_view line : split(file, '\n')) {
        if (line.starts_with(begin)) {
            const std::string_view rest = line.substr(name.size());
            return std::string(trim(rest.substr(0, rest.find_first_of(",; #"))));
        }
    }
    return {};
}

std::string attach_command(const CheckContext& context) {
    return "cudaenv attach -p " + shell_word(context.inventory.prefix);
}

// pip was replaced by an older one since.
void report_old_pip(const CheckContext& context, std::vector<CheckFinding>& findings) {
    const auto& all = context.inventory.distributions;
    const auto pip = std::ranges::find_if(all, [](const auto& one) { return one.name == "pip"; });
    if (pip == all.end() || builds_apart(pip->version) != BuildsApart::Never) {
        return;
    }
    auto found =
        report(context, "CE160", "old-pip", "pip",
               {{"version", pip->version},
                {"command", shell_word(absolute_path(context, context.inventory.python)) +
                                " -m pip install --upgrade pip && " + attach_command(context)}});
    found.finding.evidence.push_back(
        {absolute_path(context, "pip.conf"), 0, "names the constraints"});
    findings.push_back(std::move(found));
}

// The environment was moved or copied since, or the file was deleted.
void report_foreign_file(const CheckContext& context, std::vector<CheckFinding>& findings) {
    const PipConstraints& constraints = context.constraints;
    auto found = report(context, "CE160", constraints.is_there ? "other-environment" : "missing",
                        "pip.conf", {{"command", attach_command(context)}});
    found.finding.evidence = {
        {absolute_path(context, "pip.conf"), 0, "names the constraints"},
        {constraints.named, 0, constraints.is_there ? "of another environment" : "does not exist"}};
    findings.push_back(std::move(found));
}

} // namespace

Constraints constraints_of(const facts::Inventory& inventory, const Ownership& ownership,
                           std::span<const pins::EffectivePin> pins) {
    Constraints found;
    const Held torch = find_held(inventory, ownership, "torch");
    const bool has_torch = torch.distribution != nullptr && !torch.ambiguous;
    for (const FamilyName& name : k_family) {
        const Held held = find_held(inventory, ownership, name.pip);
        if (held.ambiguous) {
            continue;
        }
        if (held.distribution != nullptr) {
            if (auto line = exact(name.pip, held.distribution->version)) {
                found.pip.push_back(std::move(*line));
            }
            add_conda_line(name, held, found.conda);
        } else if (auto line = pinned(pins, name.pip)) {
            found.pip.push_back(std::move(*line));
        } else if (has_torch && name.pip != "torch") {
            found.pip.push_back(partner_of(name, *torch.distribution));
        }
    }
    if (has_torch && !torch.of_conda) {
        add_partners(inventory, ownership, *torch.distribution, found.pip);
    }
    for (const std::string_view name : k_other_frameworks) {
        if (auto line = pinned(pins, name)) {
            found.pip.push_back(std::move(*line));
        }
    }
    return found;
}

std::vector<OutdatedConstraint> outdated_constraints(std::string_view file,
                                                     const facts::Inventory& inventory,
                                                     const Ownership& ownership) {
    std::vector<OutdatedConstraint> outdated;
    for (const FamilyName& name : k_family) {
        const std::string text = held_at(file, name.pip);
        const auto allowed = specs::SpecifierSet::parse(text);
        const Held held = find_held(inventory, ownership, name.pip);
        // What is held and not installed is to be installed so, and no contradiction.
        if (text.empty() || !allowed || held.distribution == nullptr || held.ambiguous ||
            !specs::Pep440Version::parse(held.distribution->version) ||
            allowed->contains(held.distribution->version, specs::Prereleases::Allowed)) {
            continue;
        }
        outdated.push_back({std::string(name.pip), held.distribution->version, text.substr(2)});
    }
    return outdated;
}

BuildsApart builds_apart(std::string_view pip_version) {
    const auto version = DottedVersion::parse(leading_numbers(pip_version));
    // A pre-release of the first one is not yet it: 26.2.dev0.
    const bool is_final = pip_version.find_first_not_of("0123456789.") == std::string_view::npos;
    if (!version || (!is_final && *version == DottedVersion::of("25.3"))) {
        return BuildsApart::Never;
    }
    if (*version < DottedVersion::of("25.3")) {
        return BuildsApart::Never;
    }
    if (!is_final && *version == DottedVersion::of("26.2")) {
        return BuildsApart::ByFeature;
    }
    return *version < DottedVersion::of("26.2") ? BuildsApart::ByFeature : BuildsApart::Always;
}

void find_outdated_constraints(const CheckContext& context, std::vector<CheckFinding>& findings) {
    if (context.constraints.named.empty()) {
        return;
    }
    if (!context.constraints.is_own || !context.constraints.is_there) {
        report_foreign_file(context, findings);
        return;
    }
    const auto outdated =
        outdated_constraints(context.constraints.text, context.inventory, context.ownership);
    if (!outdated.empty()) {
        const auto& first = outdated.front();
        auto found = report(context, "CE160", "outdated", first.name,
                            {{"name", first.name},
                             {"version", first.version},
                             {"held", first.held},
                             {"command", attach_command(context)}});
        for (const auto& one : outdated) {
            found.finding.evidence.push_back(
                {context.constraints.named, 0,
                 one.name + " is " + one.version + ", held at " + one.held});
        }
        findings.push_back(std::move(found));
    }
    report_old_pip(context, findings);
}

} // namespace cudaenv::rules
