#include "base/shell_word.hpp"
#include "solver/plan/check/evidence.hpp"
#include "solver/plan/check/install_text.hpp"
#include "solver/plan/check/origin.hpp"
#include "solver/plan/check/repairs.hpp"
#include "solver/plan/check/rules.hpp"
#include "solver/plan/printable.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::plan {

namespace {

using facts::Distribution;
using facts::Origin;
using facts::SeenDistribution;

// One install writes all its distributions within this time.
constexpr std::int64_t k_one_install_ns = 120'000'000'000;

// The one asked for by name in the same install that requires it; null: not known.
const Distribution* asked_for_by(const CheckScene& scene, const Distribution& now) {
    if (now.requested) {
        return nullptr;
    }
    const auto& all = scene.inventory.distributions;
    const auto found = std::find_if(all.begin(), all.end(), [&](const Distribution& other) {
        const auto apart = other.installed_ns - now.installed_ns;
        return other.requested && apart <= k_one_install_ns && apart >= -k_one_install_ns &&
               requires_name(other, now.name);
    });
    return found == all.end() ? nullptr : &*found;
}

std::string cuda_of(const CheckScene& scene, const Distribution& now) {
    if (scene.environment != nullptr) {
        for (const auto& framework : scene.environment->frameworks) {
            if (framework.name == now.name && framework.version == now.version && framework.cuda) {
                return " (CUDA " + framework.cuda->str() + ')';
            }
        }
    }
    return {};
}

std::string_view way_of(Origin origin) {
    switch (origin) {
    case Origin::Editable:
        return "editable";
    case Origin::Kept:
        return "kept";
    case Origin::Wheel:
    case Origin::Built:
        break;
    }
    return "built here";
}

std::string_view cause_of(const SeenDistribution& was) {
    if (was.origin == Origin::Kept) {
        return "What it was changed to by hand is gone with it.";
    }
    return was.pure ? "The build is gone, and with it the changes that its source had."
                    : "The build is gone, and with it what it was built for: its CUDA, its GPUs, "
                      "its changes. Extensions built against it may no longer load.";
}

// A checkout that has moved builds another version: that it can be built again is all that is said.
Fix build_again(const CheckScene& scene, const SeenDistribution& was) {
    if (was.source.empty() || was.source.find("***") != std::string::npos) {
        return {"build it again, and keep it with cudaenv keep " + shell_word(was.name), {}};
    }
    std::vector<std::string> words{"--no-deps"};
    if (was.origin == Origin::Editable) {
        words.emplace_back("-e");
    }
    words.push_back(pip_source(was.source));
    return {"builds it again; cudaenv keep " + shell_word(was.name) + " then keeps a copy",
            pip_install(scene, nullptr, words)};
}

CheckFinding tell(const CheckScene& scene, const SeenDistribution& was, std::uint32_t number) {
    const auto& now = scene.inventory.distributions[number];
    const Party party{facts::Claim::By::Distribution, number};
    const bool by_conda = scene.ownership.of(number).owner == Owner::Conda;
    CheckFinding told;
    auto& finding = told.finding;
    finding.code = "CE104";
    finding.severity = Severity::Error;
    finding.title = fmt::format("{} was overwritten by {}", printable(was.name),
                                by_conda ? "conda's package" : "a wheel");
    auto before =
        fmt::format("was {}, {}", printable(was.name + ' ' + was.version), way_of(was.origin));
    if (!was.source.empty()) {
        before += " from " + printable(was.source);
    }
    if (was.files != 0) {
        before += ", " + counted(was.files, "file");
    }
    finding.evidence.push_back({absolute_path(scene, was.metadata), 0, std::move(before)});
    auto after = "now " + plan::title_of(now) + cuda_of(scene, now);
    if (const auto* asker = asked_for_by(scene, now)) {
        after += " from " + printable(asker->name) + "'s requirement";
    } else if (now.requested) {
        after += ", asked for by name";
    }
    if (const auto when = utc(now.installed_ns); !when.empty()) {
        after += ", " + when;
    }
    finding.evidence.push_back({absolute_path(scene, now.metadata), 0, std::move(after)});
    finding.cause = cause_of(was);
    if (auto repair = put_back(scene, was.name, was.version)) {
        finding.fix =
            own_fix(scene, finding,
                    repair->version == was.version
                        ? "puts the kept copy back"
                        : "puts " + printable(repair->version) + " back, the copy that is kept");
        told.repairs.push_back(std::move(*repair));
    } else {
        finding.fix = build_again(scene, was);
    }
    told.subject = was.name;
    told.told_at_prompt = true;
    told.line =
        fmt::format("{} replaced {} {} ({}) by {}{}", by_conda ? "conda" : manager_of(scene, party),
                    printable(was.name), short_version(was.version), way_of(was.origin),
                    plan::title_of(now), by_conda ? " of conda" : " from a wheel");
    return told;
}

// Of what was built here a later build is one as well; what was changed by hand is its version.
bool is_such_a_one(const SeenDistribution& was, const Distribution& now) {
    return was.origin == Origin::Kept ? now.version == was.version
                                      : origin_of(now) != Origin::Wheel;
}

// Of plain Python nothing is lost that its source does not have, and its name was given by hand.
// What is kept is meant to stay.
bool is_meant(const CheckScene& scene, const SeenDistribution& was, std::uint32_t now) {
    return was.pure && scene.inventory.distributions[now].requested &&
           scene.ownership.of(now).owner == Owner::Pip && !is_kept(scene, was.name);
}

} // namespace

void find_replaced(const CheckScene& scene, std::vector<CheckFinding>& found) {
    const auto& all = scene.inventory.distributions;
    for (const auto& was : scene.seen) {
        if (was.origin == Origin::Wheel ||
            (was.origin == Origin::Kept && !is_kept(scene, was.name))) {
            continue;
        }
        std::optional<std::uint32_t> now; // the one installed last
        bool is_still_here = false;
        for (std::uint32_t i = 0; i < all.size(); ++i) {
            if (all[i].name != was.name || !all[i].has_metadata) {
                continue;
            }
            const bool own = scene.ownership.of(i).owner == Owner::Pip;
            is_still_here = is_still_here || (own && is_such_a_one(was, all[i]));
            if (scene.ownership.of(i).owner != Owner::System &&
                all[i].installed_ns > was.installed_ns &&
                (!now || all[i].installed_ns > all[*now].installed_ns)) {
                now = i;
            }
        }
        if (now && !is_still_here && !was_gone_before(was, all[*now].installed_ns) &&
            !is_meant(scene, was, *now)) {
            found.push_back(tell(scene, was, *now));
        }
    }
}

} // namespace cudaenv::plan
