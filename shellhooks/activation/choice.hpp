// Which CUDA a shell is to have, and which toolkit gives it. Pure.
//
// Law: the ladder is: `cudaenv use` in this shell > project pin > what the user or a module set by
// hand > the environment's pin > what its framework was built with > the CUDA runtime it carries >
// the user's default > CUDA_HOME that was there before the shell's hook > the administrator's
// default > nothing. A disagreement with a rung below that the user wrote, or with what the
// framework was built with, is one warning. No answer is a guess: each says why. What is set by
// hand or was there is added to (PATH, compilers) only where an environment or a pin makes CUDA
// this shell's business: else nothing is chosen.
#pragma once

#include "shellhooks/activation/situation.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudaenv::activation {

enum class Rung {
    Shell,
    Project,
    ByHand,
    EnvironmentPin,
    Framework,
    Runtime,
    User,
    Inherited, // CUDA_HOME that the user has not set in this shell
    System
};
std::string_view name_of(Rung rung); // "shell", "project", "by-hand", ... for JSON

// How the toolkit relates to the CUDA that is wanted.
enum class ToolkitMatch {
    Exact,     // it is allowed, or major.minor are the same
    SameMajor, // 11 and newer: accepted with a warning
    ByHand,    // what the user set, whatever it is
};

struct CudaChoice {
    // Nothing is to be done: no rung says anything.
    [[nodiscard]] bool none() const { return !rung; }

    std::optional<Rung> rung;
    // "11.3", or a constraint of a pin: ">=11,<12"; empty for a toolkit set by hand of which
    // nothing is known.
    std::string cuda;
    std::string reason; // for the quiet line: "pinned in ~/code/apex", "torch 1.12.1+cu113"
    std::string origin; // the place that said so: "/p/cudaenv.toml line 2", "CUDA_HOME", a file
    std::optional<facts::Toolkit> toolkit; // none: this machine and this environment have none
    ToolkitMatch match = ToolkitMatch::Exact;
    bool environments_own = false;     // the toolkit lies inside the environment
    std::vector<std::string> warnings; // one line each: a disagreement, a toolkit of another minor
    std::string framework_misfit;      // the one of them that CE140 reports too; empty: none
    // What becomes of a CUDA_HOME that was there before the hook and is not what is chosen: one
    // line, to be said once and not in each shell. Empty: there is none.
    std::string inherited;
    // A toolkit or a directory of toolkits that does not answer, and may hold what was not found
    // elsewhere. Empty: there is none, or it was found.
    std::string silent;
    // Where no such CUDA was ever released: the nearest that was. Empty: it was, or may have been.
    std::string nearest;
    // Where there is no toolkit: how to get one without root, one line ready to paste.
    std::string remedy;
};

CudaChoice choose(const Situation& situation);

} // namespace cudaenv::activation
