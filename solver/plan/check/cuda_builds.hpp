// Which CUDA the builds in an environment are of: torch and its partners, as pip or conda laid them
// down. Pure. Law: told by the build itself first (its version.py, its label, the libraries that it
// requires or carries), by the tables of releases last; where neither tells it is Unknown.
#pragma once

#include "solver/knowledge/knowledge.hpp"
#include "solver/plan/check/scene.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::plan {

enum class BuildKind { Unknown, Cuda, Cpu, OtherGpu };

struct BuildCuda {
    BuildKind kind = BuildKind::Unknown;
    std::optional<DottedVersion> cuda; // 12.6, or 12 where no more is told
    std::string told;                  // by what: "its build string py3.11_cuda12.1_cudnn8.9.2_0"
};

// One of torch, torchvision, torchaudio, as it would be imported.
struct FamilyMember {
    std::string name;
    std::string version;                               // 2.8.0+cu126
    std::string record;                                // relative to the prefix, or absolute
    const facts::Distribution* distribution = nullptr; // null: conda's record alone
    const facts::CondaPackage* conda = nullptr;        // null: it is not conda's
    BuildCuda build;
    // A wheel or package of a release: not of source, a nightly or an editable install.
    bool released = false;
    bool of_base = false; // of the Python whose packages the environment sees
};

// Nothing where it is not there, or several versions of it are: others tell of that.
std::optional<FamilyMember> find_member(const CheckScene& scene, std::string_view name);

// "2.8.0" of "2.8.0+cu126".
std::string_view public_version(std::string_view version);

// "12.6" of 12.6 and of 12.6.77, "12" of 12.
std::string short_cuda(const DottedVersion& cuda);
// What both tell is the same: 12 and 12.6 are, 12.4 and 12.6 are not.
bool same_cuda(const DottedVersion& left, const DottedVersion& right);

// "torch 2.8.0+cu126"
std::string named(const FamilyMember& member);
// "CUDA 12.6", "CPU", "another GPU's".
std::string build_text(const BuildCuda& build);

// The row of torch's table that the version is of; null where it has none.
const knowledge::TorchRelease* known_torch_release(std::string_view version);

} // namespace cudaenv::plan
