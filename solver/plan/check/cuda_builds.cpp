#include "solver/plan/check/cuda_builds.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "solver/plan/check/installers.hpp"
#include "solver/specs/cuda_label.hpp"
#include "solver/specs/pep440.hpp"
#include "solver/specs/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::plan {

namespace {

// Whose release first required NVIDIA's libraries as wheels; from then on a wheel of PyPI says its
// CUDA itself.
constexpr const char* k_first_with_requirements = "1.13.0";

std::optional<DottedVersion> version_at_start(std::string_view text) {
    const auto end = std::min(text.find_first_not_of("0123456789."), text.size());
    auto digits = text.substr(0, end);
    while (digits.ends_with('.')) {
        digits.remove_suffix(1);
    }
    auto parsed = DottedVersion::parse(digits);
    return parsed ? std::optional(std::move(*parsed)) : std::nullopt;
}

bool has_word(std::string_view text, std::string_view word) {
    for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const auto after = at + word.size();
        if ((at == 0 || !is_alnum(text[at - 1])) &&
            (after == text.size() || !is_alnum(text[after]))) {
            return true;
        }
    }
    return false;
}

BuildCuda by_label(std::string_view version) {
    const auto plus = version.find('+');
    if (plus == std::string_view::npos) {
        return {};
    }
    const auto label = version.substr(plus + 1);
    const auto told = fmt::format("its version {}", version);
    if (auto cuda = specs::cuda_in(label)) {
        return {BuildKind::Cuda, std::move(cuda), told};
    }
    if (has_word(label, "cpu")) {
        return {BuildKind::Cpu, {}, told};
    }
    if (label.starts_with("rocm") || label.starts_with("xpu") || label.starts_with("hip")) {
        return {BuildKind::OtherGpu, {}, told};
    }
    return {};
}

// What torch/version.py said, read by whoever made the scene.
BuildCuda by_module(const CheckScene& scene, std::string_view version) {
    if (scene.environment == nullptr) {
        return {};
    }
    for (const auto& framework : scene.environment->frameworks) {
        // Of another version: the file is not of this record.
        if (framework.name != "torch" ||
            public_version(framework.version) != public_version(version)) {
            continue;
        }
        if (framework.cuda) {
            return {BuildKind::Cuda, framework.cuda, framework.source};
        }
        const bool other_gpu = by_label(framework.version).kind == BuildKind::OtherGpu;
        if (framework.cpu && !other_gpu) {
            return {BuildKind::Cpu, {}, framework.source};
        }
    }
    return {};
}

// "cudatoolkit >=11.3,<11.4", "cuda-version >=12.6,<13", "pytorch-cuda 12.1.*": the first number of
// it, and only its major where a whole major will do.
std::optional<DottedVersion> cuda_of_constraint(std::string_view constraint) {
    const auto digit = constraint.find_first_of("0123456789");
    auto from = version_at_start(constraint.substr(std::min(digit, constraint.size())));
    if (!from) {
        return std::nullopt;
    }
    const auto below = constraint.find('<');
    if (below != std::string_view::npos) {
        const auto end = version_at_start(constraint.substr(
            std::min(constraint.find_first_of("0123456789", below), constraint.size())));
        if (end && end->major() != from->major()) {
            return DottedVersion::of(std::to_string(from->major()));
        }
    }
    return DottedVersion::of(from->parts().size() > 1 ? from->major_minor() : from->str());
}

BuildCuda by_conda(const facts::CondaPackage& package) {
    const auto told = fmt::format("its build string {}", package.build);
    if (auto cuda = specs::cuda_in(package.build)) {
        return {BuildKind::Cuda, std::move(cuda), told};
    }
    if (has_word(package.build, "cpu") || package.build.find("_cpu") != std::string::npos ||
        package.build.starts_with("cpu")) {
        return {BuildKind::Cpu, {}, told};
    }
    BuildCuda found;
    for (const auto& dependency : package.depends) {
        const auto space = std::min(dependency.find(' '), dependency.size());
        const auto name = std::string_view(dependency).substr(0, space);
        const auto constraint = std::string_view(dependency).substr(space);
        if (name == "cpuonly" || (name == "pytorch-mutex" && constraint.ends_with(" cpu"))) {
            return {BuildKind::Cpu, {}, "its dependency " + dependency};
        }
        if (name == "cudatoolkit" || name == "pytorch-cuda" || name == "cuda-version") {
            auto cuda = cuda_of_constraint(constraint);
            if (cuda && (!found.cuda || cuda->parts().size() > found.cuda->parts().size())) {
                found = {BuildKind::Cuda, std::move(cuda), "its dependency " + dependency};
            }
        }
    }
    return found;
}

