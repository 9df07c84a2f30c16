#include "solver/resolve/environment.hpp"

#include "base/ranges.hpp"
#include "base/text.hpp"
#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/findings.hpp"
#include "solver/knowledge/frameworks.hpp"
#include "solver/knowledge/packages.hpp"
#include "solver/pins/pins.hpp"
#include "solver/resolve/package_records.hpp"
#include "solver/resolve/question.hpp"
#include "solver/specs/ask.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::resolve {

namespace {

// The tables can say what this version needs. torch always counts: its partners hang on it.
bool is_known_release(const Installed& installed) {
    const auto* const known = knowledge::find_framework(installed.name);
    if (known == nullptr || known->table.empty()) {
        return false;
    }
    return known->table != "packages" ||
           knowledge::package_release(installed.name, installed.version) != nullptr;
}

// torch first: what others are for is decided before they are.
std::vector<const Installed*> candidates_of(const Request& request) {
    std::vector<const Installed*> candidates;
    for (const Installed& installed : request.environment.installed) {
        if (is_known_release(installed)) {
            candidates.push_back(&installed);
        }
    }
    std::ranges::stable_sort(candidates, {},
                             [](const Installed* one) { return one->name != "torch"; });
    return candidates;
}

bool decides_cuda(const Installed& installed) {
    return installed.name == "torch" || installed.name == "tensorflow";
}

std::string version_of(const Installed& installed) {
    return installed.version + (installed.label.empty() ? "" : '+' + installed.label);
}

// What of the request excludes the build that is installed, by itself; empty where nothing does.
std::string excluded_by(const Request& request, const Installed& installed) {
    for (const Wanted& wanted : request.specs) {
        const auto ask = specs::Ask::parse(wanted.text);
        if (!ask) {
            continue;
        }
        const auto* const known = knowledge::find_framework(ask->name());
        if ((known != nullptr ? known->name : ask->name()) == installed.name &&
            !ask->satisfied_by(version_of(installed), specs::VersionRules::Pep440)) {
            return "you asked for " + redact_secrets(wanted.text);
        }
    }
    const auto build = knowledge::build_by_label(version_of(installed));
    for (const pins::Pin& pin : request.pins) {
        const auto wanted = pins::PinConstraint::parse(pin.constraint);
        if (pin.name == "cuda" && wanted && build.known() &&
            (!build.cuda || !wanted->allows(*build.cuda))) {
            return "you asked for CUDA " + pin.constraint;
        }
    }
    return {};
}

// What an answer has of a package: pytorch is conda's name for torch.
const ChosenPackage* chosen_for(const Outcome& outcome, const Installed& installed) {
    const auto* const known = knowledge::find_framework(installed.name);
    return find_pointer_if(outcome.packages, [&](const ChosenPackage& package) {
        return package.name == installed.name ||
               (known != nullptr &&
                std::ranges::find(known->conda, package.name) != known->conda.end());
    });
}

struct Changed {
    const Installed* installed = nullptr;
    std::string why;
    bool left_behind = false; // nothing of it fits the answer
};

void describe_changes(const Request& request, const std::vector<Changed>& changed,
                      Outcome& outcome) {
    std::vector<std::string> removed;
    for (const Changed& one : changed) {
        const std::string from = version_of(*one.installed);
        if (one.left_behind) {
            // JAX finds its plugins by their entry points: one of another version is in the way.
            const auto* const row = knowledge::find_framework(one.installed->name);
            const bool plugin = row != nullptr && row->family == "jax" && row->role == "partner" &&
                                one.installed->manager == Manager::Pip;
            if (plugin) {
                removed.push_back(one.installed->name);
            }
            outcome.warnings.push_back(knowledge::finding(
                "CE215", plugin ? "removed" : "",
                {{"name", one.installed->name}, {"from", from}, {"why", one.why}}));
            continue;
        }
        const ChosenPackage* const to = chosen_for(outcome, *one.installed);
        if (to == nullptr || to->version == from) {
            continue;
        }
        outcome.changes.push_back({one.installed->name, from, to->version, one.why});
        if (one.installed->is_built_torch()) {
            outcome.warnings.push_back(
                knowledge::finding("CE217", "replaced", {{"version", from}}));
        }
    }
    if (!removed.empty() && !outcome.commands.empty()) {
        outcome.commands.insert(outcome.commands.begin(),
                                knowledge::pip_uninstall(request.environment.target, removed));
    }
}

// A nightly's partners are nightlies, which no table has.
Result<void> refuse_partners_of_nightly(const Request& request) {
    const auto* const torch = find_pointer_if(request.environment.installed, [](const auto& one) {
        return one.name == "torch" && one.version.find(".dev") != std::string::npos;
    });
    for (const Wanted& wanted : request.specs) {
        const auto ask = specs::Ask::parse(wanted.text);
        const auto* const row = ask ? knowledge::find_framework(ask->name()) : nullptr;
        if (torch == nullptr || row == nullptr || row->table != "torch" || row->name == "torch") {
            continue;
        }
        const knowledge::PipIndex index{"https://download.pytorch.org/whl/nightly/" +
                                        (torch->label.empty() ? "cpu" : torch->label)};
        return bad_input(
            "nightly",
            fmt::format("torch {} is a nightly build, and {} for it is one too; cudaenv knows "
                        "releases only",
                        version_of(*torch), row->name),
            knowledge::pip_install(request.environment.target, std::array{row->name}, index,
                                   std::array{std::string("--pre")}));
    }
    return {};
}

// The request with the versions of an answer: its reason is then about these versions.
Request with_versions_of(const Outcome& answer, const Request& request, const Kept& kept) {
    Request same = request;
    same.kept = {kept};
    for (Wanted& wanted : same.specs) {
        const auto ask = specs::Ask::parse(wanted.text);
        const auto package = std::ranges::find_if(answer.packages, [&](const auto& one) {
            return ask && one.asked && one.name == ask->name();
        });
        if (package != answer.packages.end() && package->name != kept.installed.name &&
            package->version != k_from_source && package->version != k_from_page) {
            wanted.text = package->name + "==" + package->version;
        }
    }
    return same;
}

} // namespace

