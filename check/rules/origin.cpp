#include "check/rules/origin.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace cudaenv::rules {

namespace {

using facts::Distribution;
using facts::DistributionKind;
using facts::Origin;
using facts::SeenDistribution;

// No index has versions that name a commit: "+git664058f" and "a0+664058f" are PyTorch's own,
// "+g1a2b3c4.d20260101" setuptools_scm's.
bool is_version_of_a_checkout(std::string_view version) {
    const auto plus = version.find('+');
    if (plus == std::string_view::npos) {
        return false;
    }
    const auto local = version.substr(plus + 1);
    if (local.starts_with("git") || version.substr(0, plus).ends_with("a0")) {
        return true;
    }
    constexpr std::size_t k_shortest_commit = 7;
    const auto digits = local.substr(local.empty() ? 0 : 1);
    const auto end = digits.find_first_not_of("0123456789abcdef");
    return local.starts_with('g') && std::min(end, digits.size()) >= k_shortest_commit;
}

bool is_egg(DistributionKind kind) {
    return kind == DistributionKind::EggDirectory || kind == DistributionKind::EggFile;
}

// By its own tags, and by what it claims. Of what has neither it is not known.
bool is_pure(const Distribution& distribution) {
    if (is_egg(distribution.kind)) {
        // "apex-0.1-py3.11-linux-x86_64.egg": the platform is in the name where something was
        // compiled.
        const std::string_view name = distribution.metadata;
        const auto python = name.rfind("-py");
        return python != std::string_view::npos &&
               name.find('-', python + 1) == std::string_view::npos;
    }
    const auto& tags = distribution.tags;
    const auto& files = distribution.files;
    return !tags.empty() && !files.empty() && std::ranges::all_of(tags, [](std::string_view tag) {
        return tag.ends_with("-none-any");
    }) && std::ranges::none_of(files, [&](const facts::FileClaim& file) {
        const auto path = files.path(file);
        return path.ends_with(".so") || path.find(".so.") != std::string_view::npos;
    });
}

} // namespace

Origin origin_of(const Distribution& distribution) {
    if (distribution.kind == DistributionKind::EggLink) {
        return Origin::Editable;
    }
    if (const auto& url = distribution.direct_url) {
        if (url->editable) {
            return Origin::Editable;
        }
        if (!url->vcs.empty() || !url->local_directory.empty()) {
            return Origin::Built;
        }
        if (!std::string_view(url->url).ends_with(".whl")) {
            return Origin::Built; // an archive of source
        }
    }
    if (is_version_of_a_checkout(distribution.version)) {
        return Origin::Built;
    }
    if (is_egg(distribution.kind)) {
        // setup.py install makes eggs of the wheels that it fetches for what it installs.
        return distribution.tags.empty() ? Origin::Built : Origin::Wheel;
    }
    // setup.py install leaves an egg-info and no list of files; pip's old way leaves that as well,
    // and may have had it from an index.
    const bool egg = distribution.kind != DistributionKind::DistInfo;
    return egg && distribution.installer.empty() && !distribution.has_record ? Origin::Built
                                                                             : Origin::Wheel;
}

std::string source_of(const Distribution& distribution) {
    if (!distribution.source_directory.empty()) {
        return distribution.source_directory;
    }
    const auto& url = distribution.direct_url;
    if (!url) {
        return {};
    }
    if (!url->local_directory.empty()) {
        return url->local_directory;
    }
    if (!url->vcs.empty()) {
        return url->vcs + '+' + url->url + (url->commit.empty() ? "" : '@' + url->commit);
    }
    return url->url;
}

std::vector<SeenDistribution> seen_in(const facts::Inventory& inventory,
                                      const Ownership& ownership) {
    std::map<std::string_view, SeenDistribution> by_name;
    for (std::uint32_t i = 0; i < inventory.distributions.size(); ++i) {
        const auto& distribution = inventory.distributions[i];
        if (distribution.name.empty() || !distribution.has_metadata) {
            continue;
        }
        const bool own = ownership.of(i).owner == Owner::Pip;
        const auto origin = own ? origin_of(distribution) : Origin::Wheel;
        const auto [at, added] = by_name.try_emplace(distribution.name);
        const auto rank = [](const SeenDistribution& seen) {
            return std::pair(seen.origin != Origin::Wheel, seen.installed_ns);
        };
        SeenDistribution seen{distribution.name,
                              distribution.version,
                              origin,
                              origin == Origin::Wheel ? std::string() : source_of(distribution),
                              distribution.metadata,
                              distribution.installed_ns,
                              static_cast<std::uint32_t>(distribution.files.size()),
                              origin == Origin::Built && is_pure(distribution)};
        if (added || rank(at->second) < rank(seen)) {
            at->second = std::move(seen);
        }
    }
    std::vector<SeenDistribution> seen_list;
    seen_list.reserve(by_name.size());
    for (auto& [name, seen] : by_name) {
        seen_list.push_back(std::move(seen));
    }
    return seen_list;
}

bool is_own_version(std::string_view version) {
    const auto plus = version.find('+');
    if (plus == std::string_view::npos || is_version_of_a_checkout(version)) {
        return plus != std::string_view::npos;
    }
    constexpr auto k_of_indexes =
        std::to_array<std::string_view>({"cu1", "cu9", "cpu", "rocm", "xpu"});
    return std::ranges::none_of(k_of_indexes, [&](std::string_view begin) {
        return version.substr(plus + 1).starts_with(begin);
    });
}

bool was_gone_before(const SeenDistribution& was, std::int64_t installed_ns) {
    constexpr std::int64_t k_longest_install_ns = 600'000'000'000;
    return was.gone_ns != 0 && installed_ns > was.gone_ns + k_longest_install_ns;
}

std::vector<SeenDistribution> remember(const std::vector<SeenDistribution>& previous,
                                       std::vector<SeenDistribution> now, std::int64_t now_ns) {
    for (const auto& before : previous) {
        if (before.origin == Origin::Wheel) {
            continue;
        }
        const auto at = std::ranges::find_if(
            now, [&](const SeenDistribution& seen) { return seen.name == before.name; });
        if (at == now.end()) {
            auto& gone = now.emplace_back(before);
            gone.gone_ns = gone.gone_ns != 0 ? gone.gone_ns : now_ns;
        } else if (at->origin == Origin::Wheel && !was_gone_before(before, at->installed_ns)) {
            *at = before;
        }
    }
    std::ranges::sort(now,
                      [](const auto& left, const auto& right) { return left.name < right.name; });
    return now;
}

} // namespace cudaenv::rules
