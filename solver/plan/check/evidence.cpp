#include "solver/plan/check/evidence.hpp"

#include "base/shell_word.hpp"
#include "solver/plan/check/install_text.hpp"
#include "solver/plan/check/installers.hpp"
#include "solver/plan/check/origin.hpp"
#include "solver/plan/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace cudaenv::plan {

namespace {

constexpr std::size_t k_most_quoted = 3;

std::string requirement_of(const facts::Distribution& distribution) {
    return pip_requirement(distribution.name, distribution.version);
}

} // namespace

std::string utc(std::int64_t since_epoch_ns) {
    if (since_epoch_ns <= 0) {
        return {};
    }
    const std::chrono::sys_seconds at{std::chrono::seconds(since_epoch_ns / 1'000'000'000)};
    const auto day = std::chrono::floor<std::chrono::days>(at);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(at - day);
    return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       time.hours().count(), time.minutes().count());
}

std::string counted(std::size_t number, std::string_view noun) {
    auto text = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
        text.insert(static_cast<std::size_t>(at), ",");
    }
    return fmt::format("{} {}{}", text, noun, number == 1 ? "" : "s");
}

std::string short_version(std::string_view version) {
    const auto git = version.find("+git");
    return printable(git == std::string_view::npos ? version : version.substr(0, git + 4));
}

std::string title_of(const facts::CondaPackage& package) {
    return printable(package.name + ' ' + package.version);
}

std::string title_of(const facts::Distribution& distribution) {
    return printable(distribution.version.empty() ? distribution.name
                                                  : distribution.name + ' ' + distribution.version);
}

std::string title_of(const CheckScene& scene, const Party& party) {
    return party.is_conda() ? title_of(scene.inventory.conda[party.package])
                            : title_of(scene.inventory.distributions[party.package]);
}

std::string manager_of(const CheckScene& scene, const Party& party) {
    if (party.is_conda()) {
        return "conda";
    }
    const auto& distribution = scene.inventory.distributions[party.package];
    if (!distribution.installer.empty()) {
        constexpr std::size_t k_longest = 24;
        return printable(distribution.installer.substr(
            0, std::min(distribution.installer.find(' '), k_longest)));
    }
    return distribution.kind == facts::DistributionKind::DistInfo ? "pip" : "setup.py";
}

std::string owned_title(const CheckScene& scene, const Party& party) {
    return manager_of(scene, party) + "'s " + title_of(scene, party);
}

Evidence record_evidence(const CheckScene& scene, const Party& party) {
    const auto& inventory = scene.inventory;
    const auto& path = party.is_conda() ? inventory.conda[party.package].record
                                        : inventory.distributions[party.package].metadata;
    const auto when = utc(party.is_conda() ? inventory.conda[party.package].written_ns
                                           : inventory.distributions[party.package].installed_ns);
    return {absolute_path(scene, path), 0,
            title_of(scene, party) + ", installed by " + manager_of(scene, party) +
                (when.empty() ? "" : ", " + when)};
}

void quote_files(const CheckScene& scene, Finding& finding, const std::vector<std::string>& files,
                 std::string_view text) {
    const auto quoted = files.size() <= k_most_quoted + 1 ? files.size() : k_most_quoted;
    for (std::size_t i = 0; i < quoted; ++i) {
        std::string words(text);
        if (i + 1 == quoted && quoted < files.size()) {
            words += fmt::format(", and {} more", counted(files.size() - quoted, "file"));
        }
        finding.evidence.push_back({absolute_path(scene, files[i]), 0, std::move(words)});
    }
}

std::string pip_uninstall(const CheckScene& scene, const facts::Distribution& distribution) {
    const auto name = pip_name(distribution.name); // which no shell reads otherwise
    if (name.empty()) {
        return {};
    }
    if (is_uv(distribution.installer)) {
        return "uv pip uninstall --python " + shell_word(scene.inventory.prefix) + ' ' + name;
    }
    return shell_word(absolute_path(scene, scene.inventory.python)) + " -m pip uninstall -y " +
           name;
}

std::string pip_reinstall(const CheckScene& scene, const facts::Distribution& distribution) {
    return pip_install(scene, &distribution,
                       {is_uv(distribution.installer) ? "--reinstall" : "--force-reinstall",
                        "--no-deps", requirement_of(distribution)});
}

std::string conda_reinstall(const CheckScene& scene, const facts::CondaPackage& package) {
    return conda_install(scene, {"--force-reinstall",
                                 conda_requirement(package.name, package.version, package.build)});
}

bool is_of_an_index(const facts::Distribution& distribution) {
    return origin_of(distribution) == facts::Origin::Wheel && !distribution.direct_url &&
           distribution.version.find('+') == std::string::npos &&
           !requirement_of(distribution).empty();
}

std::string selector(const CheckScene& scene) {
    return scene.is_named ? " -p " + shell_word(scene.inventory.prefix) : std::string();
}

Fix own_fix(const CheckScene& scene, const Finding& finding, std::string text) {
    return {std::move(text), "cudaenv check --fix " + finding.code + selector(scene)};
}

} // namespace cudaenv::plan