BesideConda beside_conda(const Request& request) {
    BesideConda sides;
    const bool from_conda =
        std::ranges::any_of(request.environment.installed, [](const Installed& one) {
            return one.manager == Manager::Conda && decides_cuda(one);
        });
    if (!from_conda) {
        return sides;
    }
    for (const Wanted& wanted : request.specs) {
        const auto ask = specs::Ask::parse(wanted.text);
        const std::string name = ask ? ask->name() : std::string();
        const auto* const known = knowledge::find_framework(name);
        if (has_package(known == nullptr ? name : known->name) ||
            (known != nullptr && known->table == "tensorflow")) {
            sides.of_pip.push_back(name);
        } else if (known != nullptr || pins::find_pin_name(name) != nullptr) {
            sides.of_conda.push_back(name);
        }
    }
    return sides;
}

Result<void> take_python(Request& request) {
    const auto& python = request.environment.python;
    if (!python) {
        return {};
    }
    for (const pins::Pin& pin : request.pins) {
        const auto wanted = pin.name == "python"
                                ? pins::PinConstraint::parse(pin.constraint)
                                : Result<pins::PinConstraint>(pins::PinConstraint());
        if (pin.name == "python" && wanted && !wanted->allows(*python)) {
            auto error =
                bad_input("other-python",
                          fmt::format("{} has Python {}, not {}", request.environment.shown,
                                      python->str(), pin.constraint),
                          "leave it out, or name an environment with that Python");
            error.value().path = pin.origin;
            return error;
        }
    }
    std::erase_if(request.pins, [](const pins::Pin& pin) { return pin.name == "python"; });
    request.pins.push_back({"python", python->major_minor(), std::string(k_of_environment)});
    return {};
}

Result<std::optional<Outcome>> answer_in_environment(Request& request, const Asking& asking) {
    CUDAENV_TRY_VOID(refuse_partners_of_nightly(request));
    const auto candidates = candidates_of(request);
    request.kept.clear();
    for (const Installed* const one : candidates) {
        request.kept.push_back({*one, Stays::Build});
    }
    CUDAENV_TRY(auto answered, asking.answer(request));
    std::vector<Changed> changed;
    if (!answered && !candidates.empty()) {
        const Request all_kept = request;
        const bool pip_alone = beside_conda(request).is_for_pip();
        request.kept.clear();
        for (const Installed* const one : candidates) {
            if (one->manager == Manager::Conda && decides_cuda(*one) && pip_alone) {
                request.kept.push_back({*one, Stays::Build});
                continue;
            }
            bool stays = false;
            std::string why;
            bool of_the_newest = false; // the reason, not of what is installed in the end
            for (const Stays how : {Stays::Build, Stays::Version, Stays::Label, Stays::Package}) {
                request.kept.push_back({*one, how});
                CUDAENV_TRY(auto with, asking.answer(request));
                if (with) {
                    if (of_the_newest) {
                        CUDAENV_TRY(auto reason, asking.reason(with_versions_of(
                                                     *with, request, {*one, Stays::Build})));
                        why = reason.empty() ? std::move(why) : std::move(reason);
                    }
                    answered = std::move(with);
                    stays = true;
                    break;
                }
                if (how == Stays::Build) {
                    why = excluded_by(request, *one);
                    if (why.empty()) {
                        of_the_newest = true;
                        Request alone = request;
                        alone.kept = {request.kept.back()};
                        CUDAENV_TRY(why, asking.reason(alone));
                    }
                }
                request.kept.pop_back();
            }
            if (!why.empty()) {
                changed.push_back({one, std::move(why), !stays});
            }
        }
        if (!answered) {
            CUDAENV_TRY(answered, asking.answer(request));
        }
        if (!answered) {
            request.kept = all_kept.kept;
        }
    }
    if (!answered) {
        return std::optional<Outcome>();
    }
    for (const Kept& kept : request.kept) {
        if (kept.stays != Stays::Build) {
            continue;
        }
        answered->kept.push_back(kept.installed.shown());
        for (ChosenPackage& package : answered->packages) {
            if (&package == chosen_for(*answered, kept.installed)) {
                package.kept = true;
                package.version = package.manager == Manager::Pip ? version_of(kept.installed)
                                                                  : kept.installed.version;
            }
        }
    }
    describe_changes(request, changed, *answered);
    return answered;
}

} // namespace cudaenv::resolve
