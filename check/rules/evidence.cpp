#include "check/rules/evidence.hpp"

#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "check/rules/origin.hpp"
#include "check/rules/parties.hpp"
#include "check/rules/torch_pairing.hpp"
#include "solver/knowledge/findings.hpp"
#include "solver/specs/pep440.hpp"
#include "solver/specs/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace cudaenv::rules {

namespace {

constexpr std::size_t k_most_quoted = 3;

std::string requirement_of(const facts::Distribution& distribution) {
    return pip_requirement(distribution.name, distribution.version);
}

bool is_letter_or_digit(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9');
}

bool has_only(std::string_view text, std::string_view others) {
    return !text.empty() && std::ranges::all_of(text, [&](char letter) {
        return is_letter_or_digit(letter) || others.find(letter) != std::string_view::npos;
    });
}

bool is_whole(const std::vector<std::string>& words) {
    return !is_one_of(std::string(), words);
}

// PyTorch's index of the build: "+cu128" of torch and its partners; empty: it is not one of those.
std::string index_of_label(const CheckContext& context, const facts::Distribution& distribution) {
    const auto plus = distribution.version.find('+');
    const auto partners = torch_partners();
    const auto torch = find_member(context, "torch");
    if (origin_of(distribution) != facts::Origin::Wheel || distribution.direct_url || !torch ||
        plus == std::string::npos ||
        (distribution.name != "torch" && !is_one_of(distribution.name, partners))) {
        return {};
    }
    const auto* variant =
        knowledge::torch_variant(torch->version, distribution.version.substr(plus + 1));
    return variant == nullptr ? std::string() : variant->wheel_index;
}

} // namespace

CheckFinding report(const CheckContext& context, std::string_view code, std::string_view situation,
                    std::string subject, facts::Arguments arguments,
                    std::optional<facts::Severity> severity) {
    arguments.emplace_back("selector", context.is_named
                                           ? " -p " + shell_word(context.inventory.prefix)
                                           : std::string());
    CheckFinding found;
    found.subject = std::move(subject);
    found.finding = knowledge::finding(code, situation, std::move(arguments), severity);
    return found;
}

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

std::string grouped(std::size_t number) {
    auto text = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
        text.insert(static_cast<std::size_t>(at), ",");
    }
    return text;
}

std::string yes_if(bool condition) {
    return condition ? "yes" : "";
}

