// The CUDA runtimes, cuDNNs and NCCLs that the records of one environment claim, as copies: one for
// each manager's install of the library. Pure. Law: what one manager split over several packages is
// one copy, and a library that a wheel carries under a name of its own (a hash in it) is none, for
// nothing else can load it.
#pragma once

#include "solver/plan/check/scene.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::plan {

enum class CudaLibrary { Runtime, Cudnn, Nccl };

enum class CopyFrom { Conda, Pip, Bundled };

// libcudnn_cnn.so.9 in one place.
struct ClaimedLibrary {
    std::string path;      // relative to the prefix
    std::string directory; // of it
    std::string stem;      // libcudnn_cnn
    std::string version;   // of the name: "9", "11.0", "9.10.2"
    unsigned major = 0;
    facts::Claim claim;
};

struct LibraryCopy {
    CopyFrom from = CopyFrom::Pip;
    std::string name;    // nvidia-cudnn-cu12, cudnn, torch
    std::string version; // 9.10.2.21; of a bundled one empty: not known
    std::string record;
    unsigned major = 0;                          // of the soname
    std::vector<std::string> files;              // sorted; empty: known by the record's name alone
    std::optional<std::uint32_t> distribution{}; // of Inventory::distributions; none: conda's
};

// Every claimed file of the library under its own name; symbolic links too.
std::vector<ClaimedLibrary> claimed_libraries(const CheckScene& scene, CudaLibrary library);
// By manager, then by name. At most one of each name and major.
std::vector<LibraryCopy> copies_of(const CheckScene& scene, CudaLibrary library);
// Two wheels of the same of the libraries: where one wrote over the other, CE130 to CE132 say it.
bool are_rival_copies(const CheckScene& scene, std::uint32_t one, std::uint32_t other);

} // namespace cudaenv::plan
