// CE136: a CUDA library that files of torch, CuPy or ONNX Runtime name and that the environment
// does not have.
#include "check/rules/missing_libraries.hpp"

#include "base/ranges.hpp"
#include "base/text.hpp"
#include "check/rules/cuda_users.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/requirements.hpp"
#include "check/rules/rules.hpp"
#include "solver/knowledge/knowledge.hpp"
#include "solver/knowledge/packages.hpp"
#include "solver/specs/requirement.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace cudaenv::rules {

namespace {

using facts::MissingLibrary;
using Without = knowledge::LibraryUser::Without;

std::string_view stem_of(std::string_view soname) {
    return soname.substr(0, soname.find(".so"));
}

bool contains_library(const knowledge::PipDistribution& wheel, std::string_view soname) {
    return std::ranges::any_of(
        wheel.sonames, [&](const std::string& one) { return stem_of(one) == stem_of(soname); });
}

// Of the metapackage: "cublas" of "cuda-toolkit[cublas,cudart]==13.2.2".
bool is_toolkit_with(const specs::Requirement& requirement, std::string_view soname) {
    return requirement.normalized_name() == "cuda-toolkit" &&
           std::ranges::any_of(knowledge::pip_distributions(), [&](const auto& wheel) {
               return contains_library(wheel, soname) &&
                      std::ranges::any_of(requirement.extras, [&](const std::string& extra) {
                          return wheel.name.starts_with("nvidia-" + extra) ||
                                 wheel.name.starts_with("nvidia-cuda-" + extra);
                      });
           });
}

const facts::Distribution* installed(const CheckContext& context, std::string_view name) {
    return find_pointer(context.inventory.distributions, name, &facts::Distribution::name);
}

// "onnxruntime-gpu[cuda,cudnn]==1.22.0", where that release has such extras; else empty.
std::string with_cuda_extras(const facts::Distribution& distribution) {
    const auto* project = knowledge::package_project(distribution.name);
    const auto* release = release_row(distribution.name, distribution.version);
    if (project == nullptr || release == nullptr || project->cuda_extras.empty()) {
        return {};
    }
    const auto& extras = project->cuda_extras.front();
    const bool has_all = std::ranges::all_of(split(extras, ','), [&](std::string_view extra) {
        return release->extra(extra) != nullptr;
    });
    return has_all && !pip_requirement(distribution.name, distribution.version).empty()
               ? distribution.name + '[' + extras + "]==" + distribution.version
               : std::string();
}

// The environment has CUDA libraries from wheels.
bool has_cuda_libraries(const CheckContext& context) {
    return std::ranges::any_of(context.inventory.distributions, [](const auto& one) {
        return find_pointer(knowledge::pip_distributions(), one.name,
                            &knowledge::PipDistribution::name) != nullptr;
    });
}

const char* situation_of(const MissingLibrary& library, const facts::Distribution& requirer) {
    if (!library.outside.empty()) {
        return "outside";
    }
    const auto* user = cuda_user(requirer.name, library.path);
    switch (user == nullptr ? Without::UseFails : user->without) {
    case Without::ImportFails:
        return "import";
    case Without::RunsOnCpu:
        return "cpu";
    case Without::UseFails:
        break;
    }
    return "use";
}

// No requirement names a wheel with it: a toolkit of the machine, or of a module that is not loaded
// in this shell, may be meant. Unless other wheels of CUDA show that it is the environment's.
bool is_left_to_the_machine(const CheckContext& context, const MissingLibrary& library,
                            const LibraryWheel& wheel, std::string_view requirer) {
    return wheel.name.empty() &&
           (!library.outside.empty() || requirer == "torch" || !has_cuda_libraries(context));
}

struct Group {
    std::vector<const MissingLibrary*> libraries;
    std::vector<LibraryWheel> wheels; // of the same place
};

void report_group(const CheckContext& context, const facts::Distribution& requirer,
                  const std::string& situation, const Group& group,
                  std::vector<CheckFinding>& findings) {
    const auto& first = *group.libraries.front();
    const auto& wheel = group.wheels.front();
    std::vector<std::string> words;
    bool all_known = true;
    for (const auto& one : group.wheels) {
        all_known = all_known && !one.requirement.empty();
        if (!one.requirement.empty() && !is_one_of(one.requirement, words)) {
            words.push_back(one.requirement);
        }
    }
    if (!all_known) {
        words.clear();
        if (auto whole = with_cuda_extras(requirer); !whole.empty()) {
            words.push_back(std::move(whole));
        }
    }
    const auto more = group.libraries.size() - 1;
    const auto* other = wheel.installed;
    auto found = report(
        context, "CE136", situation, requirer.name,
        {{"requirer", title_of(requirer)},
         {"name", requirer.name},
         {"soname", first.soname},
         {"more", more == 0 ? std::string() : std::to_string(more)},
         {"outside", first.outside},
         {"wheel", wheel.name},
         {"installed", other == nullptr ? std::string() : title_of(*other)},
         {"command", words.empty() ? std::string() : pip_install(context, &requirer, words)}});
    for (std::size_t i = 0; i < group.libraries.size(); ++i) {
        const auto& library = *group.libraries[i];
        const auto& needed = group.wheels[i];
        found.finding.evidence.push_back(
            {absolute_path(context, library.path), 0, "needs " + library.soname});
        if (!library.outside.empty()) {
            found.finding.evidence.push_back(
                {library.outside, 0, library.soname + " of this machine"});
        }
        if (!needed.name.empty()) {
            const auto* here = needed.installed;
            found.finding.evidence.push_back(
                {absolute_path(context, here == nullptr ? requirer.metadata : here->metadata), 0,
                 here == nullptr
                     ? needed.requirement + " is required and not installed"
                     : here->version + " is installed; required: " + needed.requirement});
        }
        found.files.push_back(library.path);
    }
    sort_unique(found.files);
    findings.push_back(std::move(found));
}

} // namespace

