#include "check/rules/ownership.hpp"

#include "base/ranges.hpp"
#include "check/rules/file_kind.hpp"
#include "solver/specs/requirement.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::rules {

namespace {

using facts::ClaimHash;
using facts::DistributionKind;
using facts::Sha256Digest;

struct InstallerText {
    std::string_view word;
    Sha256Digest sha256;
};

// With and without a newline at the end; a test computes them.
constexpr auto k_installer_texts = std::to_array<InstallerText>({
    {"pip", known_digest("ceebae7b8927a3227e5303cf5e0f1f7b34bb542ad7250ac03fbcde36ec2f1508")},
    {"pip", known_digest("fed5038bf2f427ab2ec84f85881f103c0e946e8d6252b8731f99ab0cb57729d9")},
    {"uv", known_digest("2c38c529b6ea8ab8a55971a26bfd14a3796c15cd7328fe35e9e8a665a87b8cdc")},
    {"uv", known_digest("e6184ce10e266134fdcfa401e8f1a95005bcd4f18d16b62b757323e2833fe9a9")},
    {"conda", known_digest("bc33022edcb7639ff53355b4e91dade50a0bbf0299efeb6171d1ec0ba5029cfc")},
    {"conda", known_digest("d0edee15f91b406f3f99726e44eb990be6e34fd0345b52b910c568e0eef6a2a8")},
    {"conda-pypi",
     known_digest("906f6d2ec38ccc2407e5ce520594ea7942bb2824d0e33fba980b81c8489d1aec")},
    {"conda-pypi",
     known_digest("d40bc8f7dfaf4c867d836216c3e99cfb9b57f5cd0f91095e940de56686d28f05")},
    {"uv-pixi", known_digest("bceac0a8691015f4123255c8f6bfc5d6a993bfbab8f79b7446fa7611118c8d15")},
    {"uv-pixi", known_digest("2ced07f1d68f58c1d988e2890e0e85f91b445e8dd1931bf087963d3f4990b915")},
});

bool is_known_installer(std::string_view word) {
    return std::ranges::any_of(k_installer_texts,
                               [&](const InstallerText& text) { return text.word == word; });
}

// Where a distribution's kind keeps its name and version.
std::string claimed_metadata(DistributionKind kind, const std::string& metadata) {
    switch (kind) {
    case DistributionKind::DistInfo:
        return metadata + "/METADATA";
    case DistributionKind::EggInfoDirectory:
        return metadata + "/PKG-INFO";
    case DistributionKind::EggDirectory:
        return metadata + "/EGG-INFO/PKG-INFO";
    case DistributionKind::EggInfoFile:
    case DistributionKind::EggFile:
        return metadata;
    case DistributionKind::EggLink:
        break; // leads to metadata beside the source
    }
    return {};
}

// The metadata that a claimed path is the heart of; empty: it is no such path.
std::string_view metadata_of(std::string_view path) {
    constexpr std::string_view k_wheel = ".dist-info/METADATA";
    constexpr std::string_view k_egg = ".egg-info/PKG-INFO";
    if (path.ends_with(k_wheel) || path.ends_with(k_egg)) {
        return path.substr(0, path.rfind('/'));
    }
    return path.ends_with(".egg-info") ? path : std::string_view();
}

// Is what lies in a directory of this name the system's, where no INSTALLER says more?
bool is_system_place(const facts::Inventory& inventory, std::string_view site) {
    return site.ends_with("dist-packages") || inventory.prefix == "/usr";
}

bool is_system_word(std::string_view installer) {
    return installer == "debian" || installer == "rpm";
}

} // namespace

std::string_view installer_of(const Sha256Digest& digest) {
    const auto* const found = std::ranges::find_if(
        k_installer_texts, [&](const InstallerText& text) { return text.sha256 == digest; });
    return found == k_installer_texts.end() ? std::string_view() : found->word;
}

Ownership::Ownership(const facts::Inventory& inventory, const facts::Claims& claims) {
    find_shipped(inventory);
    m_owned.reserve(inventory.distributions.size());
    for (const auto& distribution : inventory.distributions) {
        m_owned.push_back(judge(inventory, claims, distribution));
    }
}

