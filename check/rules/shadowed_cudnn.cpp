// CE135: a cuDNN on LD_LIBRARY_PATH that is found before the one that the environment's torch
// requires as a wheel.
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/family_member.hpp"
#include "check/rules/install_text.hpp"
#include "check/rules/rules.hpp"
#include "solver/specs/requirement.hpp"

#include <algorithm>

namespace cudaenv::rules {

namespace {

// The first torch that loads its wheels' cuDNN by absolute path whatever LD_LIBRARY_PATH says; the
// parts that cuDNN itself opens are still searched for. Source: torch/__init__.py of 2.15.0.
constexpr const char* k_first_preloading = "2.15";

// nvidia-cudnn-cu12, where torch requires it and it is installed.
const facts::Distribution* required_cudnn(const CheckContext& context, const FamilyMember& torch,
                                          std::string& requirement_text) {
    for (const auto& text : torch.distribution->requires_dist) {
        const auto requirement = specs::Requirement::parse(text);
        if (!requirement || !requirement->normalized_name().starts_with("nvidia-cudnn")) {
            continue;
        }
        const auto& all = context.inventory.distributions;
        const auto found =
            std::ranges::find(all, requirement->normalized_name(), &facts::Distribution::name);
        if (found != all.end()) {
            requirement_text = requirement->name + requirement->specifiers.str();
            return &*found;
        }
    }
    return nullptr;
}

// LD_LIBRARY_PATH without that directory.
std::string without_directory(std::string_view library_path, std::string_view directory) {
    std::string rest;
    for (const auto one : split(library_path, ':')) {
        if (!one.empty() && one != directory) {
            rest += (rest.empty() ? "" : ":") + std::string(one);
        }
    }
    return rest.empty() ? "unset LD_LIBRARY_PATH" : "export LD_LIBRARY_PATH=" + shell_word(rest);
}

// torch's own test: the same major and at least the minor that it was compiled with.
bool is_accepted(const std::string& version, std::string_view compiled_with) {
    const auto here = DottedVersion::parse(version);
    const auto wheel = release_of(compiled_with);
    return here && wheel && here->parts().size() > 1 && here->major() == wheel->major() &&
           here->minor() >= wheel->minor();
}

} // namespace

void find_shadowed_cudnn(const CheckContext& context, std::vector<CheckFinding>& findings) {
    const auto torch = find_member(context, "torch");
    if (context.searched.empty() || !torch || torch->distribution == nullptr || torch->of_base) {
        return;
    }
    std::string required;
    const auto* wheel = required_cudnn(context, *torch, required);
    const auto release = wheel == nullptr ? std::nullopt : release_of(wheel->version);
    if (!release) {
        return;
    }
    const auto soname = "libcudnn.so." + std::to_string(release->major());
    const auto first = std::ranges::find(context.searched, soname, &SearchedLibrary::name);
    if (first == context.searched.end() || first->of_environment) {
        return;
    }
    const auto version = DottedVersion::parse(knowledge::public_version(torch->version));
    const bool fails = version && *version < DottedVersion::of(k_first_preloading) &&
                       !is_accepted(first->version, wheel->version);
    auto found = report(context, "CE135", "", wheel->name,
                        {{"library", soname},
                         {"wheel", title_of(*wheel)},
                         {"torch", torch->version},
                         {"required", required},
                         {"path", first->directory + '/' + soname},
                         {"directory", first->directory},
                         {"version", first->version},
                         {"fails", yes_if(fails)},
                         {"command", without_directory(context.library_path, first->directory)}},
                        fails ? facts::Severity::Error : facts::Severity::Warning);
    found.finding.evidence = {{first->directory + '/' + soname, 0, "on LD_LIBRARY_PATH"},
                              {absolute_path(context, wheel->metadata), 0, title_of(*wheel)}};
    findings.push_back(std::move(found));
}

} // namespace cudaenv::rules