std::optional<specs::Requirement> applicable(const std::string& text) {
    auto requirement = specs::Requirement::parse(text);
    if (!requirement) {
        return std::nullopt;
    }
    if (requirement->marker) {
        const auto applies = requirement->marker->evaluate({});
        if (!applies || !*applies) {
            return std::nullopt;
        }
    }
    return std::move(*requirement);
}

// torch names the very release of NVIDIA's libraries that it was built with.
BuildCuda by_requirements(const facts::Distribution& distribution) {
    for (const auto& text : distribution.requires_dist) {
        const auto requirement = applicable(text);
        if (!requirement) {
            continue;
        }
        const auto name = requirement->normalized_name();
        if (name != "cuda-toolkit" && !name.starts_with("nvidia-cuda-runtime")) {
            continue;
        }
        for (const auto& clause : requirement->specifiers.clauses()) {
            const auto version = clause.relation() == specs::Specifier::Operator::Equal
                                     ? version_at_start(clause.version())
                                     : std::nullopt;
            if (version && version->parts().size() > 1) {
                return {BuildKind::Cuda, DottedVersion::of(version->major_minor()),
                        fmt::format("its requirement {}{}", requirement->name,
                                    requirement->specifiers.str())};
            }
        }
    }
    return {};
}

// "torchvision.libs/libcudart.e8e8b82a.so.12": what a wheel carries says its major.
BuildCuda by_carried_runtime(const facts::Distribution& distribution) {
    for (const auto& file : distribution.files) {
        const auto path = distribution.files.path(file);
        const auto name = path.substr(path.rfind('/') + 1);
        const auto at = name.rfind(".so.");
        if (!name.starts_with("libcudart") || at == std::string_view::npos) {
            continue;
        }
        const auto version = version_at_start(name.substr(at + 4));
        if (version && version->major() >= 9) {
            const bool is_old = version->major() < 11; // libcudart.so.10.2
            return {BuildKind::Cuda,
                    DottedVersion::of(is_old ? version->major_minor()
                                             : std::to_string(version->major())),
                    std::string(path)};
        }
    }
    return {};
}

// A wheel of an index: nobody built it here, and it is for the machines of the tables.
bool is_index_wheel(const facts::Distribution& distribution) {
    return !distribution.direct_url && is_pip_or_uv(distribution.installer) &&
           std::ranges::any_of(distribution.tags, [](const std::string& tag) {
               return tag.find("linux") != std::string::npos && tag.ends_with("x86_64");
           });
}

const knowledge::TorchVariant* default_variant(const knowledge::TorchRelease& release) {
    for (const auto& variant : release.variants) {
        if (variant.wheel_is_default && variant.confidence.empty()) {
            return &variant;
        }
    }
    return nullptr;
}

// What a bare `pip install` brings.
BuildCuda by_table(const FamilyMember& member) {
    if (!member.released || !is_index_wheel(*member.distribution) ||
        member.version.find('+') != std::string::npos) {
        return {};
    }
    std::optional<DottedVersion> cuda;
    for (const auto& release : knowledge::torch_releases()) {
        const auto& wanted = member.name == "torch"         ? std::optional(release.torch.str())
                             : member.name == "torchvision" ? release.torchvision
                                                            : release.torchaudio;
        if (wanted != member.version ||
            (member.name == "torch" &&
             release.torch >= DottedVersion::of(k_first_with_requirements))) {
            continue;
        }
        const auto* variant = default_variant(release);
        if (variant == nullptr || (cuda && *cuda != variant->cuda)) {
            return {};
        }
        cuda = variant->cuda;
    }
    return cuda ? BuildCuda{BuildKind::Cuda, cuda,
                            fmt::format("PyPI's {} {}", member.name, member.version)}
                : BuildCuda{};
}

