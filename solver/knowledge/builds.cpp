#include "solver/knowledge/builds.hpp"

#include "base/ascii.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "solver/specs/cuda_label.hpp"
#include "solver/specs/requirement.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace cudaenv::knowledge {

namespace {

// Whose release first required NVIDIA's libraries as wheels; from then on a wheel of PyPI says its
// CUDA itself.
constexpr const char* k_first_with_requirements = "1.13.0";

std::optional<DottedVersion> version_at_start(std::string_view text) {
    auto parsed = DottedVersion::parse(leading_numbers(text));
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

// "torchvision.libs/libcudart.e8e8b82a.so.12": what a wheel carries says its major.
Build by_carried_runtime(const facts::Distribution& distribution) {
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

// A wheel of an index for x86-64, which the tables are of.
bool is_index_wheel(const facts::Distribution& distribution) {
    return !distribution.direct_url &&
           (distribution.installer == "pip" || distribution.installer == "uv") &&
           std::ranges::any_of(distribution.tags, [](const std::string& tag) {
               return tag.find("linux") != std::string::npos && tag.ends_with("x86_64");
           });
}

const TorchVariant* default_variant(const TorchRelease& release) {
    for (const auto& variant : release.variants) {
        if (variant.wheel_is_default && variant.confidence.empty()) {
            return &variant;
        }
    }
    return nullptr;
}

// What a bare `pip install` of that release installs.
Build by_table(const BuildEvidence& evidence) {
    if (!evidence.released || evidence.distribution == nullptr ||
        !is_index_wheel(*evidence.distribution) ||
        evidence.version.find('+') != std::string_view::npos) {
        return {};
    }
    std::optional<DottedVersion> cuda;
    for (const auto& release : torch_releases()) {
        const auto& wanted = evidence.name == "torch"         ? std::optional(release.torch.str())
                             : evidence.name == "torchvision" ? release.torchvision
                                                              : release.torchaudio;
        if (wanted != evidence.version ||
            (evidence.name == "torch" &&
             release.torch >= DottedVersion::of(k_first_with_requirements))) {
            continue;
        }
        const auto* variant = default_variant(release);
        if (variant == nullptr || (cuda && *cuda != variant->cuda)) {
            return {};
        }
        cuda = variant->cuda;
    }
    return cuda
               ? Build{BuildKind::Cuda, cuda,
                       "PyPI's " + std::string(evidence.name) + ' ' + std::string(evidence.version)}
               : Build{};
}

Build by_module(const BuildEvidence& evidence) {
    const facts::FrameworkBuild* const module = evidence.module;
    // Of another version: the file is not of this record.
    if (module == nullptr || public_version(module->version) != public_version(evidence.version)) {
        return {};
    }
    if (module->cuda) {
        return {BuildKind::Cuda, module->cuda, module->source};
    }
    if (const Build label = build_by_label(module->version); label.other_gpu()) {
        return {label.kind, {}, module->source};
    }
    return module->cpu ? Build{BuildKind::Cpu, {}, module->source} : Build{};
}

// Dependencies that only a CUDA build has, whatever its version.
bool depends_on_cuda(std::string_view dependency) {
    const auto name = dependency.substr(0, dependency.find_first_of(" =<>!~["));
    constexpr std::array<std::string_view, 5> k_names = {"cudatoolkit", "cudatoolkit-dev",
                                                         "pytorch-cuda", "cudnn", "__cuda"};
    return is_one_of(name, k_names) || name.starts_with("cuda-") ||
           dependency == "pytorch-mutex 1.0 cuda" || dependency.starts_with("_tflow_select 2.1") ||
           (name == "tensorflow-base" && dependency.find("gpu_") != std::string_view::npos) ||
           (name == "pytorch" && dependency.find("cuda") != std::string_view::npos);
}

} // namespace

Build build_by_label(std::string_view version) {
    const auto plus = version.find('+');
    if (plus == std::string_view::npos) {
        return {};
    }
    const auto label = version.substr(plus + 1);
    const std::string source = "its version " + std::string(version);
    if (auto cuda = specs::cuda_in(label)) {
        return {BuildKind::Cuda, std::move(cuda), source};
    }
    if (has_word(label, "cpu")) {
        return {BuildKind::Cpu, {}, source};
    }
    if (label.starts_with("rocm") || label.starts_with("hip")) {
        return {BuildKind::Rocm, {}, source};
    }
    return label.starts_with("xpu") ? Build{BuildKind::Xpu, {}, source} : Build{};
}

Build build_by_name(std::string_view distribution) {
    const std::string source = "its name " + std::string(distribution);
    if (const auto at = distribution.find("cuda"); at != std::string_view::npos && at > 0) {
        if (auto cuda = specs::cuda_in(distribution.substr(at))) {
            return {BuildKind::Cuda, std::move(cuda), source};
        }
    }
    if (has_word(distribution, "rocm") || distribution.find("_rocm") != std::string_view::npos) {
        return {BuildKind::Rocm, {}, source};
    }
    const bool cpu = distribution.ends_with("-cpu") || distribution.ends_with("_cpu");
    return cpu ? Build{BuildKind::Cpu, {}, source} : Build{};
}

Build build_by_conda(std::string_view build, std::span<const std::string> depends) {
    const std::string source = "its build string " + std::string(build);
    if (auto cuda = specs::cuda_in(build)) {
        return {BuildKind::Cuda, std::move(cuda), source};
    }
    if (has_word(build, "cpu") || build.find("_cpu") != std::string_view::npos ||
        build.starts_with("cpu") || build.starts_with("mkl_") || build.starts_with("eigen_")) {
        // defaults calls tensorflow's CPU builds after their library: mkl_py39h..., eigen_py39h...
        return {BuildKind::Cpu, {}, source};
    }
    if (build.find("rocm") != std::string_view::npos) {
        return {BuildKind::Rocm, {}, source};
    }
    Build found;
    for (const std::string& dependency : depends) {
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
        if (!found.known() && depends_on_cuda(dependency)) {
            found = {BuildKind::Cuda, {}, "its dependency " + dependency};
        }
    }
    const std::string lower = to_lower_ascii(build);
    if (!found.known() &&
        (lower.find("cuda") != std::string::npos || lower.find("gpu") != std::string::npos ||
         lower.find("_cu") != std::string::npos)) {
        return {BuildKind::Cuda, {}, source};
    }
    return found;
}

Build build_by_requirements(std::span<const std::string> requires_dist) {
    for (const std::string& text : requires_dist) {
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
                        "its requirement " + requirement->name + requirement->specifiers.str()};
            }
        }
    }
    return {};
}

