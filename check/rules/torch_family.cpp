#include "check/rules/evidence.hpp"
#include "check/rules/rules.hpp"
#include "check/rules/torch_pairing.hpp"
#include "solver/specs/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace cudaenv::rules {

namespace {

facts::Evidence evidence_of(const CheckContext& context, const FamilyMember& member,
                            std::string text) {
    return {absolute_path(context, member.record), 0, std::move(text)};
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

// How to get the partner of the installed torch, from where torch itself came, as arguments of a
// finding: `release` where the table has that torch, and `command`.
facts::Arguments partner_fix(const CheckContext& context, const FamilyMember& partner,
                             const FamilyMember& torch) {
    const facts::Arguments unknown{
        {"name", partner.name}, {"torch", torch.version}, {"command", ""}};
    const auto* release = torch.released ? knowledge::torch_release(torch.version) : nullptr;
    const auto version = release == nullptr
                             ? std::string()
                             : released_partner(*release, partner.name, partner.conda != nullptr);
    if (version.empty()) {
        return unknown;
    }
    const auto with = [&](std::string command) {
        return facts::Arguments{{"name", partner.name},
                                {"torch", torch.version},
                                {"release", release->torch.str()},
                                {"command", std::move(command)}};
    };
    if (partner.conda != nullptr) {
        return with(conda_install(context, {partner.name + '=' + version}));
    }
    std::vector<std::string> words{"--force-reinstall", "--no-deps"};
    const bool labelled = torch.version.find("+cu") != std::string::npos;
    const auto* variant = torch.build.kind == BuildKind::Cuda && torch.build.cuda
                              ? variant_of(release, *torch.build.cuda)
                              : nullptr;
    if (torch.build.kind != BuildKind::Cuda || variant == nullptr) {
        return unknown;
    }
    if (!labelled && variant->wheel_is_default && torch.conda == nullptr) {
        words.push_back(partner.name + "==" + version);
        return with(pip_install(context, partner.distribution, words));
    }
    const auto& exact =
        partner.name == "torchvision" ? variant->wheel_torchvision : variant->wheel_torchaudio;
    if (!exact) {
        return unknown;
    }
    words.push_back(partner.name + "==" + *exact);
    // A partner without a label, where torch has one, is PyPI's.
    const bool from_pypi = variant->wheel_has_local_label && exact->find('+') == std::string::npos;
    words.insert(words.end(),
                 {from_pypi ? "--extra-index-url" : "--index-url", variant->wheel_index});
    return with(pip_install(context, partner.distribution, words));
}

void add(facts::Arguments& arguments, facts::Arguments others) {
    arguments.insert(arguments.end(), std::make_move_iterator(others.begin()),
                     std::make_move_iterator(others.end()));
}

// --- CE120 --------------------------------------------------------------------------------------

void find_other_release(const CheckContext& context, const FamilyMember& torch,
                        const FamilyMember& partner, std::vector<CheckFinding>& findings) {
    const auto paired = pair_of(partner, torch);
    if (paired.pairing != Pairing::Differs) {
        return;
    }
    const bool required = paired.by == PairedBy::Requirement;
    facts::Arguments arguments{{"partner", named(partner)},
                               {required ? "required" : "released_for", paired.wants}};
    add(arguments, partner_fix(context, partner, torch));
    auto found = report(context, "CE120", "", partner.name, std::move(arguments),
                        paired.other_minor ? facts::Severity::Error : facts::Severity::Warning);
    found.finding.evidence = {
        evidence_of(context, partner,
                    fmt::format("{} {} {}", named(partner),
                                required ? "requires" : "is released for", paired.wants)),
        evidence_of(context, torch, named(torch))};
    found.said_at_prompt = true;
    findings.push_back(std::move(found));
}

// --- CE121 --------------------------------------------------------------------------------------

// What each of them itself checks when it is imported: torchaudio 2.8 and torchvision 0.13 compare
// major.minor, torchvision 0.23 the major.
std::string_view situation_of_minor(const FamilyMember& partner) {
    const auto version = DottedVersion::parse(knowledge::public_version(partner.version));
    if (!version) {
        return "maybe-refused";
    }
    const auto last_strict = DottedVersion::of(partner.name == "torchaudio" ? "2.8.99" : "0.14.99");
    if (*version <= last_strict) {
        return "refused";
    }
    return partner.name == "torchvision" && *version >= DottedVersion::of("0.16") ? "unchecked"
                                                                                  : "maybe-refused";
}

void find_other_cuda(const CheckContext& context, const FamilyMember& torch,
                     const FamilyMember& partner, std::vector<CheckFinding>& findings) {
    const auto& ours = torch.build;
    const auto& theirs = partner.build;
    if (ours.kind != BuildKind::Cuda || !ours.cuda) {
        return; // a CPU torch is CE122's
    }
    std::string_view situation;
    if (theirs.kind == BuildKind::Cpu) {
        situation = "cpu-partner";
    } else if (theirs.kind == BuildKind::Cuda && theirs.cuda &&
               !knowledge::same_cuda(*ours.cuda, *theirs.cuda)) {
        situation =
            ours.cuda->major() != theirs.cuda->major() ? "refused" : situation_of_minor(partner);
    } else {
        return;
    }
    facts::Arguments arguments{{"partner", named(partner)},
                               {"partner_build", knowledge::build_text(theirs)},
                               {"torch_build", knowledge::build_text(ours)}};
    add(arguments, partner_fix(context, partner, torch));
    auto found = report(context, "CE121", situation, partner.name, std::move(arguments));
    found.finding.evidence = {evidence_of(context, partner, "by " + theirs.source),
                              evidence_of(context, torch, "by " + ours.source)};
    found.said_at_prompt = found.finding.severity == facts::Severity::Error;
    findings.push_back(std::move(found));
}

// --- CE122 --------------------------------------------------------------------------------------

bool is_nvidia_wheel(std::string_view name) {
    return std::ranges::any_of(knowledge::pip_distributions(),
                               [&](const auto& row) { return row.name == name; });
}

// NVIDIA's wheels that a torch with CUDA requires and no other package here does: it was
// uninstalled.
std::vector<facts::Evidence> left_wheels(const CheckContext& context) {
    std::vector<facts::Evidence> left;
    int of_torch = 0;
    for (const auto& distribution : context.inventory.distributions) {
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
            left.push_back({absolute_path(context, distribution.metadata), 0,
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
    return of_torch >= 3 ? left : std::vector<facts::Evidence>{};
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

bool is_toolkit_used(const CheckContext& context) {
    for (const auto& package : context.inventory.conda) {
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
    return std::ranges::any_of(context.inventory.distributions, [](const auto& distribution) {
        return may_use_a_toolkit(distribution.name);
    });
}

std::vector<facts::Evidence> conda_wishes(const CheckContext& context) {
    std::vector<facts::Evidence> wishes;
    for (const auto& package : context.inventory.conda) {
        const bool of_torch =
            package.name == "pytorch-gpu" || package.name == "pytorch-cuda" ||
            (package.name == "pytorch-mutex" && package.build.find("cuda") != std::string::npos);
        if (of_torch || (package.name == "cudatoolkit" && !is_toolkit_used(context))) {
            wishes.push_back(
                {absolute_path(context, package.record), 0,
                 fmt::format("{} {} {}", package.name, package.version, package.build)});
        }
    }
    return wishes;
}

void find_cpu_build(const CheckContext& context, const FamilyMember& torch,
                    const std::vector<FamilyMember>& partners,
                    std::vector<CheckFinding>& findings) {
    if (torch.build.kind != BuildKind::Cpu) {
        return;
    }
    std::vector<facts::Evidence> evidence{
        evidence_of(context, torch, "CPU, by " + torch.build.source)};
    facts::Arguments asked; // the first of them names the case
    std::optional<DottedVersion> wanted;
    // A pin without a number asks for no CUDA: "cpu".
    if (context.cuda.find_first_of("0123456789") != std::string::npos) {
        asked.emplace_back("pin", context.cuda);
        evidence.push_back({context.cuda_origin, 0, "cuda " + context.cuda});
        if (auto exact = DottedVersion::parse(context.cuda)) {
            wanted = std::move(*exact);
        }
    }
    for (const auto& partner : partners) {
        if (partner.build.kind == BuildKind::Cuda) {
            const auto build = knowledge::build_text(partner.build);
            evidence.push_back(evidence_of(
                context, partner, fmt::format("{} is built for {}", named(partner), build)));
            asked.emplace_back("partner", named(partner));
            asked.emplace_back("partner_build", build);
            wanted = wanted ? wanted : partner.build.cuda;
        }
    }
    for (auto& wish : conda_wishes(context)) {
        asked.emplace_back("package", wish.text.substr(0, wish.text.rfind(' ')));
        evidence.push_back(std::move(wish));
    }
    if (auto left = left_wheels(context); !left.empty()) {
        asked.emplace_back("wheels", std::to_string(left.size()));
        left.resize(std::min<std::size_t>(left.size(), 3));
        evidence.insert(evidence.end(), left.begin(), left.end());
    }
    if (asked.empty()) {
        return;
    }
    std::string command;
    const auto* release = knowledge::torch_release(torch.version);
    const auto* variant = wanted ? variant_of(release, *wanted) : nullptr;
    if (torch.conda == nullptr && variant != nullptr && variant->wheel_has_local_label) {
        command = pip_install(context, torch.distribution,
                              {fmt::format("torch=={}+{}", release->torch.str(), variant->tag),
                               "--index-url", variant->wheel_index});
    }
    const auto situation = asked.front().first;
    add(asked, {{"torch", torch.version}, {"command", std::move(command)}});
    auto found = report(context, "CE122", situation, "torch", std::move(asked));
    found.finding.evidence = std::move(evidence);
    found.said_at_prompt = true;
    findings.push_back(std::move(found));
}

// --- CE123 --------------------------------------------------------------------------------------

// `pip install torch` without PyTorch's index, beside a cudatoolkit of conda's that nothing uses.
void find_other_cudatoolkit(const CheckContext& context, const FamilyMember& torch,
                            std::vector<CheckFinding>& findings) {
    const auto& all = context.inventory.conda;
    const auto package = std::ranges::find(all, "cudatoolkit", &facts::CondaPackage::name);
    const auto toolkit = package == all.end() ? std::nullopt : release_of(package->version);
    if (!toolkit || torch.conda != nullptr || torch.of_base || !torch.build.cuda ||
        torch.build.cuda->parts().size() < 2 || knowledge::same_cuda(*torch.build.cuda, *toolkit) ||
        is_toolkit_used(context)) {
        return;
    }
    std::string command;
    const auto* release = torch.released ? knowledge::torch_release(torch.version) : nullptr;
    const auto* variant = variant_of(release, *toolkit);
    if (variant != nullptr) {
        command = pip_install(
            context, torch.distribution,
            {"--force-reinstall",
             fmt::format("torch=={}{}", release->torch.str(),
                         variant->wheel_has_local_label ? '+' + variant->tag : std::string()),
             "--index-url", variant->wheel_index});
    }
    auto found = report(context, "CE123", "", "torch",
                        {{"torch", torch.version},
                         {"cuda", knowledge::short_cuda(*torch.build.cuda)},
                         {"toolkit", toolkit->str()},
                         {"command", std::move(command)}});
    found.finding.evidence = {
        evidence_of(context, torch, "by " + torch.build.source),
        {absolute_path(context, package->record), 0, "cudatoolkit " + package->version}};
    found.said_at_prompt = true;
    findings.push_back(std::move(found));
}

} // namespace

void find_torch_family(const CheckContext& context, std::vector<CheckFinding>& findings) {
    const auto torch = find_member(context, "torch");
    if (!torch) {
        return;
    }
    std::vector<FamilyMember> partners;
    for (const auto name : torch_partners()) {
        auto partner = find_member(context, name);
        if (partner && !(partner->of_base && torch->of_base)) { // those are another's to mend
            find_other_release(context, *torch, *partner, findings);
            find_other_cuda(context, *torch, *partner, findings);
            partners.push_back(std::move(*partner));
        }
    }
    find_cpu_build(context, *torch, partners, findings);
    find_other_cudatoolkit(context, *torch, findings);
}

} // namespace cudaenv::rules
