#include "solver/plan/check/repairs.hpp"

#include "solver/plan/check/origin.hpp"
#include "solver/specs/requirement.hpp"

#include <algorithm>

namespace cudaenv::plan {

const facts::Distribution& distribution_of(const CheckScene& scene, const Party& party) {
    return scene.inventory.distributions[party.package];
}

bool is_own_work(const CheckScene& scene, const Party& party) {
    if (party.is_conda()) {
        return false;
    }
    const auto& distribution = distribution_of(scene, party);
    const auto& url = distribution.direct_url;
    return origin_of(distribution) != facts::Origin::Wheel ||
           is_own_version(distribution.version) ||
           (url && url->url.starts_with("file:")); // a wheel that may be nowhere else
}

bool requires_name(const facts::Distribution& distribution, std::string_view name) {
    const auto& wanted = distribution.requires_dist;
    return std::any_of(wanted.begin(), wanted.end(), [&](std::string_view text) {
        constexpr std::string_view k_name = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789-_.";
        const auto marker = text.find(';');
        return (marker == std::string_view::npos ||
                text.find("extra", marker) == std::string_view::npos) &&
               specs::normalize_project_name(text.substr(0, text.find_first_not_of(k_name))) ==
                   name;
    });
}

std::optional<Repair> put_back(const CheckScene& scene, std::string_view name,
                               std::string_view version) {
    const KeptCopy* found = nullptr;
    for (const KeptCopy& copy : scene.kept) {
        if (copy.name == name && (found == nullptr || found->version != version)) {
            found = &copy;
        }
    }
    if (found == nullptr) {
        return std::nullopt;
    }
    Repair repair;
    repair.kind = Repair::Kind::RestoreKept;
    repair.distribution = found->name;
    repair.version = found->version;
    return repair;
}

bool is_kept(const CheckScene& scene, std::string_view name) {
    return std::any_of(scene.kept.begin(), scene.kept.end(),
                       [&](const KeptCopy& copy) { return copy.name == name; });
}

Repair uninstall(const CheckScene& scene, const Party& party) {
    const auto& distribution = distribution_of(scene, party);
    Repair repair;
    repair.kind = Repair::Kind::UninstallPip;
    repair.path = distribution.metadata;
    repair.distribution = distribution.name;
    repair.version = distribution.version;
    return repair;
}

Repair reinstall(const CheckScene& scene, const Party& party) {
    auto repair = uninstall(scene, party);
    repair.kind = Repair::Kind::ReinstallPip;
    return repair;
}

Repair restore(const CheckScene& scene, const Party& party, std::vector<std::string> files) {
    const auto& claimed = scene.inventory.conda[party.package].files;
    for (const auto& shipped : scene.ownership.shipped()) {
        if (shipped.conda != party.package) {
            continue;
        }
        for (const auto& file : claimed) {
            if (claimed.path(file).starts_with(shipped.metadata + '/')) {
                files.emplace_back(claimed.path(file));
            }
        }
    }
    std::sort(files.begin(), files.end());
    files.erase(std::unique(files.begin(), files.end()), files.end());
    Repair repair;
    repair.kind = Repair::Kind::RestoreConda;
    repair.package = party.package;
    repair.files = std::move(files);
    return repair;
}

} // namespace cudaenv::plan
