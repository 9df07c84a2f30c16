// The CUDA runtimes, cuDNNs and NCCLs that the records of one environment claim, as copies: one for
// each manager's install of the library. Pure. Law: a library that one manager splits over several
// packages is one copy; a library that a wheel bundles under its own name (with a hash in it) does
// not count, because nothing else can load it.
#pragma once

#include "check/rules/context.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cudaenv::rules {

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
    std::string version; // 9.10.2.21; empty: unknown, as of a bundled copy
    std::string record;
    unsigned major = 0;                          // of the soname
    std::vector<std::string> files;              // sorted; empty: known by the record's name alone
    std::optional<std::uint32_t> distribution{}; // of Inventory::distributions; none: conda's
};

// "9.10.2" of 9.10.2.21: the build number behind it is of the packager.
std::string packaged_release(std::string_view version);

// Every claimed file of the library under its own name; symbolic links too.
std::vector<ClaimedLibrary> claimed_libraries(const CheckContext& context, CudaLibrary library);
// By manager, then by name. At most one of each name and major.
std::vector<LibraryCopy> copies_of(const CheckContext& context, CudaLibrary library);
// Two wheels of the same library: CE130 to CE132 report where one overwrote the other.
bool are_rival_copies(const CheckContext& context, std::uint32_t one, std::uint32_t other);

} // namespace cudaenv::rules