Build build_of(const BuildEvidence& evidence) {
    if (auto build = by_module(evidence); build.known()) {
        return build;
    }
    if (auto build = build_by_label(evidence.version); build.known()) {
        return build;
    }
    if (evidence.conda != nullptr) {
        return build_by_conda(evidence.conda->build, evidence.conda->depends);
    }
    if (evidence.distribution == nullptr) {
        return {};
    }
    if (evidence.name == "torch") {
        if (auto build = build_by_requirements(evidence.distribution->requires_dist);
            build.known()) {
            return build;
        }
    }
    auto carried = by_carried_runtime(*evidence.distribution);
    auto table = by_table(evidence);
    if (carried.known()) {
        return table.known() && same_cuda(*table.cuda, *carried.cuda) ? table : carried;
    }
    return table;
}

std::string build_text(const Build& build) {
    switch (build.kind) {
    case BuildKind::Cuda:
        return build.cuda ? "CUDA " + short_cuda(*build.cuda) : "CUDA";
    case BuildKind::Cpu:
        return "CPU";
    case BuildKind::Rocm:
        return "ROCm";
    case BuildKind::Xpu:
        return "XPU";
    case BuildKind::Unknown:
        break;
    }
    return "an unknown CUDA";
}

std::string other_gpu_text(BuildKind kind) {
    return kind == BuildKind::Rocm ? "a ROCm build, for AMD GPUs" : "an XPU build, for Intel GPUs";
}

