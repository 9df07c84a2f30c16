// The text of `cudaenv hook SHELL`. Pure.
//
// Law: evaluated once or often it installs itself once; it keeps $?, job control and the user's own
// traps, prompt commands and options; names it defines begin with __cudaenv_ but for `cudaenv`
// itself (needed by `cudaenv use`) and the wrapped conda, mamba and micromamba. It decides only
// whether to ask; what to change is always the program's answer.
#pragma once

#include "shellhooks/shell.hpp"

#include <string>

namespace cudaenv::shellhooks {

struct HookOptions {
    std::string program; // absolute path of cudaenv
    bool wrap = true;    // act at once after conda activate (activation.wrap)
};

std::string hook_text(Shell shell, const HookOptions& options);

} // namespace cudaenv::shellhooks
