// The Python packages of data/packages.json as records: what a release requires of torch, JAX,
// NumPy, CUDA, Python, the GPUs and the C library of this host. Pure. An extra is a package of its
// own, "jax_extra_cuda12", which requires the same release and what the extra adds.
#pragma once

#include "solver/knowledge/packages.hpp"
#include "solver/resolve/world.hpp"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudaenv::resolve {

// "jax_extra_cuda12" of jax and cuda12; a name that no package has.
std::string extra_name(std::string_view package, std::string_view extra);
bool is_extra(std::string_view name);
// "jax[cuda12]" of an extra; any other name as it is.
std::string shown_name(std::string_view name);

// Of a package whose CUDA comes by an extra: what an answer with CUDA must hold where the request
// names no extra. Its records are the sets of extras that do, each as a build: "cuda12".
std::string cuda_extra_name(std::string_view package);
// The record whose wheel this one stands for: cupy-cuda12x of cupy; nullptr: it stands for itself.
const specs::PackageRecord* wheel_of(const specs::PackageRecord& record,
                                     const std::vector<const specs::PackageRecord*>& records);

// False for names that the tables of torch and TensorFlow have.
bool has_package(std::string_view name);
// `known`: which names the catalogue has; requirements on others are left out.
void package_records(std::string_view name, World& world,
                     const std::function<bool(std::string_view)>& known,
                     std::vector<specs::PackageRecord>& out);
// CUDA's libraries that the catalogue has as packages of their own.
inline constexpr std::array<std::string_view, 2> k_libraries = {"cudnn", "nccl"};
bool is_library(std::string_view name);
// "cudnn" of nvidia-cudnn-cu12 and of nvidia-cudnn, "nccl" of nvidia-nccl-cu12: what the catalogue
// calls the library that a distribution of NVIDIA's contains. Empty for any other name.
std::string_view library_of(std::string_view distribution);
// Name and version of a requirement on one version: "nvidia-nccl-cu12==2.21.5".
std::optional<std::pair<std::string, std::string>> exact_pin(std::string_view requirement);
// The Pythons of a release's wheels for this host's processor, as a spec; empty: not known.
std::string wheel_pythons(std::string_view name, std::string_view version, const facts::Host& host);
// What the wheels of a torch release require of the package whose name begins so, as the end of a
// spec: " ==3.2.0" of "triton", " ==2.21.5" of "nvidia-nccl-". Empty where it is not known.
// An extra that has the CUDA runtime installed, in a range of releases: pip takes the newest.
bool draws_newest_cuda(const specs::PackageRecord& record);

// What the binary needs and METADATA omits, as specs of the record. It narrows a requirement that
// is there; alone it only forbids other versions, since nothing installs the package.
void add_unstated(const knowledge::PackageRelease& release,
                  const std::function<bool(std::string_view)>& known, specs::PackageRecord& record);

// A chosen wheel whose CUDA libraries nothing here brings: no extra of its release, no framework
// with libraries beside it, and, where a toolkit is enough, no toolkit of its CUDA.
bool needs_libraries(const specs::PackageRecord& record, const knowledge::PackageProject& project,
                     const std::vector<const specs::PackageRecord*>& records,
                     const facts::Host& host);
// The version of an exact requirement on a build that only its project's own page has:
// "jaxlib==0.4.25+cuda11.cudnn86".
std::optional<std::pair<std::string, std::string>> local_pin(std::string_view requirement);

// Stands for the older releases of a package, which are not listed; pip chooses among them.
bool is_unlisted(const specs::PackageRecord& record);

std::string torch_requirement(const DottedVersion& torch, std::string_view name);
// Likewise of any release in the table of packages: " <2.1.0,>=1.26.0" of TensorFlow's "numpy".
std::string requirement_of(std::string_view package, std::string_view version,
                           std::string_view name);

} // namespace cudaenv::resolve