std::string other_gpu_index(std::string_view label) {
    return "https://download.pytorch.org/whl/" + std::string(label);
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

std::string cuda_tag(const DottedVersion& cuda) {
    return "cu" + std::to_string(cuda.major()) + std::to_string(cuda.minor());
}

const TorchRelease* torch_release(std::string_view version) {
    const auto wanted = DottedVersion::parse(public_version(version));
    if (!wanted) {
        return nullptr;
    }
    const auto releases = torch_releases();
    return find_pointer(releases, *wanted, &TorchRelease::torch);
}

bool has_channel(std::string_view channel) {
    return std::ranges::any_of(torch_releases(), [&](const TorchRelease& release) {
        return std::ranges::any_of(release.variants, [&](const TorchVariant& variant) {
            return is_one_of(channel, variant.conda_channels);
        });
    });
}

bool is_shadowed_by_library_path(std::string_view library, std::string_view torch_version) {
    return library == "libcudnn" ||
           (library == "libnvJitLink" && release_numbers(torch_version) < DottedVersion::of("2.6"));
}

DottedVersion release_numbers(std::string_view version) {
    const auto numbers =
        DottedVersion::parse(version.substr(0, version.find_first_not_of("0123456789.")));
    return numbers ? *numbers : DottedVersion();
}

const TorchRelease* release_before(std::string_view version) {
    return torch_release(release_numbers(version).str());
}

const TorchVariant* torch_variant(std::string_view version, std::string_view tag,
                                  std::string_view machine) {
    const auto wanted = DottedVersion::parse(public_version(version));
    const auto releases = torch_releases(machine);
    const auto release =
        wanted ? std::ranges::find(releases, *wanted, &TorchRelease::torch) : releases.end();
    if (release == releases.end()) {
        return nullptr;
    }
    return find_pointer(release->variants, tag, &TorchVariant::tag);
}

std::string wheel_version(const TorchVariant& variant, std::string_view name,
                          std::string_view version) {
    if (name == "torchvision" || name == "torchaudio") {
        const auto& wheel =
            name == "torchvision" ? variant.wheel_torchvision : variant.wheel_torchaudio;
        return wheel.value_or(std::string(version));
    }
    return std::string(version) + (variant.wheel_has_local_label ? '+' + variant.tag : "");
}

std::vector<const Architectures*> code_of_torch(const facts::FrameworkBuild& build) {
    std::vector<const Architectures*> code;
    const auto plus = build.version.find('+');
    const auto version = DottedVersion::parse(build.version.substr(0, plus));
    const std::string tag =
        plus == std::string::npos ? std::string() : build.version.substr(plus + 1);
    if (!version || !build.cuda || (!tag.empty() && !tag.starts_with("cu"))) {
        return code; // built from source, say: 1.12.0a0+git1234
    }
    for (const TorchRelease& release : torch_releases()) {
        for (const TorchVariant& variant : release.variants) {
            if (release.torch != *version || variant.cuda != *build.cuda ||
                (!tag.empty() && variant.tag != tag)) {
                continue;
            }
            if (variant.wheel_architectures) {
                code.push_back(&*variant.wheel_architectures);
            }
            if (tag.empty() && variant.conda_architectures) {
                code.push_back(&*variant.conda_architectures);
            }
        }
    }
    return code;
}

const TorchVariant* newest_torch_for(const DottedVersion& cuda) {
    const auto rank = [&](const TorchVariant& variant) {
        return std::tuple(variant.cuda.major() == cuda.major(), variant.torch, variant.cuda);
    };
    const TorchVariant* best = nullptr;
    for (const TorchRelease& release : torch_releases()) {
        for (const TorchVariant& variant : release.variants) {
            if (variant.wheel && variant.confidence.empty() && variant.cuda <= cuda &&
                (best == nullptr || rank(variant) > rank(*best))) {
                best = &variant;
            }
        }
    }
    return best;
}

} // namespace cudaenv::knowledge