bool is_release(const FamilyMember& member) {
    if (member.distribution != nullptr && member.distribution->direct_url &&
        (member.distribution->direct_url->editable ||
         !member.distribution->direct_url->vcs.empty() ||
         !member.distribution->direct_url->local_directory.empty())) {
        return false;
    }
    if (member.distribution != nullptr &&
        member.distribution->kind == facts::DistributionKind::EggLink) {
        return false;
    }
    const auto version = specs::Pep440Version::parse(member.version);
    return version && !version->is_prerelease() && member.version.find("+git") == std::string::npos;
}

BuildCuda build_of(const CheckScene& scene, const FamilyMember& member) {
    const auto known = [](const BuildCuda& build) { return build.kind != BuildKind::Unknown; };
    if (member.name == "torch") {
        if (auto build = by_module(scene, member.version); known(build)) {
            return build;
        }
    }
    if (auto build = by_label(member.version); known(build)) {
        return build;
    }
    if (member.conda != nullptr) {
        return by_conda(*member.conda);
    }
    if (member.distribution == nullptr) {
        return {};
    }
    if (member.name == "torch") {
        if (auto build = by_requirements(*member.distribution); known(build)) {
            return build;
        }
    }
    auto carried = by_carried_runtime(*member.distribution);
    auto table = by_table(member);
    if (known(carried)) {
        return known(table) && same_cuda(*table.cuda, *carried.cuda) ? table : carried;
    }
    return table;
}

} // namespace

std::optional<FamilyMember> find_member(const CheckScene& scene, std::string_view name) {
    const auto& inventory = scene.inventory;
    FamilyMember member;
    member.name = name;
    for (std::uint32_t i = 0; i < inventory.distributions.size(); ++i) {
        const auto& distribution = inventory.distributions[i];
        if (distribution.name != name || !distribution.has_metadata) {
            continue;
        }
        if (member.distribution != nullptr) {
            if (member.version != distribution.version) {
                return std::nullopt;
            }
            continue;
        }
        member.distribution = &distribution;
        member.version = distribution.version;
        member.record = distribution.metadata;
        const auto& owned = scene.ownership.of(i);
        if (owned.owner == Owner::Conda && owned.conda) {
            member.conda = &inventory.conda[*owned.conda];
        }
    }
    if (member.distribution == nullptr) {
        const auto base = std::ranges::find(scene.inventory.base, name, &facts::Distribution::name);
        if (base != scene.inventory.base.end()) {
            member.distribution = &*base;
            member.version = base->version;
            member.record = base->metadata;
            member.of_base = true;
        }
    }
    if (member.distribution == nullptr) {
        const auto conda_name = name == "torch" ? std::string_view("pytorch") : name;
        const auto found =
            std::ranges::find(inventory.conda, conda_name, &facts::CondaPackage::name);
        if (found == inventory.conda.end()) {
            return std::nullopt;
        }
        member.conda = &*found;
        member.version = found->version;
        member.record = found->record;
    }
    member.released = is_release(member);
    member.build = build_of(scene, member);
    return member;
}

std::string_view public_version(std::string_view version) {
    return version.substr(0, version.find('+'));
}

std::string short_cuda(const DottedVersion& cuda) {
    return cuda.parts().size() > 1 ? cuda.major_minor() : cuda.str();
}

bool same_cuda(const DottedVersion& left, const DottedVersion& right) {
    return left.major() == right.major() &&
           (left.parts().size() < 2 || right.parts().size() < 2 || left.minor() == right.minor());
}

std::string named(const FamilyMember& member) {
    return member.name + ' ' + member.version;
}

std::string build_text(const BuildCuda& build) {
    switch (build.kind) {
    case BuildKind::Cuda:
        return build.cuda ? "CUDA " + short_cuda(*build.cuda) : "CUDA";
    case BuildKind::Cpu:
        return "CPU";
    case BuildKind::OtherGpu:
        return "a GPU that is not NVIDIA's";
    case BuildKind::Unknown:
        break;
    }
    return "an unknown CUDA";
}

const knowledge::TorchRelease* known_torch_release(std::string_view version) {
    const auto wanted = DottedVersion::parse(public_version(version));
    if (!wanted) {
        return nullptr;
    }
    for (const auto& release : knowledge::torch_releases()) {
        if (release.torch == *wanted) {
            return &release;
        }
    }
    return nullptr;
}

} // namespace cudaenv::plan
