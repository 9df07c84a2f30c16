// Which host compiler nvcc is to use, and the variables that say so. Pure. Internal to
// shellhooks/activation, and `pin`'s.
//
// Law: what the user set stays, but for CC and CXX that nvcc refuses; what is not known is the
// user's business.
#pragma once

#include "shellhooks/activation/choice.hpp"
#include "shellhooks/patch/patch.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::activation {

struct HostCompiler {
    std::optional<facts::Compiler> compiler;
    std::vector<patch::SetVariable> variables; // CC, CXX, CUDAHOSTCXX, NVCC_CCBIN
    std::vector<std::string> notes;
    std::vector<std::string> warnings;
};
HostCompiler decide_host_compiler(const Situation& situation, const facts::Toolkit& toolkit);

// The C driver beside a C++ driver: g++-9 -> gcc-9, clang++-14 -> clang-14,
// x86_64-conda-linux-gnu-c++ -> x86_64-conda-linux-gnu-cc. None for other names.
std::optional<std::string> c_driver_beside(std::string_view cxx);

} // namespace cudaenv::activation
