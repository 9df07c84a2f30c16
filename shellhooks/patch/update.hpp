// Bringing a shell from where it is to where it should be. Pure.
//
// Law: the result is what `apply(undo(shell), patch)` gives, but that lists which still hold our
// entries for the same patch stay as the user has arranged them since.
#pragma once

#include "shellhooks/patch/patch.hpp"

namespace cudaenv::patch {

// The shell as it is (journal included) to the shell as it should be. Its journal is written even
// where the patch changes nothing: it says what was decided last.
Applied update(const Variables& shell, const Patch& patch, std::string place, std::string context);

// What CUDA_HOME, CUDA_PATH and the journal were when the shell's hook was evaluated, as the hook
// hands it to the program; set, and maybe empty, wherever there is a hook.
constexpr std::string_view k_found_prefix = "__cudaenv_found_";
constexpr std::string_view k_found_home = "__cudaenv_found_home";
constexpr std::string_view k_found_path = "__cudaenv_found_path";
constexpr std::string_view k_found_journal = "__cudaenv_found_journal";

// Of CUDA_HOME and CUDA_PATH those whose value the user has not set in this shell as far as can be
// seen: it was there before the hook (/etc/profile.d, a container's image, a parent), or there is
// no hook that could have seen it set. What the journal of the shell around this one calls set by
// hand is so here too.
std::vector<std::string> inherited_variables(const Variables& shell);

// What a journal was written for: the active environment, the project and the version chosen for
// the shell, so that the client knows by itself that a shell has left.
std::string context_of(const Variables& environment, std::string_view project_directory);
// Whether a shell with this environment, of which that is the project now, is still where `context`
// was.
bool still_in(std::string_view context, const Variables& environment,
              std::string_view project_directory);

} // namespace cudaenv::patch
