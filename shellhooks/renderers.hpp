// The renderers of the shells one by one, and the hook texts as they lie in hooks/. Pure; for
// shellhooks' own files.
//
// Law: as render.hpp and hook.hpp say it; a text of nothing is empty, and each other text ends with
// a newline.
#pragma once

#include "shellhooks/render.hpp"
#include "shellhooks/shell.hpp"
#include "solver/plan/activation/patch.hpp"

#include <span>
#include <string>
#include <string_view>

namespace cudaenv::shellhooks {

// venv keeps PATH in it without exporting it, so a change of it is a plain assignment.
constexpr std::string_view k_unexported_variable = "_OLD_VIRTUAL_PATH";

// Letters, digits and _, no digit first. What cannot be a shell's variable is in an environment now
// and then; no shell can touch it.
bool is_variable_name(std::string_view name);

// Posix, Bash and Zsh.
std::string render_changes_posix(Shell shell, std::span<const plan::Change> changes);
std::string render_changes_fish(std::span<const plan::Change> changes);
std::string render_changes_tcsh(std::span<const plan::Change> changes);
std::string render_changes_xonsh(std::span<const plan::Change> changes);

// Bash and Zsh: defines the function `__cudaenv_stale`.
std::string render_watch_bash(const Watch& watch);
std::string render_watch_zsh(const Watch& watch);
std::string render_watch_fish(const Watch& watch);
std::string render_watch_tcsh(const Watch& watch);
std::string render_watch_xonsh(const Watch& watch);

// hooks/hook.SHELL as it is; empty for Posix, which has none. In it hook_text replaces
//   @CUDAENV_PROGRAM@   by the path of cudaenv as one quoted word of that shell (quote_word)
//   @CUDAENV_WRAP@      by 1 or 0 (activation.wrap)
//   @CUDAENV_ACTING@   by the words after which conda and mamba may have changed the environment
//   @CUDAENV_GONE@     by what is said where the program is not there any more
//   @CUDAENV_MANAGED@  by the names of plan::managed_variables(), between blanks
std::string_view hook_template(Shell shell);

} // namespace cudaenv::shellhooks
