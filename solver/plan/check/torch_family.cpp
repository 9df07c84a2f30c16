#include "base/text.hpp"
#include "solver/plan/check/cuda_builds.hpp"
#include "solver/plan/check/finding_text.hpp"
#include "solver/plan/check/install_text.hpp"
#include "solver/plan/check/rules.hpp"
#include "solver/plan/check/torch_pairing.hpp"
#include "solver/specs/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cudaenv::plan {

namespace {

constexpr std::array k_partners = {"torchvision", "torchaudio"};

Evidence evidence_of(const CheckScene& scene, const FamilyMember& member, std::string text) {
    return {absolute_path(scene, member.record), 0, std::move(text)};
}

const knowledge::TorchVariant* variant_of(const knowledge::TorchRelease* release,
                                          const DottedVersion& cuda) {
    if (release == nullptr || cuda.parts().size() < 2) {
        return nullptr;
    }
    for (const auto& variant : release->variants) {
        if (variant.wheel && variant.cuda.major_minor() == cuda.major_minor()) {
            return &variant;
        }
    }
    return nullptr;
}

// The partner that goes with the torch that is there, from where torch itself came.
std::optional<Fix> partner_fix(const CheckScene& scene, const FamilyMember& partner,
                               const FamilyMember& torch) {
    const auto* release = torch.released ? known_torch_release(torch.version) : nullptr;
    const auto fallback =
        Fix{fmt::format("a {} made for torch {}", partner.name, torch.version), {}};
    if (release == nullptr) {
        return fallback;
    }
    const auto version = released_partner(*release, partner.name, partner.conda != nullptr);
    if (version.empty()) {
        return fallback;
    }
    const auto text =
        fmt::format("the {} that is made for torch {}", partner.name, release->torch.str());
    if (partner.conda != nullptr) {
        return Fix{text, conda_install(scene, {partner.name + '=' + version})};
    }
    std::vector<std::string> words{"--force-reinstall", "--no-deps"};
    const bool labelled = torch.version.find("+cu") != std::string::npos;
    const auto* variant = torch.build.kind == BuildKind::Cuda && torch.build.cuda
                              ? variant_of(release, *torch.build.cuda)
                              : nullptr;
    if (variant == nullptr && torch.build.kind == BuildKind::Cuda) {
        return fallback;
    }
    if (variant != nullptr && (labelled || !variant->wheel_is_default || torch.conda != nullptr)) {
        const auto& exact =
            partner.name == "torchvision" ? variant->wheel_torchvision : variant->wheel_torchaudio;
        if (!exact) {
            return fallback;
        }
        words.push_back(partner.name + "==" + *exact);
        words.insert(words.end(), {"--index-url", variant->wheel_index});
    } else if (torch.build.kind == BuildKind::Cuda) {
        words.push_back(partner.name + "==" + version);
    } else {
        return fallback;
    }
    return Fix{text, pip_install(scene, partner.distribution, words)};
}

// --- CE120 --------------------------------------------------------------------------------------

void find_other_release(const CheckScene& scene, const FamilyMember& torch,
                        const FamilyMember& partner, std::vector<CheckFinding>& found) {
    const auto paired = pair_of(partner, torch);
    if (paired.pairing != Pairing::Differs) {
        return;
    }
    CheckFinding told;
    told.subject = partner.name;
    told.told_at_prompt = true;
    told.line = fmt::format("{} {} {}, and torch is {}", named(partner), paired.told, paired.wants,
                            torch.version);
    const auto severity = paired.other_minor ? Severity::Error : Severity::Warning;
    told.finding = {
        "CE120",
        severity,
        fmt::format("{} {} {}; torch is {}", named(partner), paired.told, paired.wants,
                    torch.version),
        {evidence_of(scene, partner,
                     fmt::format("{} {} {}", named(partner), paired.told, paired.wants)),
         evidence_of(scene, torch, named(torch))},
        fmt::format("the compiled part of {} is made for one release of torch; with "
                    "another its operators are missing or `import {}` fails",
                    partner.name, partner.name),
        partner_fix(scene, partner, torch)};
    found.push_back(std::move(told));
}

// --- CE121 --------------------------------------------------------------------------------------

// What each of them itself checks when it is imported: torchaudio 2.8 and torchvision 0.13 compare
// major.minor, torchvision 0.23 the major.
Severity severity_of_minor(const FamilyMember& partner) {
    const auto version = DottedVersion::parse(public_version(partner.version));
    if (!version) {
        return Severity::Warning;
    }
    const auto last_strict = DottedVersion::of(partner.name == "torchaudio" ? "2.8.99" : "0.14.99");
    if (*version <= last_strict) {
        return Severity::Error;
    }
    return partner.name == "torchvision" && *version >= DottedVersion::of("0.16")
               ? Severity::Note
               : Severity::Warning;
}

void find_other_cuda(const CheckScene& scene, const FamilyMember& torch,
                     const FamilyMember& partner, std::vector<CheckFinding>& found) {
    const auto& ours = torch.build;
    const auto& theirs = partner.build;
    if (ours.kind != BuildKind::Cuda || !ours.cuda) {
        return; // a CPU torch is CE122's
    }
    Severity severity = Severity::Error;
    std::string cause;
    if (theirs.kind == BuildKind::Cpu) {
        severity = Severity::Warning;
        cause = fmt::format(
            "{} has no code for a GPU: its operators refuse tensors that are on one", partner.name);
    } else if (theirs.kind == BuildKind::Cuda && theirs.cuda &&
               !same_cuda(*ours.cuda, *theirs.cuda)) {
        const bool other_major = ours.cuda->major() != theirs.cuda->major();
        severity = other_major ? Severity::Error : severity_of_minor(partner);
        cause = severity == Severity::Note
                    ? "both are of one CUDA major, which is all that it checks when it is imported"
                : severity == Severity::Warning
                    ? "they may load two CUDA runtimes, and it may refuse when it is imported"
                    : fmt::format("`import {}` compares the two and refuses", partner.name);
    } else {
        return;
    }
    CheckFinding told;
    told.subject = partner.name;
    told.told_at_prompt = severity == Severity::Error;
    const auto title = fmt::format("{} is a build for {}; torch {} is for {}", named(partner),
                                   build_text(theirs), torch.version, build_text(ours));
    told.line = title;
    told.finding = {"CE121",
                    severity,
                    title,
                    {evidence_of(scene, partner, "by " + theirs.told),
                     evidence_of(scene, torch, "by " + ours.told)},
                    cause,
                    partner_fix(scene, partner, torch)};
    found.push_back(std::move(told));
}

// --- CE122 --------------------------------------------------------------------------------------

bool is_nvidia_wheel(std::string_view name) {
    return std::ranges::any_of(knowledge::pip_distributions(),
                               [&](const auto& row) { return row.name == name; });
}

// NVIDIA's wheels that a torch with CUDA brings and no other package here requires: left of one.
std::vector<Evidence> left_wheels(const CheckScene& scene) {
    std::vector<Evidence> left;
    int of_torch = 0;
    for (const auto& distribution : scene.inventory.distributions) {
        if (is_nvidia_wheel(distribution.name)) {
            if (distribution.requested) {
                return {};
            }
            const auto is = [&](std::string_view begin) {
                return distribution.name.starts_with(begin);
            };
            of_torch += is("nvidia-cublas") || is("nvidia-cudnn") || is("nvidia-cuda-runtime") ||
                                is("nvidia-nccl")
                            ? 1
                            : 0;
            left.push_back({absolute_path(scene, distribution.metadata), 0,
                            distribution.name + ' ' + distribution.version});
            continue;
        }
        if (distribution.name == "torch" || distribution.name == "torchvision" ||
            distribution.name == "torchaudio") {
            continue;
        }
        for (const auto& text : distribution.requires_dist) {
            if (text.starts_with("nvidia") || text.starts_with("cuda-")) {
                return {};
            }
        }
    }
    return of_torch >= 3 ? left : std::vector<Evidence>{};
}

// What uses a CUDA toolkit of the environment without depending on it, as numba does.
bool may_use_a_toolkit(std::string_view name) {
    constexpr std::array<std::string_view, 9> k_users = {"numba",       "pycuda", "cupy",
                                                         "tensorflow",  "jax",    "mxnet",
                                                         "onnxruntime", "paddle", "cuda-nvcc"};
    return name == "cudatoolkit-dev" || std::ranges::any_of(k_users, [&](std::string_view user) {
               return name.starts_with(user);
           });
}

bool is_toolkit_used(const CheckScene& scene) {
    for (const auto& package : scene.inventory.conda) {
        if (may_use_a_toolkit(package.name)) {
            return true;
        }
        for (const auto& dependency : package.depends) {
            if (std::string_view(dependency).substr(0, dependency.find(' ')) == "cudatoolkit" &&
                !package.name.starts_with("pytorch")) {
                return true;
            }
        }
    }
    return std::ranges::any_of(scene.inventory.distributions, [](const auto& distribution) {
        return may_use_a_toolkit(distribution.name);
    });
}

std::vector<Evidence> conda_wishes(const CheckScene& scene) {
    std::vector<Evidence> wishes;
    for (const auto& package : scene.inventory.conda) {
        const bool of_torch =
            package.name == "pytorch-gpu" || package.name == "pytorch-cuda" ||
            (package.name == "pytorch-mutex" && package.build.find("cuda") != std::string::npos);
        if (of_torch || (package.name == "cudatoolkit" && !is_toolkit_used(scene))) {
            wishes.push_back(
                {absolute_path(scene, package.record), 0,
                 fmt::format("{} {} {}", package.name, package.version, package.build)});
        }
    }
    return wishes;
}

void find_cpu_build(const CheckScene& scene, const FamilyMember& torch,
                    const std::vector<FamilyMember>& partners, std::vector<CheckFinding>& found) {
    if (torch.build.kind != BuildKind::Cpu) {
        return;
    }
    std::vector<Evidence> evidence{evidence_of(scene, torch, "CPU, by " + torch.build.told)};
    std::string asked;
    std::optional<DottedVersion> wanted;
    // A pin without a number asks for none: "cpu".
    if (scene.cuda.find_first_of("0123456789") != std::string::npos) {
        asked = fmt::format("CUDA {} is asked for", scene.cuda);
        evidence.push_back({scene.cuda_origin, 0, "cuda " + scene.cuda});
        if (auto exact = DottedVersion::parse(scene.cuda)) {
            wanted = std::move(*exact);
        }
    }
    for (const auto& partner : partners) {
        if (partner.build.kind == BuildKind::Cuda) {
            evidence.push_back(evidence_of(
                scene, partner,
                fmt::format("{} is for {}", named(partner), build_text(partner.build))));
            asked = asked.empty() ? fmt::format("{} beside it is for {}", named(partner),
                                                build_text(partner.build))
                                  : asked;
            wanted = wanted ? wanted : partner.build.cuda;
        }
    }
    for (auto& wish : conda_wishes(scene)) {
        asked =
            asked.empty() ? wish.text.substr(0, wish.text.rfind(' ')) + " is here for it" : asked;
        evidence.push_back(std::move(wish));
    }
    if (auto left = left_wheels(scene); !left.empty()) {
        asked = asked.empty() ? fmt::format("{} of NVIDIA's wheels are here for it", left.size())
                              : asked;
        left.resize(std::min<std::size_t>(left.size(), 3));
        evidence.insert(evidence.end(), left.begin(), left.end());
    }
    if (asked.empty()) {
        return;
    }
    Fix fix{"a build of torch with CUDA, its partners with it", {}};
    const auto* release = known_torch_release(torch.version);
    const auto* variant = wanted ? variant_of(release, *wanted) : nullptr;
    if (torch.conda == nullptr && variant != nullptr && variant->wheel_has_local_label) {
        fix.command = pip_install(scene, torch.distribution,
                                  {fmt::format("torch=={}+{}", release->torch.str(), variant->tag),
                                   "--index-url", variant->wheel_index});
    }
    CheckFinding told;
    told.subject = "torch";
    told.told_at_prompt = true;
    told.line = fmt::format("torch {} is a CPU build, and {}", torch.version, asked);
    told.finding = {"CE122",
                    Severity::Warning,
                    fmt::format("torch {} is a CPU build; {}", torch.version, asked),
                    std::move(evidence),
                    "torch.cuda.is_available() is False with it, whatever the driver and the GPU",
                    std::move(fix)};
    found.push_back(std::move(told));
}

} // namespace

void find_torch_family(const CheckScene& scene, std::vector<CheckFinding>& found) {
    const auto torch = find_member(scene, "torch");
    if (!torch) {
        return;
    }
    const auto first = found.size();
    std::vector<FamilyMember> partners;
    for (const char* const name : k_partners) {
        auto partner = find_member(scene, name);
        if (partner && !(partner->of_base && torch->of_base)) { // those are another's to mend
            find_other_release(scene, *torch, *partner, found);
            find_other_cuda(scene, *torch, *partner, found);
            partners.push_back(std::move(*partner));
        }
    }
    find_cpu_build(scene, *torch, partners, found);
    make_printable(found, first);
}

} // namespace cudaenv::plan
