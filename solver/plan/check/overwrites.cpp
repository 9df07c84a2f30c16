#include "solver/plan/check/overwrites.hpp"

#include "solver/plan/check/cuda_libraries.hpp"
#include "solver/plan/check/evidence.hpp"
#include "solver/plan/check/install_text.hpp"
#include "solver/plan/check/origin.hpp"
#include "solver/plan/check/repairs.hpp"
#include "solver/plan/check/rules.hpp"
#include "solver/plan/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace cudaenv::plan {

namespace {

using facts::Distribution;

// "56 of its 97 files replaced, 3 gone"
std::string extent_of(const Loss& loss) {
    std::vector<std::string> parts;
    const auto add = [&](std::size_t number, std::string_view what) {
        if (number != 0) {
            parts.push_back(parts.empty() ? fmt::format("{} of its {} {}", number,
                                                        counted(loss.claimed, "file"), what)
                                          : fmt::format("{} {}", number, what));
        }
    };
    add(loss.replaced.size(), "replaced");
    add(loss.gone.size(), "gone");
    add(loss.changed.size(), "changed");
    return fmt::format("{}", fmt::join(parts, ", "));
}

bool is_needed(const CheckScene& scene, const Party& party) {
    const auto& own = distribution_of(scene, party);
    const auto& all = scene.inventory.distributions;
    return own.requested || std::any_of(all.begin(), all.end(), [&](const Distribution& other) {
               return requires_name(other, own.name);
           });
}

// Of different names, one of conda's and one not: both write one path and cannot both be whole;
// which is to stay is the user's to say.
void tell_two_packages(const CheckScene& scene, const Loss& loss, CheckFinding& told) {
    const Party& writer = *loss.writer;
    const auto& [distribution, conda] =
        loss.victim.is_conda() ? std::tie(writer, loss.victim) : std::tie(loss.victim, writer);
    auto& finding = told.finding;
    finding.title =
        fmt::format("{} overwrote {} of {}", owned_title(scene, writer),
                    counted(loss.replaced.size(), "file"), owned_title(scene, loss.victim));
    finding.cause = fmt::format("{} is no longer what was installed, and an update or removal of "
                                "either breaks the other.",
                                owned_title(scene, loss.victim));
    finding.fix = {"both write these files, so that one has to go; to keep conda's",
                   both_commands(pip_uninstall(scene, distribution_of(scene, distribution)),
                                 conda_reinstall(scene, scene.inventory.conda[conda.package]))};
    told.line = fmt::format("{} overwrote files of {}", owned_title(scene, writer),
                            owned_title(scene, loss.victim));
}

// Nobody can bring back what was built here.
Fix two_environments() {
    return {"what was built here and conda's package need two environments", {}};
}

CheckFinding begin(const CheckScene& scene, const Loss& loss, const char* code, Severity severity) {
    CheckFinding told;
    told.finding.code = code;
    told.finding.severity = severity;
    told.subject = loss.victim.is_conda() ? scene.inventory.conda[loss.victim.package].name
                                          : distribution_of(scene, loss.victim).name;
    for (const auto* files : {&loss.replaced, &loss.gone, &loss.changed}) {
        told.files.insert(told.files.end(), files->begin(), files->end());
    }
    std::sort(told.files.begin(), told.files.end());
    told.finding.evidence.push_back(record_evidence(scene, loss.victim));
    // The records alone do not tell how many there are.
    if (scene.examined != nullptr) {
        told.finding.evidence.back().text += ": " + extent_of(loss);
    }
    if (loss.writer) {
        told.finding.evidence.push_back(record_evidence(scene, *loss.writer));
        quote_files(scene, told.finding, loss.replaced,
                    loss.order_known ? "content of " + owned_title(scene, *loss.writer)
                                     : "a file of both");
    }
    quote_files(scene, told.finding, loss.gone, "a file that is gone");
    quote_files(scene, told.finding, loss.changed, "a file that was changed");
    return told;
}

CheckFinding uninstalled_conda(const CheckScene& scene, const Loss& loss) {
    auto told = begin(scene, loss, "CE102", Severity::Error); // nothing is there in its place
    auto& finding = told.finding;
    finding.title = owned_title(scene, loss.victim) + " was uninstalled, and not by conda";
    finding.cause =
        "Its files are gone, and conda still counts it as installed: what depends on it does "
        "not run, and conda sees nothing to install.";
    finding.fix = own_fix(scene, finding, "puts conda's files back");
    told.repairs.push_back(restore(scene, loss.victim, loss.gone));
    told.told_at_prompt = true;
    told.line = finding.title;
    return told;
}

CheckFinding wheel_over_conda(const CheckScene& scene, const Loss& loss) {
    if (!loss.writer) {
        return uninstalled_conda(scene, loss);
    }
    auto told = begin(scene, loss, "CE102", Severity::Warning);
    auto& finding = told.finding;
    const auto& writer = *loss.writer;
    const auto& package = scene.inventory.conda[loss.victim.package];
    const auto& wheel = distribution_of(scene, writer);
    if (loss.same_distribution) {
        finding.title = package.version == wheel.version
                            ? fmt::format("{} wrote its own {} over conda's",
                                          manager_of(scene, writer), title_of(wheel))
                            : fmt::format("{} replaced {} by {}", manager_of(scene, writer),
                                          owned_title(scene, loss.victim), title_of(wheel));
        finding.cause = fmt::format("Conda still counts {} as installed: its next install, update "
                                    "or removal writes over what {} put there, or takes it away.",
                                    title_of(package), manager_of(scene, writer));
        if (is_own_work(scene, writer) || is_kept(scene, wheel.name)) {
            finding.fix = two_environments();
        } else {
            finding.fix =
                own_fix(scene, finding,
                        fmt::format("takes {} away and puts conda's {} back",
                                    owned_title(scene, writer), printable(package.version)));
            told.repairs = {uninstall(scene, writer), restore(scene, loss.victim, told.files)};
        }
        told.line = finding.title;
    } else {
        tell_two_packages(scene, loss, told);
    }
    told.told_at_prompt = true;
    return told;
}

CheckFinding conda_over_wheel(const CheckScene& scene, const Loss& loss) {
    auto told = begin(scene, loss, "CE103", Severity::Warning);
    auto& finding = told.finding;
    const auto& writer = *loss.writer;
    const auto& package = scene.inventory.conda[writer.package];
    if (loss.same_distribution) {
        finding.title = loss.replaced.empty()
                            ? "conda took away files of " + owned_title(scene, loss.victim)
                            : fmt::format("conda wrote {} over {}", title_of(package),
                                          owned_title(scene, loss.victim));
        finding.cause = "Both records are here, so that Python may name either version, and the "
                        "files of the older install that conda's does not have are still imported.";
        if (is_own_work(scene, loss.victim)) {
            finding.fix = two_environments();
        } else {
            finding.fix =
                own_fix(scene, finding,
                        fmt::format("takes what is left of {} away; {} stays",
                                    owned_title(scene, loss.victim), owned_title(scene, writer)));
            told.repairs = {uninstall(scene, loss.victim)};
        }
        told.line = finding.title;
    } else {
        tell_two_packages(scene, loss, told);
    }
    told.told_at_prompt = true;
    return told;
}

// Whichever of the two wrote last.
CheckFinding wheels_with_one_file(const CheckScene& scene, const Loss& loss, const char* code) {
    auto told = begin(scene, loss, code, Severity::Warning);
    auto& finding = told.finding;
    const auto [one, other] =
        std::minmax({title_of(scene, loss.victim), title_of(scene, *loss.writer)});
    finding.title =
        fmt::format("{} and {} write {} of the same files", one, other, loss.replaced.size());
    finding.cause =
        "With other contents: one of the two now holds files of the other. Uninstalling "
        "either takes the files of both away.";
    finding.fix = Fix{"tells which of them was overwritten",
                      "cudaenv check " + finding.code + selector(scene)};
    told.told_at_prompt = true;
    told.line = finding.title;
    return told;
}

// What was installed beside it before and is no more, of the same library for another CUDA: its
// uninstall takes what both had. nvidia-cuda-runtime-cu11 for -cu12.
const facts::SeenDistribution* uninstalled_sibling(const CheckScene& scene,
                                                   const Distribution& distribution) {
    const auto stem = [](std::string_view name) {
        const auto tag = name.rfind("-cu");
        return tag == std::string_view::npos ? std::string_view() : name.substr(0, tag);
    };
    const auto own = stem(distribution.name);
    const auto& all = scene.inventory.distributions;
    for (const auto& seen : scene.seen) {
        if (!own.empty() && seen.name != distribution.name && stem(seen.name) == own &&
            std::none_of(all.begin(), all.end(),
                         [&](const Distribution& other) { return other.name == seen.name; })) {
            return &seen;
        }
    }
    return nullptr;
}

// What no index has again.
Fix install_as_before(const Distribution& distribution) {
    const auto source = source_of(distribution);
    return {source.empty() ? "install it again as it was installed"
                           : "install it again from " + printable(source),
            {}};
}

CheckFinding files_gone(const CheckScene& scene, const Loss& loss) {
    auto told = begin(scene, loss, "CE107", Severity::Error);
    auto& finding = told.finding;
    finding.title = fmt::format(
        "{} counts as installed, and {} of its {} gone",
        loss.victim.is_conda() ? owned_title(scene, loss.victim)
                               : title_of(distribution_of(scene, loss.victim)),
        loss.gone.size(), loss.claimed == 1 ? "1 file is" : counted(loss.claimed, "file") + " are");
    if (loss.victim.is_conda()) {
        finding.cause = "Deleted by hand, or by what left no record. Conda sees nothing to "
                        "install, and what uses the package fails.";
        finding.fix = own_fix(scene, finding, "puts conda's files back");
        told.repairs.push_back(restore(scene, loss.victim, loss.gone));
        return told;
    }
    const auto& distribution = distribution_of(scene, loss.victim);
    finding.cause =
        distribution.installer.empty()
            ? "An install that did not come to its end leaves it so, and so does removing another "
              "package that has files at the same paths: importing it fails."
            : "Removing another package that has files at the same paths, with conda or pip, "
              "leaves it so: its record stays, and importing it fails.";
    if (const auto* sibling = uninstalled_sibling(scene, distribution)) {
        finding.evidence.push_back(
            {{},
             0,
             printable(sibling->name + ' ' + sibling->version) + " was here, and is uninstalled"});
    }
    if (auto repair = put_back(scene, distribution.name, distribution.version)) {
        finding.fix = own_fix(scene, finding,
                              repair->version == distribution.version
                                  ? "puts back what was kept of it"
                                  : "puts back " + printable(repair->version) +
                                        ", which is what was kept of it");
        told.repairs.push_back(std::move(*repair));
    } else if (is_of_an_index(distribution)) {
        finding.fix =
            own_fix(scene, finding, fmt::format("installs {} again", title_of(distribution)));
        told.repairs.push_back(reinstall(scene, loss.victim));
    } else {
        finding.fix = install_as_before(distribution);
    }
    return told;
}

CheckFinding changed(const CheckScene& scene, const Loss& loss) {
    auto told = begin(scene, loss, "CE109", Severity::Note);
    auto& finding = told.finding;
    const bool only_gone = loss.changed.empty();
    const auto what = counted(told.files.size(), "file") + " of " + owned_title(scene, loss.victim);
    const bool one = told.files.size() == 1;
    if (only_gone) {
        finding.title = fmt::format("{} {} gone, and no record says why", what, one ? "is" : "are");
        finding.cause = "Deleted by hand, or along with another package that had files at the same "
                        "paths. What uses them fails.";
    } else {
        finding.title = fmt::format("{} {} changed{}, and no record says by whom", what,
                                    one ? "was" : "were", loss.gone.empty() ? "" : " or deleted");
        finding.cause =
            "Edited by hand, or written over by what left no record. An update loses it.";
    }
    if (loss.victim.is_conda()) {
        if (only_gone) {
            finding.fix = own_fix(scene, finding, "puts conda's files back");
            told.repairs.push_back(restore(scene, loss.victim, loss.gone));
        } else {
            finding.fix = Fix{"where it is not wanted, which loses the change",
                              conda_reinstall(scene, scene.inventory.conda[loss.victim.package])};
        }
    } else if (const auto& own = distribution_of(scene, loss.victim); is_of_an_index(own)) {
        finding.fix = Fix{only_gone ? "brings them back"
                                    : "where it is not wanted, which loses "
                                      "the change",
                          pip_reinstall(scene, own)};
    } else {
        finding.fix = install_as_before(own);
    }
    return told;
}

} // namespace

