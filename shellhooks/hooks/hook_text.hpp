// The text of `cudaenv hook SHELL`. Pure.
//
// Law: evaluated once or often, it installs itself once; it keeps $?, job control and the user's
// traps, prompt commands and options; names it defines begin with __cudaenv_, except `cudaenv`
// itself (for `cudaenv use`) and the wrapped conda, mamba and micromamba. It decides only whether
// to ask; the program decides what to change.
#pragma once

#include <string>

namespace cudaenv::hooks {

struct Shell;

struct HookOptions {
    std::string program; // absolute path of cudaenv
    bool wrap = true;    // act at once after conda activate (activation.wrap)
};

// hook.NAME with these replaced:
//   @CUDAENV_PROGRAM@  the path of cudaenv as one quoted word of that shell
//   @CUDAENV_WRAP@     1 or 0
//   @CUDAENV_ACTING@   the words after which conda and mamba may have changed the environment
//   @CUDAENV_PLACE@    what is compared between two commands
//   @CUDAENV_GONE@     what is printed if the program is gone
//   @CUDAENV_MANAGED@  the names of managed_variables(), between blanks
// Only for a shell that has a hook.
std::string hook_text(const Shell& shell, const HookOptions& options);

} // namespace cudaenv::hooks