LibraryWheel wheel_of_library(const CheckContext& context, const facts::Distribution& requirer,
                              std::string_view soname) {
    const auto markers = marker_environment(context);
    for (const auto& text : requirer.requires_dist) {
        const auto requirement = applying(text, markers);
        if (!requirement) {
            continue;
        }
        const auto name = requirement->normalized_name();
        const auto* wheel =
            find_pointer(knowledge::pip_distributions(), name, &knowledge::PipDistribution::name);
        if (is_toolkit_with(*requirement, soname)) {
            return {name,
                    requirement->name + '[' + join(requirement->extras, ",") + ']' +
                        requirement->specifiers.str(),
                    installed(context, name)};
        }
        if (wheel != nullptr && contains_library(*wheel, soname)) {
            return {name, name + requirement->specifiers.str(), installed(context, name)};
        }
    }
    return {};
}

bool lacks_library_of(const CheckContext& context, const facts::Distribution& requirer,
                      std::string_view required) {
    const auto& all = context.inventory.distributions;
    return std::ranges::any_of(context.missing_libraries, [&](const MissingLibrary& library) {
        return &all[library.distribution] == &requirer &&
               wheel_of_library(context, requirer, library.soname).name == required;
    });
}

void find_missing_libraries(const CheckContext& context, std::vector<CheckFinding>& findings) {
    std::map<std::pair<std::uint32_t, std::string>, Group> groups;
    for (const auto& library : context.missing_libraries) {
        const auto& requirer = context.inventory.distributions[library.distribution];
        auto wheel = wheel_of_library(context, requirer, library.soname);
        if (is_left_to_the_machine(context, library, wheel, requirer.name)) {
            continue;
        }
        auto& group = groups[{library.distribution, situation_of(library, requirer)}];
        group.libraries.push_back(&library);
        group.wheels.push_back(std::move(wheel));
    }
    for (const auto& [key, group] : groups) {
        report_group(context, context.inventory.distributions[key.first], key.second, group,
                     findings);
    }
}

} // namespace cudaenv::rules
