#include "base/printable.hpp"
#include "check/rules/cuda_libraries.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/origin.hpp"
#include "check/rules/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace cudaenv::rules {

namespace {

using facts::Distribution;

// "56 of its 97 files overwritten, 3 missing"
std::string extent_of(const Loss& loss) {
    std::vector<std::string> parts;
    const auto add = [&](std::size_t number, std::string_view what) {
        if (number != 0) {
            parts.push_back(parts.empty() ? fmt::format("{} of its {} {}", number,
                                                        counted(loss.claimed, "file"), what)
                                          : fmt::format("{} {}", number, what));
        }
    };
    add(loss.replaced.size(), "overwritten");
    add(loss.gone.size(), "missing");
    add(loss.changed.size(), "changed");
    return fmt::format("{}", fmt::join(parts, ", "));
}

bool is_needed(const CheckContext& context, const Party& party) {
    const auto& own = distribution_of(context, party);
    const auto& all = context.inventory.distributions;
    return own.requested || std::ranges::any_of(all, [&](const Distribution& other) {
               return requires_name(other, own.name);
           });
}

std::string subject_of(const CheckContext& context, const Loss& loss) {
    return loss.victim.is_conda() ? context.inventory.conda[loss.victim.package].name
                                  : distribution_of(context, loss.victim).name;
}

CheckFinding begin(const CheckContext& context, const Loss& loss, std::string_view code,
                   std::string_view situation, facts::Arguments arguments) {
    auto found = report(context, code, situation, subject_of(context, loss), std::move(arguments));
    for (const auto* files : {&loss.replaced, &loss.gone, &loss.changed}) {
        found.files.insert(found.files.end(), files->begin(), files->end());
    }
    std::ranges::sort(found.files);
    found.finding.evidence.push_back(record_evidence(context, loss.victim));
    // The records alone do not prove how many there are.
    if (context.examined != nullptr) {
        found.finding.evidence.back().text += ": " + extent_of(loss);
    }
    if (loss.writer) {
        found.finding.evidence.push_back(record_evidence(context, *loss.writer));
        quote_files(context, found.finding, loss.replaced,
                    loss.order_known ? "content of " + owned_title(context, *loss.writer)
                                     : "owned by both");
    }
    quote_files(context, found.finding, loss.gone, "missing");
    quote_files(context, found.finding, loss.changed, "changed");
    return found;
}

// Two packages of different names, one of them conda's: both own one path, so only one of them can
// be complete. The user decides which one stays.
CheckFinding two_packages(const CheckContext& context, const Loss& loss, std::string_view code) {
    const Party& writer = *loss.writer;
    const auto& [distribution, conda] =
        loss.victim.is_conda() ? std::tie(writer, loss.victim) : std::tie(loss.victim, writer);
    auto found =
        begin(context, loss, code, "two-packages",
              {{"writer", owned_title(context, writer)},
               {"victim", owned_title(context, loss.victim)},
               {"n", grouped(loss.replaced.size())},
               {"command",
                both_commands(pip_uninstall(context, distribution_of(context, distribution)),
                              conda_reinstall(context, context.inventory.conda[conda.package]))}});
    found.said_at_prompt = true;
    return found;
}

CheckFinding uninstalled_conda(const CheckContext& context, const Loss& loss) {
    auto found = begin(context, loss, "CE102", "uninstalled",
                       {{"victim", owned_title(context, loss.victim)}});
    found.repairs.push_back(restore(context, loss.victim, loss.gone));
    found.said_at_prompt = true;
    return found;
}

CheckFinding wheel_over_conda(const CheckContext& context, const Loss& loss) {
    if (!loss.writer) {
        return uninstalled_conda(context, loss);
    }
    if (!loss.same_distribution) {
        return two_packages(context, loss, "CE102");
    }
    const auto& writer = *loss.writer;
    const auto& package = context.inventory.conda[loss.victim.package];
    const auto& wheel = distribution_of(context, writer);
    // What was built here cannot be reinstalled.
    const bool stays = is_own_work(context, writer) || is_kept(context, wheel.name);
    auto found = begin(context, loss, "CE102", "replaced",
                       {{"manager", manager_of(context, writer)},
                        {"victim", owned_title(context, loss.victim)},
                        {"writer", owned_title(context, writer)},
                        {"wheel", title_of(wheel)},
                        {"package", title_of(package)},
                        {"version", printable(package.version)},
                        {"same_version", yes_if(package.version == wheel.version)},
                        {"own_work", yes_if(stays)}});
    if (!stays) {
        found.repairs = {uninstall(context, writer), restore(context, loss.victim, found.files)};
    }
    found.said_at_prompt = true;
    return found;
}

CheckFinding conda_over_wheel(const CheckContext& context, const Loss& loss) {
    if (!loss.same_distribution) {
        return two_packages(context, loss, "CE103");
    }
    const auto& writer = *loss.writer;
    const bool stays = is_own_work(context, loss.victim);
    auto found = begin(context, loss, "CE103", "replaced",
                       {{"victim", owned_title(context, loss.victim)},
                        {"writer", owned_title(context, writer)},
                        {"package", title_of(context.inventory.conda[writer.package])},
                        {"overwrote", yes_if(!loss.replaced.empty())},
                        {"own_work", yes_if(stays)}});
    if (!stays) {
        found.repairs = {uninstall(context, loss.victim)};
    }
    found.said_at_prompt = true;
    return found;
}

// Whichever of the two wrote last.
CheckFinding wheels_with_one_file(const CheckContext& context, const Loss& loss,
                                  std::string_view code) {
    const auto [one, other] =
        std::minmax({title_of(context, loss.victim), title_of(context, *loss.writer)});
    auto found = begin(context, loss, "CE108", "order-unknown",
                       {{"one", one},
                        {"other", other},
                        {"n", grouped(loss.replaced.size())},
                        {"code", std::string(code)}});
    found.said_at_prompt = true;
    return found;
}

// The same library for another CUDA that was installed beside it and no longer is: its uninstall
// removed the files that both owned. nvidia-cuda-runtime-cu11 for -cu12.
const facts::SeenDistribution* uninstalled_sibling(const CheckContext& context,
                                                   const Distribution& distribution) {
    const auto stem = [](std::string_view name) {
        const auto tag = name.rfind("-cu");
        return tag == std::string_view::npos ? std::string_view() : name.substr(0, tag);
    };
    const auto own = stem(distribution.name);
    const auto& all = context.inventory.distributions;
    for (const auto& seen : context.seen) {
        if (!own.empty() && seen.name != distribution.name && stem(seen.name) == own &&
            std::ranges::none_of(
                all, [&](const Distribution& other) { return other.name == seen.name; })) {
            return &seen;
        }
    }
    return nullptr;
}

CheckFinding files_gone(const CheckContext& context, const Loss& loss) {
    facts::Arguments arguments{{"n", grouped(loss.gone.size())},
                               {"total", counted(loss.claimed, "file")}};
    if (loss.victim.is_conda()) {
        arguments.emplace_back("victim", owned_title(context, loss.victim));
        auto found = begin(context, loss, "CE107", "conda", std::move(arguments));
        found.repairs.push_back(restore(context, loss.victim, loss.gone));
        return found;
    }
    const auto& distribution = distribution_of(context, loss.victim);
    arguments.emplace_back("victim", title_of(distribution));
    arguments.emplace_back("installer", printable(distribution.installer));
    std::vector<Repair> repairs;
    if (auto kept = put_back(context, distribution.name, distribution.version)) {
        arguments.emplace_back("restored", printable(kept->version));
        repairs.emplace_back(std::move(*kept));
    } else if (is_of_an_index(distribution)) {
        arguments.emplace_back("reinstalled", title_of(distribution));
        repairs.push_back(reinstall(context, loss.victim));
    } else if (const auto source = source_of(distribution); !source.empty()) {
        arguments.emplace_back("source", printable(source));
    } else {
        arguments.emplace_back("by_hand", "yes");
    }
    arguments.emplace_back("own", yes_if(!repairs.empty()));
    auto found = begin(context, loss, "CE107", "pip", std::move(arguments));
    if (const auto* sibling = uninstalled_sibling(context, distribution)) {
        found.finding.evidence.push_back(
            {{}, 0, printable(sibling->name + ' ' + sibling->version) + " was uninstalled"});
    }
    found.repairs = std::move(repairs);
    return found;
}

CheckFinding changed(const CheckContext& context, const Loss& loss) {
    const bool only_gone = loss.changed.empty();
    const bool of_conda = loss.victim.is_conda();
    facts::Arguments arguments{{"victim", owned_title(context, loss.victim)},
                               {"n", grouped(loss.changed.size() + loss.gone.size())},
                               {"deleted", yes_if(!loss.gone.empty())},
                               {"conda", yes_if(of_conda)}};
    std::string command;
    if (of_conda) {
        if (!only_gone) {
            command = conda_reinstall(context, context.inventory.conda[loss.victim.package]);
        }
    } else if (const auto& own = distribution_of(context, loss.victim); is_of_an_index(own)) {
        command = pip_reinstall(context, own);
    } else {
        arguments.emplace_back("source", printable(source_of(own)));
    }
    arguments.emplace_back("command", std::move(command));
    auto found =
        begin(context, loss, "CE109", only_gone ? "missing" : "changed", std::move(arguments));
    if (of_conda && only_gone) {
        found.repairs.push_back(restore(context, loss.victim, loss.gone));
    }
    return found;
}

} // namespace

