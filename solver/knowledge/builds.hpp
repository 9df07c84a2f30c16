// What a wheel, a conda record or an installed framework was built with: CUDA, ROCm, XPU or the CPU
// alone. Pure. The one order of evidence: the build itself first (its module, its label, conda's
// build string and dependencies, the libraries that it requires or carries), the tables of releases
// last; where neither says, it is Unknown.
#pragma once

#include "solver/facts/environment.hpp"
#include "solver/facts/inventory.hpp"
#include "solver/knowledge/knowledge.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::knowledge {

enum class BuildKind { Unknown, Cuda, Cpu, Rocm, Xpu };

struct Build {
    BuildKind kind = BuildKind::Unknown;
    std::optional<DottedVersion>
        cuda;           // 12.6, or 12 where no more is known; none: CUDA of an unknown version
    std::string source; // "its build string py3.11_cuda12.1_cudnn8.9.2_0"

    [[nodiscard]] bool known() const { return kind != BuildKind::Unknown; }
    // For a GPU that is not NVIDIA's.
    [[nodiscard]] bool other_gpu() const {
        return kind == BuildKind::Rocm || kind == BuildKind::Xpu;
    }
};

// "2.8.0+cu126", "2.4.1+rocm6.0", "2.8.0+cpu": by the local label.
Build build_by_label(std::string_view version);
// By the distribution's own name: cupy-cuda12x, cupy-rocm-5-0, jax-cuda12-plugin, tensorflow-cpu.
Build build_by_name(std::string_view distribution);
// By build string ("py3.11_cuda12.1_cudnn8.9.2_0", "cpu_generic_py312_h1"), then by dependencies.
Build build_by_conda(std::string_view build, std::span<const std::string> depends);
// By NVIDIA's libraries that it requires (cuda-toolkit==13.2.2, nvidia-cuda-runtime-cu12==12.6.77).
Build build_by_requirements(std::span<const std::string> requires_dist);

// The MKL of the pytorch channel's torch. Its libtorch_cpu.so takes iJIT_NotifyEvent from MKL,
// which 2024.1 removed, and its records ask for any MKL: pytorch/pytorch#123097; NoakLiu/PiKV#2
// for 2.5.
inline constexpr std::string_view k_mkl_of_pytorch_channel = "mkl<2024.1";

struct BuildEvidence {
    std::string_view name;                         // PyPI's: torch, torchvision, torchaudio
    std::string_view version;                      // 2.8.0+cu126
    const facts::FrameworkBuild* module = nullptr; // what was imported says (torch/version.py)
    const facts::CondaPackage* conda = nullptr;
    const facts::Distribution* distribution = nullptr;
    bool released = false; // a release of an index, so that the tables hold
};
Build build_of(const BuildEvidence& evidence);

// "CUDA 12.6", "ROCm", "CPU", "an unknown CUDA".
std::string build_text(const Build& build);
// "a ROCm build, for AMD GPUs"; of a build for other GPUs than NVIDIA's.
std::string other_gpu_text(BuildKind kind);
// PyTorch's index of such a label: rocm6.0, xpu.
std::string other_gpu_index(std::string_view label);
// "2.8.0" of "2.8.0+cu126".
std::string_view public_version(std::string_view version);
// "12.6" of 12.6 and of 12.6.77, "12" of 12.
std::string short_cuda(const DottedVersion& cuda);
// 12 and 12.6 are the same CUDA as far as both say; 12.4 and 12.6 are not.
bool same_cuda(const DottedVersion& left, const DottedVersion& right);
// The tag of PyTorch's indexes: 12.6 -> "cu126".
std::string cuda_tag(const DottedVersion& cuda);

// The row of torch's table for a version, local label aside; nullptr where it has none.
const TorchRelease* torch_release(std::string_view version);
// Whether a CUDA library ("libcudart") on LD_LIBRARY_PATH is loaded instead of the one of the
// wheels that this torch requires. torch's own libraries have a DT_RPATH, which comes first (read
// in the wheels of 1.13.1 to 2.15.0). cuDNN opens its parts by name, whatever torch does (seen
// with 2.11); libcusparse needs libnvJitLink likewise, which torch opens by its path since 2.6.0
// (pytorch/pytorch#138460; 2.5.1 was seen to fail).
bool is_shadowed_by_library_path(std::string_view library, std::string_view torch_version);
// The numbers that a version begins with: 1.12.0 of "1.12.0a0" and of "1.12.0"; empty without any.
DottedVersion release_numbers(std::string_view version);
// The release that a build from source precedes: 1.12.0 for 1.12.0a0; nullptr if unknown.
const TorchRelease* release_before(std::string_view version);
// Whether the tables hold builds of that conda channel.
bool has_channel(std::string_view channel);
// `machine`: see torch_releases().
const TorchVariant* torch_variant(std::string_view version, std::string_view tag,
                                  std::string_view machine = "x86_64");
// The version that the wheel's file has, for torch or a partner of this build: "0.13.1+cu113". The
// index that it is taken from has no other.
std::string wheel_version(const TorchVariant& variant, std::string_view name,
                          std::string_view version);
// The device code of an installed torch, by its table: its wheel's, or conda's where its version
// has no tag. Empty where it is unknown, as for a build from source.
std::vector<const Architectures*> code_of_torch(const facts::FrameworkBuild& build);
// The newest torch wheel whose CUDA is at most `cuda`; of the same major if there is one, because
// an older major rarely fits the rest of an environment.
const TorchVariant* newest_torch_for(const DottedVersion& cuda);

} // namespace cudaenv::knowledge