std::string counted(std::size_t number, std::string_view noun) {
    return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

std::string short_version(std::string_view version) {
    const auto git = version.find("+git");
    return printable(git == std::string_view::npos ? version : version.substr(0, git + 4));
}

std::optional<DottedVersion> release_of(std::string_view version) {
    const auto whole = DottedVersion::parse(leading_numbers(version));
    return whole && whole->parts().size() > 1
               ? std::optional(DottedVersion::of(whole->major_minor()))
               : std::nullopt;
}

std::string title_of(const facts::CondaPackage& package) {
    return printable(package.name + ' ' + package.version);
}

std::string title_of(const facts::Distribution& distribution) {
    return printable(distribution.version.empty() ? distribution.name
                                                  : distribution.name + ' ' + distribution.version);
}

std::string title_of(const facts::Leftover& left) {
    return printable(left.version.empty() ? left.name : left.name + ' ' + left.version);
}

std::string title_of(const CheckContext& context, const Party& party) {
    return party.is_conda() ? title_of(context.inventory.conda[party.package])
                            : title_of(context.inventory.distributions[party.package]);
}

std::string manager_of(const CheckContext& context, const Party& party) {
    if (party.is_conda()) {
        return "conda";
    }
    const auto& distribution = context.inventory.distributions[party.package];
    if (!distribution.installer.empty()) {
        constexpr std::size_t k_longest = 24;
        return printable(distribution.installer.substr(
            0, std::min(distribution.installer.find(' '), k_longest)));
    }
    return distribution.kind == facts::DistributionKind::DistInfo ? "pip" : "setup.py";
}

std::string owned_title(const CheckContext& context, const Party& party) {
    return manager_of(context, party) + "'s " + title_of(context, party);
}

facts::Evidence record_evidence(const CheckContext& context, const Party& party) {
    const auto& inventory = context.inventory;
    const auto& path = party.is_conda() ? inventory.conda[party.package].record
                                        : inventory.distributions[party.package].metadata;
    const auto when = utc(party.is_conda() ? inventory.conda[party.package].written_ns
                                           : inventory.distributions[party.package].installed_ns);
    const bool built = !party.is_conda() &&
                       context.ownership.of(party.package).owner == Owner::Pip &&
                       origin_of(inventory.distributions[party.package]) == facts::Origin::Built;
    return {absolute_path(context, path), 0,
            title_of(context, party) + (built ? ", built here" : "") + ", installed by " +
                manager_of(context, party) + (when.empty() ? "" : ", " + when)};
}

void quote_files(const CheckContext& context, facts::Finding& finding,
                 const std::vector<std::string>& files, std::string_view text) {
    const auto quoted = files.size() <= k_most_quoted + 1 ? files.size() : k_most_quoted;
    for (std::size_t i = 0; i < quoted; ++i) {
        std::string words(text);
        if (i + 1 == quoted && quoted < files.size()) {
            words += fmt::format(", and {} more", counted(files.size() - quoted, "file"));
        }
        finding.evidence.push_back({absolute_path(context, files[i]), 0, std::move(words)});
    }
}

std::string pip_uninstall(const CheckContext& context, const facts::Distribution& distribution) {
    const auto name = pip_name(distribution.name); // which no shell reads otherwise
    // Without its list of files both refuse: what distutils installed, a RECORD that is gone.
    const bool has_list = distribution.has_record ||
                          distribution.kind == facts::DistributionKind::EggLink ||
                          distribution.kind == facts::DistributionKind::EggDirectory ||
                          distribution.kind == facts::DistributionKind::EggFile;
    if (name.empty() || !has_list) {
        return {};
    }
    if (is_uv(distribution.installer)) {
        return "uv pip uninstall --python " + shell_word(context.inventory.prefix) + ' ' + name;
    }
    return shell_word(absolute_path(context, context.inventory.python)) + " -m pip uninstall -y " +
           name;
}

std::string pip_reinstall(const CheckContext& context, const facts::Distribution& distribution) {
    std::vector<std::string> words{is_uv(distribution.installer) ? "--reinstall"
                                                                 : "--force-reinstall",
                                   "--no-deps", requirement_of(distribution)};
    if (!is_of_an_index(distribution)) {
        auto index = index_of_label(context, distribution);
        if (index.empty()) {
            return {}; // of what was built here an index has something else, or nothing
        }
        words.insert(words.end(), {"--index-url", std::move(index)});
    }
    return pip_install(context, &distribution, words);
}

std::string conda_reinstall(const CheckContext& context, const facts::CondaPackage& package) {
    return conda_install(
        context,
        {"--force-reinstall", conda_requirement(package.name, package.version, package.build)});
}

bool is_of_an_index(const facts::Distribution& distribution) {
    return origin_of(distribution) == facts::Origin::Wheel && !distribution.direct_url &&
           distribution.version.find('+') == std::string::npos &&
           !requirement_of(distribution).empty();
}

std::string pip_name(std::string_view name) {
    return has_only(name, "-_.") && is_letter_or_digit(name.front()) &&
                   is_letter_or_digit(name.back())
               ? std::string(name)
               : std::string();
}

std::string pip_requirement(std::string_view name, std::string_view version) {
    return pip_name(name).empty() || !specs::Pep440Version::parse(version)
               ? std::string()
               : std::string(name) + "==" + std::string(version);
}

std::string conda_requirement(std::string_view name, std::string_view version,
                              std::string_view build) {
    constexpr std::string_view k_more = "._+!-";
    if (!has_only(name, "-_.") || name.front() == '-' || name.front() == '.' ||
        !has_only(version, k_more) || (!build.empty() && !has_only(build, k_more))) {
        return {};
    }
    auto requirement = std::string(name) + '=' + std::string(version);
    return build.empty() ? requirement : requirement + '=' + std::string(build);
}

std::string pip_source(std::string_view source) {
    const auto scheme = source.substr(0, std::min(source.find("://"), source.size()));
    const bool is_url = scheme.size() != source.size() && has_only(scheme, "+");
    return source.starts_with('/') || (is_url && is_letter_or_digit(source.front()))
               ? std::string(source)
               : std::string();
}

std::string both_commands(const std::string& first, const std::string& then) {
    return first.empty() || then.empty() ? std::string() : first + " && " + then;
}

knowledge::Target target_of(const CheckContext& context, const facts::Distribution* like) {
    using knowledge::Target;
    const auto kind = context.inventory.conda_prefix ? Target::Kind::Conda : Target::Kind::Venv;
    auto target =
        knowledge::target_of(context.host == nullptr ? facts::Host{} : *context.host, kind,
                             context.inventory.prefix, like != nullptr && is_uv(like->installer));
    target.python = absolute_path(context, context.inventory.python);
    return target;
}

std::string pip_install(const CheckContext& context, const facts::Distribution* like,
                        const std::vector<std::string>& words) {
    return is_whole(words) ? knowledge::pip_install(target_of(context, like), words)
                           : std::string();
}

std::string conda_install(const CheckContext& context, const std::vector<std::string>& words) {
    return is_whole(words) ? knowledge::conda_install(target_of(context, nullptr), words, {})
                           : std::string();
}

std::string absolute_path(const CheckContext& context, std::string_view path) {
    if (path.starts_with('/')) {
        return std::string(path);
    }
    const auto& prefix = context.inventory.prefix;
    return (prefix == "/" ? std::string() : prefix) + '/' + std::string(path);
}

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
