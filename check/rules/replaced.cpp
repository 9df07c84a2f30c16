#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/origin.hpp"
#include "check/rules/overwritten.hpp"
#include "check/rules/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace cudaenv::rules {

namespace {

using facts::Distribution;
using facts::Origin;
using facts::SeenDistribution;

// One install writes all its distributions within this time.
constexpr std::int64_t k_one_install_ns = 120'000'000'000;

// The one asked for by name in the same install that requires it; null: not known.
const Distribution* asked_for_by(const CheckContext& context, const Distribution& now) {
    if (now.requested) {
        return nullptr;
    }
    const auto& all = context.inventory.distributions;
    const auto asker = std::ranges::find_if(all, [&](const Distribution& other) {
        const auto apart = other.installed_ns - now.installed_ns;
        return other.requested && apart <= k_one_install_ns && apart >= -k_one_install_ns &&
               requires_name(other, now.name);
    });
    return asker == all.end() ? nullptr : &*asker;
}

std::string cuda_of(const CheckContext& context, const Distribution& now) {
    if (context.environment != nullptr) {
        for (const auto& framework : context.environment->frameworks) {
            if (framework.name == now.name && framework.version == now.version && framework.cuda) {
                return " (CUDA " + framework.cuda->str() + ')';
            }
        }
    }
    return {};
}

std::string_view way_of(Origin origin) {
    return origin == Origin::Editable ? "editable" : origin == Origin::Kept ? "kept" : "built here";
}

std::string_view situation_of(const SeenDistribution& was) {
    return was.origin == Origin::Kept ? "kept" : was.pure ? "pure" : "compiled";
}

// A checkout that has moved builds another version: it can only be built again. Empty where its
// source is not known, or was recorded without its secrets.
std::string build_command(const CheckContext& context, const SeenDistribution& was) {
    if (was.source.empty() || was.source.find("***") != std::string::npos) {
        return {};
    }
    std::vector<std::string> words{"--no-deps"};
    if (was.origin == Origin::Editable) {
        words.emplace_back("-e");
    }
    words.push_back(pip_source(was.source));
    return pip_install(context, nullptr, words);
}

std::string before_text(const SeenDistribution& was) {
    auto text =
        fmt::format("was {}, {}", printable(was.name + ' ' + was.version), way_of(was.origin));
    if (!was.source.empty()) {
        text += " from " + printable(was.source);
    }
    return was.files == 0 ? text : text + ", " + counted(was.files, "file");
}

std::string now_text(const CheckContext& context, const Distribution& now) {
    auto text = "now " + rules::title_of(now) + cuda_of(context, now);
    if (const auto* asker = asked_for_by(context, now)) {
        text += ", required by " + printable(asker->name);
    } else if (now.requested) {
        text += ", requested by name";
    }
    const auto when = utc(now.installed_ns);
    return when.empty() ? text : text + ", " + when;
}

CheckFinding report_replaced(const CheckContext& context, const SeenDistribution& was,
                             std::uint32_t number) {
    const auto& now = context.inventory.distributions[number];
    const Party party{facts::Claim::By::Distribution, number};
    const bool by_conda = context.ownership.of(number).owner == Owner::Conda;
    const auto kept = put_back(context, was.name, was.version);
    auto found = report(context, "CE104", situation_of(was), was.name,
                        {{"manager", by_conda ? "conda" : manager_of(context, party)},
                         {"name", printable(was.name)},
                         {"version", short_version(was.version)},
                         {"origin", std::string(way_of(was.origin))},
                         {"now", rules::title_of(now)},
                         {"restored", kept ? printable(kept->version) : std::string()},
                         {"command", build_command(context, was)}});
    found.finding.evidence = {{absolute_path(context, was.metadata), 0, before_text(was)},
                              {absolute_path(context, now.metadata), 0, now_text(context, now)}};
    if (kept) {
        found.repairs.emplace_back(*kept);
    }
    found.said_at_prompt = true;
    return found;
}

// A later build of what was built here counts as the same; a kept one only in its version.
bool is_same_origin(const SeenDistribution& was, const Distribution& now) {
    return was.origin == Origin::Kept ? now.version == was.version
                                      : origin_of(now) != Origin::Wheel;
}

// Plain Python loses nothing that its source does not have, and the user requested the wheel by
// name. A kept distribution is to stay.
bool was_requested(const CheckContext& context, const SeenDistribution& was, std::uint32_t now) {
    return was.pure && context.inventory.distributions[now].requested &&
           context.ownership.of(now).owner == Owner::Pip && !is_kept(context, was.name);
}

// What an installer replaced without removing its record: of the same name as one installed later.
std::vector<std::uint32_t> dead_records(const CheckContext& context) {
    const auto& all = context.inventory.distributions;
    std::vector<std::uint32_t> dead;
    std::optional<std::vector<Loss>> losses;
    for (std::uint32_t i = 0; i < all.size() && context.examined != nullptr; ++i) {
        const bool has_later = std::ranges::any_of(all, [&](const Distribution& other) {
            return other.name == all[i].name && other.installed_ns > all[i].installed_ns;
        });
        if (!has_later || origin_of(all[i]) == Origin::Wheel) {
            continue;
        }
        if (!losses) {
            losses = find_losses(context);
        }
        if (is_dead(context, *losses, i)) {
            dead.push_back(i);
        }
    }
    return dead;
}

} // namespace

void find_replaced(const CheckContext& context, std::vector<CheckFinding>& findings) {
    const auto& all = context.inventory.distributions;
    const auto dead = dead_records(context);
    auto seen = context.seen;
    // Also what nothing was remembered of: the record proves that it was here.
    for (const auto number : dead) {
        if (std::ranges::find(seen, all[number].name, &SeenDistribution::name) == seen.end()) {
            auto& was = seen.emplace_back();
            was.name = all[number].name;
            was.version = all[number].version;
            was.origin = origin_of(all[number]);
            was.source = source_of(all[number]);
            was.metadata = all[number].metadata;
            was.installed_ns = all[number].installed_ns;
            was.files = static_cast<std::uint32_t>(all[number].files.size());
        }
    }
    for (const auto& was : seen) {
        if (was.origin == Origin::Wheel ||
            (was.origin == Origin::Kept && !is_kept(context, was.name))) {
            continue;
        }
        std::optional<std::uint32_t> now; // the one installed last
        bool is_still_here = false;
        for (std::uint32_t i = 0; i < all.size(); ++i) {
            if (all[i].name != was.name || !all[i].has_metadata) {
                continue;
            }
            const bool own = context.ownership.of(i).owner == Owner::Pip && !is_one_of(i, dead);
            is_still_here = is_still_here || (own && is_same_origin(was, all[i]));
            if (context.ownership.of(i).owner != Owner::System &&
                all[i].installed_ns > was.installed_ns &&
                (!now || all[i].installed_ns > all[*now].installed_ns)) {
                now = i;
            }
        }
        if (now && !is_still_here && !was_gone_before(was, all[*now].installed_ns) &&
            !was_requested(context, was, *now)) {
            findings.push_back(report_replaced(context, was, *now));
        }
    }
}

} // namespace cudaenv::rules