CheckFinding wheel_over_wheel(const CheckScene& scene, const Loss& loss, const char* code) {
    if (!loss.order_known) {
        return wheels_with_one_file(scene, loss, code);
    }
    auto told = begin(scene, loss, code, Severity::Warning);
    auto& finding = told.finding;
    const auto& victim = distribution_of(scene, loss.victim);
    const auto& writer = distribution_of(scene, *loss.writer);
    finding.title = fmt::format("{} overwrote {} of {}", title_of(writer),
                                counted(loss.replaced.size(), "file"), title_of(victim));
    finding.cause = fmt::format("{} now holds files of another package. Uninstalling either takes "
                                "the files of both away.",
                                title_of(victim));
    told.told_at_prompt = true;
    told.line = fmt::format("{} overwrote files of {}", title_of(writer), title_of(victim));
    if (is_own_work(scene, loss.victim)) {
        finding.fix = Fix{"install the two into two environments", {}};
    } else if (!is_needed(scene, loss.victim)) {
        finding.fix = own_fix(scene, finding,
                              fmt::format("takes {} away, which nothing here requires, "
                                          "but for what {} has",
                                          title_of(victim), title_of(writer)));
        told.repairs = {uninstall(scene, loss.victim)};
    } else if (!is_needed(scene, *loss.writer) && !is_own_work(scene, *loss.writer) &&
               is_of_an_index(victim)) {
        finding.fix = own_fix(scene, finding,
                              fmt::format("takes {} away, which nothing here requires, "
                                          "and installs {} again",
                                          title_of(writer), title_of(victim)));
        told.repairs = {uninstall(scene, *loss.writer), reinstall(scene, loss.victim)};
    } else if (is_of_an_index(writer)) {
        finding.fix =
            Fix{fmt::format("one of the two has to go; to keep {}", title_of(writer)),
                both_commands(pip_uninstall(scene, victim), pip_reinstall(scene, writer))};
    } else {
        finding.fix = Fix{"install the two into two environments", {}};
    }
    return told;
}

void find_overwrites(const CheckScene& scene, std::vector<CheckFinding>& found) {
    for (const auto& loss : find_losses(scene)) {
        switch (loss.kind) {
        case LossKind::WheelOverConda:
            found.push_back(wheel_over_conda(scene, loss));
            break;
        case LossKind::CondaOverWheel:
            found.push_back(conda_over_wheel(scene, loss));
            break;
        case LossKind::WheelOverWheel:
            if (!are_rival_copies(scene, loss.victim.package, loss.writer->package)) {
                found.push_back(wheel_over_wheel(scene, loss, "CE108"));
            }
            break;
        case LossKind::Gone:
            found.push_back(files_gone(scene, loss));
            break;
        case LossKind::Changed:
            found.push_back(changed(scene, loss));
            break;
        case LossKind::Superseded:
            break; // told with its double
        }
    }
}

} // namespace cudaenv::plan
