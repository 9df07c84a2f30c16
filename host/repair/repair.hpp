// Carries out on disk what the rules of `check` say would put an environment right. Law: everything
// that a finding needs is made and compared aside before its first change; then each file of the
// environment is old or new, whenever this is interrupted. Nothing outside of the prefix changes.
#pragma once

#include "base/goes_on.hpp"
#include "base/result.hpp"
#include "host/trusted/trusted_file.hpp"
#include "solver/facts/claims.hpp"
#include "solver/plan/check/check.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace cudaenv::host {

// One thing that is done, for one finding or several.
struct RepairStep {
    plan::Repair repair;
    std::vector<std::size_t> findings; // of those that it is for
};

// In the order in which they are shown: what goes, what comes back, what is a command. Each once:
// files of one conda package are put back together, and what a kept copy replaces is not
// uninstalled before. Pure.
std::vector<RepairStep> steps_of(std::span<const plan::CheckFinding> findings);

struct StepOutcome {
    bool done = false;
    std::string error; // why not; empty where another step of the same finding failed, or a command
    std::string note;  // what was left as it is, and why
};

struct RepairPlaces {
    std::string state_directory;             // of the kept copies
    std::vector<std::string> package_caches; // of conda's packages
    Trust trust;                             // where no digest tells what is in them
};

// Whether this user may change the environment. Error: "not-writable".
Result<void> check_writable(const facts::Inventory& inventory);

// Takes away what an interrupted repair has left aside. What cannot be is in nobody's way.
void clear_interrupted(const std::string& prefix);

// All but commands (ReinstallPip), in order; outcomes as the steps. A step that fails keeps the
// others of its findings from being done. Errors, before anything is done: "not-writable", "busy",
// k_stopped; what is begun is ended.
Result<std::vector<StepOutcome>> carry_out(const facts::Inventory& inventory,
                                           const facts::Claims& claims,
                                           std::span<const RepairStep> steps,
                                           const RepairPlaces& places, const GoesOn& wanted = {});

} // namespace cudaenv::host
