// Carries out on disk what the rules of `check` say would put an environment right. Law: everything
// that a finding needs is made and compared aside before its first change; then each file of the
// environment is old or new, whenever this is interrupted. Nothing outside of the prefix changes.
#pragma once

#include "base/goes_on.hpp"
#include "base/prefix_directory.hpp"
#include "base/result.hpp"
#include "check/rules/check.hpp"
#include "host/trusted/trusted_file.hpp"
#include "solver/facts/claims.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cudaenv::repair {

class Staging;

// One thing that is done, for one finding or several.
struct RepairStep {
    rules::Repair repair;
    std::vector<std::size_t> findings; // of those that it is for
};

// In the order of rules::Repair, each once: files of one conda package are restored together, and
// what a kept copy replaces is not uninstalled before. Pure.
std::vector<RepairStep> steps_of(std::span<const rules::CheckFinding> findings);

struct StepOutcome {
    bool done = false;
    std::string error; // why not; empty where another step of the same finding failed, or a command
    std::string note;  // what was left as it is, and why
};

struct RepairPlaces {
    std::string state_directory;             // of the kept copies
    std::vector<std::string> package_caches; // of conda's packages
    trusted::Trust trust;                    // for content that has no digest on record
};

// Programs of the user who asked.
struct UserPrograms {
    std::string uv;    // its path; empty: not on PATH
    std::string conda; // the name of the conda that is there: "conda", "mamba", "micromamba"
};

// A step that the client does: pip needs the user's whole environment.
struct ClientCommand {
    std::vector<std::string> words; // empty where there is a problem
    std::string problem;
};

// Empty: the step is done by carry_out().
std::optional<ClientCommand> client_command(const rules::Repair& repair,
                                            const facts::Inventory& inventory,
                                            const UserPrograms& programs);
// What a person may run where the step failed; empty: nothing.
std::string way_out(const rules::Repair& repair, const facts::Inventory& inventory,
                    const UserPrograms& programs);

// Whether this user may change the environment. Error: "not-writable".
Result<void> check_writable(const facts::Inventory& inventory);

// Removes what an interrupted repair has left aside. A failure is ignored: the rest does no harm.
void clear_interrupted(const std::string& prefix);

// What was done. Until this is destroyed it can be undone, and no other repair begins.
class Carried {
public:
    explicit Carried(PrefixDirectory prefix);
    Carried(Carried&&) noexcept;
    Carried& operator=(Carried&&) noexcept;
    ~Carried();

    std::vector<StepOutcome> outcomes; // as the steps
    // Every file is as it was before. The first error, where one is not.
    Result<void> take_back();

private:
    friend Result<Carried> carry_out(const facts::Inventory&, const facts::Claims&,
                                     std::span<const RepairStep>, const RepairPlaces&,
                                     const GoesOn&);
    std::unique_ptr<PrefixDirectory> m_prefix;
    std::unique_ptr<Staging> m_staging;
};

// All but commands of the client, in order. A step that cannot be prepared keeps the others of its
// findings from being done; where one fails later, all are undone. Errors, before anything is done:
// "not-writable", "busy", k_stopped; what is begun is ended.
Result<Carried> carry_out(const facts::Inventory& inventory, const facts::Claims& claims,
                          std::span<const RepairStep> steps, const RepairPlaces& places,
                          const GoesOn& wanted = {});

} // namespace cudaenv::repair
