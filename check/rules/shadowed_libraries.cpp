// CE135: a cuDNN or CUDA library in LD_PRELOAD or on LD_LIBRARY_PATH that is loaded instead of the
// one that the environment's torch requires as a wheel.
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/rules.hpp"
#include "check/rules/torch_pairing.hpp"
#include "solver/knowledge/fit.hpp"
#include "solver/specs/requirement.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::rules {

namespace {

// Whose wheel has which library: "nvidia-cudnn-cu12" -> "libcudnn".
struct WheelLibrary {
    std::string_view wheel;
    std::string_view library;
};
constexpr auto k_libraries = std::to_array<WheelLibrary>({{"nvidia-cudnn", "libcudnn"},
                                                          {"nvidia-cuda-runtime", "libcudart"},
                                                          {"nvidia-cuda-nvrtc", "libnvrtc"},
                                                          {"nvidia-cublas", "libcublasLt"},
                                                          {"nvidia-cublas", "libcublas"},
                                                          {"nvidia-nvjitlink", "libnvJitLink"}});

// Of "nvidia-cudnn" -> "nvidia-cudnn-cu12 9.1.0.70", where torch requires it, itself or through
// cuda-toolkit, and it is installed.
const facts::Distribution* required_wheel(const CheckContext& context, const FamilyMember& torch,
                                          std::string_view wheel, std::string& requirement_text) {
    const auto& all = context.inventory.distributions;
    for (const auto& text : torch.distribution->requires_dist) {
        const auto requirement = specs::Requirement::parse(text);
        if (!requirement) {
            continue;
        }
        const std::string name = requirement->normalized_name();
        const bool toolkit = name == "cuda-toolkit";
        const auto found = std::ranges::find_if(all, [&](const facts::Distribution& one) {
            return toolkit ? one.name == wheel : one.name == name && name.starts_with(wheel);
        });
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

// The same major and at least the minor of what torch was compiled with: torch's own test of cuDNN,
// and what the symbol versions of libnvJitLink ("__nvJitLinkComplete_12_4") amount to.
knowledge::Answer is_accepted(const std::string& version, std::string_view compiled_with) {
    const auto here = DottedVersion::parse(version);
    const auto wheel = release_of(compiled_with);
    if (!here || !wheel || here->parts().size() < 2) {
        return knowledge::Answer::Unknown; // "libcudnn.so.9" of a wheel
    }
    return here->major() == wheel->major() && here->minor() >= wheel->minor()
               ? knowledge::Answer::Yes
               : knowledge::Answer::No;
}

// Which sentence is said of it.
std::string_view case_of(std::string_view library) {
    return library == "libcudnn" ? "" : library == "libnvJitLink" ? "link" : "cuda";
}

} // namespace

void find_shadowed_libraries(const CheckContext& context, std::vector<CheckFinding>& findings) {
    const auto torch = find_member(context, "torch");
    if (context.searched.empty() || !torch || torch->distribution == nullptr || torch->of_base) {
        return;
    }
    for (const auto& [wheel_name, library] : k_libraries) {
        std::string required;
        const auto* wheel = required_wheel(context, *torch, wheel_name, required);
        const auto release = wheel == nullptr ? std::nullopt : release_of(wheel->version);
        if (!release) {
            continue;
        }
        const std::string soname = std::string(library) + ".so." + std::to_string(release->major());
        const auto first = std::ranges::find_if(context.searched, [&](const auto& one) {
            return one.name == soname || one.name.starts_with(soname + '.');
        });
        if (first == context.searched.end() || first->of_environment ||
            (!first->preloaded &&
             !knowledge::is_shadowed_by_library_path(library, torch->version))) {
            continue;
        }
        const auto kind = case_of(library);
        const auto accepted = is_accepted(first->version, wheel->version);
        if (kind == "link" && accepted == knowledge::Answer::Yes) {
            continue; // a newer one has all that an older one has
        }
        const bool fails = kind != "cuda" && accepted == knowledge::Answer::No;
        const std::string variable = first->preloaded ? "LD_PRELOAD" : "LD_LIBRARY_PATH";
        auto found = report(context, "CE135", kind, wheel->name,
                            {{"variable", variable},
                             {"library", first->name},
                             {"wheel", title_of(*wheel)},
                             {"torch", torch->version},
                             {"required", required},
                             {"path", first->directory + '/' + first->name},
                             {"directory", first->preloaded ? first->name : first->directory},
                             {"version", first->version},
                             {"fails", yes_if(fails)},
                             {"command", first->preloaded ? "unset LD_PRELOAD"
                                                          : without_directory(context.library_path,
                                                                              first->directory)}},
                            fails ? facts::Severity::Error : facts::Severity::Warning);
        found.finding.evidence = {{first->directory + '/' + first->name, 0, "on " + variable},
                                  {absolute_path(context, wheel->metadata), 0, title_of(*wheel)}};
        findings.push_back(std::move(found));
    }
}

} // namespace cudaenv::rules
