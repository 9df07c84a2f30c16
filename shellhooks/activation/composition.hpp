// The patch that makes a shell fit a choice. Pure.
//
// Law: CUDA_HOME and CUDA_PATH are set together and equal; no system directory, empty element,
// `stubs` or `compat` directory goes onto a list; nothing that the user has set is replaced but
// CUDA itself by a stronger rung, and CC/CXX only where nvcc refuses them.
#pragma once

#include "shellhooks/activation/choice.hpp"
#include "shellhooks/patch/patch.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudaenv::activation {

struct Composition {
    patch::Patch patch;
    std::optional<facts::Compiler> host_compiler; // what nvcc will compile with, where it is known
    // What was left alone and why, one line each: "LD_LIBRARY_PATH left alone: ...". For `status`.
    std::vector<std::string> notes;
    std::vector<std::string> warnings; // as when no compiler here fits the toolkit
};

// `layout` is of the choice's toolkit; absent where there is none.
Composition compose(const Situation& situation, const CudaChoice& choice,
                    const std::optional<facts::ToolkitLayout>& layout);

// The one quiet line, without "cudaenv: ": "CUDA 11.3 · /usr/local/cuda-11.3 · g++-9   (pinned in
// ~/code/apex)". Empty for nothing. `ascii` where the locale is not UTF-8.
std::string quiet_line(const Situation& situation, const CudaChoice& choice,
                       const Composition& composition, bool ascii);

} // namespace cudaenv::activation