CheckFinding wheel_over_wheel(const CheckContext& context, const Loss& loss,
                              std::string_view code) {
    if (!loss.order_known) {
        return wheels_with_one_file(context, loss, code);
    }
    const auto& victim = distribution_of(context, loss.victim);
    const auto& writer = distribution_of(context, *loss.writer);
    const bool own_victim = is_own_work(context, loss.victim);
    const char* fix = "apart";
    std::string command;
    std::vector<Repair> repairs;
    if (!own_victim && !is_needed(context, loss.victim)) {
        fix = "spare_victim";
        repairs = {uninstall(context, loss.victim)};
    } else if (!own_victim && !is_needed(context, *loss.writer) &&
               !is_own_work(context, *loss.writer) && is_of_an_index(victim)) {
        fix = "spare_writer";
        repairs = {uninstall(context, *loss.writer), reinstall(context, loss.victim)};
    } else if (!own_victim && is_of_an_index(writer)) {
        fix = "keep_writer";
        command = both_commands(pip_uninstall(context, victim), pip_reinstall(context, writer));
    }
    auto found = begin(context, loss, "CE108", "overwritten",
                       {{"writer", title_of(writer)},
                        {"victim", title_of(victim)},
                        {"n", grouped(loss.replaced.size())},
                        {"code", std::string(code)},
                        {fix, "yes"},
                        {"own", yes_if(!repairs.empty())},
                        {"command", std::move(command)}});
    found.repairs = std::move(repairs);
    found.said_at_prompt = true;
    return found;
}

void find_overwrites(const CheckContext& context, std::vector<CheckFinding>& findings) {
    for (const auto& loss : find_losses(context)) {
        switch (loss.kind) {
        case LossKind::WheelOverConda:
            findings.push_back(wheel_over_conda(context, loss));
            break;
        case LossKind::CondaOverWheel:
            findings.push_back(conda_over_wheel(context, loss));
            break;
        case LossKind::WheelOverWheel:
            if (!are_rival_copies(context, loss.victim.package, loss.writer->package)) {
                findings.push_back(wheel_over_wheel(context, loss, "CE108"));
            }
            break;
        case LossKind::Gone:
            findings.push_back(files_gone(context, loss));
            break;
        case LossKind::Changed:
            findings.push_back(changed(context, loss));
            break;
        case LossKind::Superseded:
            break; // reported with its duplicate
        }
    }
}

} // namespace cudaenv::rules
