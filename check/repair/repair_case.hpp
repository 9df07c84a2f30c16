// How each case of a repair is carried out: its overload of `prepare`, and of `command_for` and
// `way_out_for` where it has them. Law: preparing makes and compares everything aside and changes
// nothing of the environment; what it returns then does what belongs into one part at a time.
#pragma once

#include "check/repair/repair.hpp"
#include "check/repair/staging.hpp"
#include "check/repair/uninstall.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::repair {

// Every step does its share of one part before any step begins the next. Until all is done, the
// records of what is in the wrong place are there, and those of conda's package beside them, so
// that the next `check` sees both. INSTALLER says who owns a distribution: it comes back when the
// rest is back.
enum class Part { NewRecords, Content, Take, Records, TakeShared, Installer, TakeRecords };

// Empty: nothing is done here, the step is a command of the client's.
using Commit = std::function<Result<void>(Part)>;

struct Preparation {
    const PrefixDirectory& prefix;
    Staging& staging;
    const facts::Inventory& inventory;
    const facts::Claims& claims;
    const RepairPlaces& places;
    const GoesOn& wanted;
    std::span<const RepairStep> steps; // all of them
    const RepairStep& step;            // the one to prepare
    StepOutcome& outcome;
};

Result<Commit> prepare(const rules::Remove& repair, const Preparation& with);
Result<Commit> prepare(const rules::UninstallPip& repair, const Preparation& with);
Result<Commit> prepare(const rules::RestoreKept& repair, const Preparation& with);
Result<Commit> prepare(const rules::RestoreConda& repair, const Preparation& with);
Result<Commit> prepare(const rules::ReinstallPip& repair, const Preparation& with);

// Of the cases that have one.
ClientCommand command_for(const rules::ReinstallPip& repair, const facts::Inventory& inventory,
                          const UserPrograms& programs);
std::string way_out_for(const rules::RestoreConda& repair, const facts::Inventory& inventory,
                        const UserPrograms& programs);

// Does what belongs into the part of what was planned.
Result<void> commit(const Uninstallation& planned, Part part, const Preparation& with);
// Below a dist-info or an egg-info.
bool is_metadata(std::string_view path);
// Whether a finding needs both.
bool share_a_finding(const RepairStep& step, const RepairStep& other);
// The first few, and how many more there are.
std::string few_of(const std::vector<std::string>& paths);
// "1 file", "2 files"
std::string files_text(std::size_t number);

} // namespace cudaenv::repair