void Ownership::find_shipped(const facts::Inventory& inventory) {
    for (std::uint32_t package = 0; package < inventory.conda.size(); ++package) {
        const auto& files = inventory.conda[package].files;
        for (const auto& file : files) {
            const auto path = files.path(file);
            const auto metadata = metadata_of(path);
            const auto slash = metadata.rfind('/');
            if (slash == std::string_view::npos ||
                !is_one_of(metadata.substr(0, slash), inventory.sites)) {
                continue; // also what a package carries of others, in a directory of its own
            }
            auto stem = metadata.substr(slash + 1);
            stem = stem.substr(0, stem.rfind('.'));
            if (const auto python = stem.rfind("-py");
                python != std::string_view::npos && metadata.ends_with(".egg-info")) {
                stem = stem.substr(0, python);
            }
            const auto dash = stem.find('-');
            m_shipped.push_back({package, specs::normalize_project_name(stem.substr(0, dash)),
                                 dash == std::string_view::npos
                                     ? std::string()
                                     : std::string(stem.substr(dash + 1)),
                                 std::string(metadata.substr(0, slash)), std::string(metadata),
                                 std::string(path), false});
        }
    }
    for (auto& shipped : m_shipped) {
        // pip leaves what conda added to the directory: the directory alone is no distribution.
        const bool there =
            std::ranges::any_of(inventory.distributions, [&](const auto& distribution) {
                return distribution.metadata == shipped.metadata && distribution.has_metadata;
            });
        // A site or metadata that could not be read may hold it.
        const bool unknown = std::ranges::any_of(inventory.notes, [&](const auto& note) {
            return note.path == shipped.site || note.path.starts_with(shipped.metadata);
        });
        shipped.gone = !there && !unknown;
    }
}

Owned Ownership::judge(const facts::Inventory& inventory, const facts::Claims& claims,
                       const facts::Distribution& distribution) const {
    const auto conda_claim = [&](const std::string& path) {
        const auto found = path.empty() ? std::vector<facts::Claim>() : claims.of(path);
        return !found.empty() && found.front().by == facts::Claim::By::Conda
                   ? std::optional(found.front())
                   : std::nullopt;
    };
    const auto& installer = distribution.installer;
    if (const auto claim =
            conda_claim(claimed_metadata(distribution.kind, distribution.metadata))) {
        if (installer.empty() || installer == "conda") {
            return {Owner::Conda, claim->package};
        }
        const auto shipped = conda_claim(distribution.metadata + "/INSTALLER");
        if (!shipped) {
            return {Owner::Pip, claim->package, true};
        }
        const auto& file = claims.file(*shipped);
        const auto word =
            file.hash == ClaimHash::Sha256 ? installer_of(file.sha256) : std::string_view();
        const bool hashed = file.hash == ClaimHash::Sha256;
        const bool another =
            !word.empty() ? word != installer : hashed && is_known_installer(installer);
        return another ? Owned{Owner::Pip, claim->package, true}
                       : Owned{Owner::Conda, claim->package};
    }
    std::optional<std::uint32_t> same_name;
    bool gone = false;
    for (const auto& shipped : m_shipped) {
        if (shipped.name == distribution.name &&
            (!same_name || shipped.site == distribution.site)) {
            same_name = shipped.conda;
            gone = shipped.gone;
        }
    }
    if (installer == "conda") {
        return {Owner::Conda, same_name};
    }
    if (is_system_word(installer) ||
        (installer.empty() && is_system_place(inventory, distribution.site))) {
        return {Owner::System, {}};
    }
    if (distribution.kind == DistributionKind::EggDirectory ||
        distribution.kind == DistributionKind::EggFile) {
        return {Owner::Pip, {}}; // apart from all others, and behind them where Python looks
    }
    return {Owner::Pip, same_name, same_name && gone};
}

bool is_ordinary_difference(std::string_view path) {
    if (path.ends_with(".pyc") || path.ends_with(".pyo")) {
        return true;
    }
    if (path.ends_with("/__pycache__") || path.find("/__pycache__/") != std::string_view::npos ||
        path.starts_with("__pycache__")) {
        return true;
    }
    constexpr auto k_rewritten = std::to_array<std::string_view>(
        {"INSTALLER", "RECORD", "REQUESTED", "direct_url.json", "uv_cache.json", "uv_build.json"});
    const auto slash = path.rfind('/');
    return slash != std::string_view::npos &&
           (path.substr(0, slash).ends_with(".dist-info") ||
            path.substr(0, slash).ends_with(".egg-info")) &&
           is_one_of(path.substr(slash + 1), k_rewritten);
}

} // namespace cudaenv::rules
