// Bringing a shell from where it is to where it should be. Pure.
//
// Law: the result is what `apply(undo(shell), patch)` gives, but that lists which still hold our
// entries for the same patch stay as the user has arranged them since.
#pragma once

#include "solver/plan/activation/patch.hpp"

namespace cudaenv::plan {

// The shell as it is (journal included) to the shell as it should be. Its journal is written even
// where the patch changes nothing: it tells what was decided last.
Applied update(const Variables& shell, const Patch& patch, std::string place, std::string context);

// What a journal was written for: the active environment, the project and the version chosen for
// the shell, so that the client can tell by itself that a shell has left.
std::string context_of(const Variables& environment, std::string_view project_directory);
// Whether a shell with this environment, standing in `directory`, is still where `context` was.
bool still_in(std::string_view context, const Variables& environment, std::string_view directory);

} // namespace cudaenv::plan
