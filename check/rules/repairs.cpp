#include "check/rules/repairs.hpp"

#include "base/ranges.hpp"
#include "check/rules/origin.hpp"
#include "solver/specs/requirement.hpp"

#include <algorithm>

namespace cudaenv::rules {

const facts::Distribution& distribution_of(const CheckContext& context, const Party& party) {
    return context.inventory.distributions[party.package];
}

bool is_own_work(const CheckContext& context, const Party& party) {
    if (party.is_conda()) {
        return false;
    }
    const auto& distribution = distribution_of(context, party);
    const auto& url = distribution.direct_url;
    return origin_of(distribution) != facts::Origin::Wheel ||
           is_own_version(distribution.version) ||
           (url && url->url.starts_with("file:")); // a wheel that may be nowhere else
}

bool requires_name(const facts::Distribution& distribution, std::string_view name) {
    const auto& wanted = distribution.requires_dist;
    return std::ranges::any_of(wanted, [&](std::string_view text) {
        constexpr std::string_view k_name = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789-_.";
        const auto marker = text.find(';');
        return (marker == std::string_view::npos ||
                text.find("extra", marker) == std::string_view::npos) &&
               specs::normalize_project_name(text.substr(0, text.find_first_not_of(k_name))) ==
                   name;
    });
}

std::optional<RestoreKept> put_back(const CheckContext& context, std::string_view name,
                                    std::string_view version) {
    const KeptCopy* found = nullptr;
    for (const KeptCopy& copy : context.kept) {
        if (copy.name == name && (found == nullptr || found->version != version)) {
            found = &copy;
        }
    }
    if (found == nullptr) {
        return std::nullopt;
    }
    return RestoreKept{found->name, found->version};
}

bool is_kept(const CheckContext& context, std::string_view name) {
    return std::ranges::any_of(context.kept,
                               [&](const KeptCopy& copy) { return copy.name == name; });
}

Repair uninstall(const CheckContext& context, const Party& party) {
    const auto& distribution = distribution_of(context, party);
    return UninstallPip{distribution.metadata, distribution.name, distribution.version};
}

Repair reinstall(const CheckContext& context, const Party& party) {
    const auto& distribution = distribution_of(context, party);
    return ReinstallPip{distribution.name, distribution.version};
}

Repair restore(const CheckContext& context, const Party& party, std::vector<std::string> files) {
    const auto& claimed = context.inventory.conda[party.package].files;
    for (const auto& shipped : context.ownership.shipped()) {
        if (shipped.conda != party.package) {
            continue;
        }
        for (const auto& file : claimed) {
            if (claimed.path(file).starts_with(shipped.metadata + '/')) {
                files.emplace_back(claimed.path(file));
            }
        }
    }
    sort_unique(files);
    return RestoreConda{party.package, std::move(files)};
}

} // namespace cudaenv::rules
