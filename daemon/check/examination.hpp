// One environment, examined for its findings: owns everything that a CheckContext refers to.
#pragma once

#include "base/goes_on.hpp"
#include "base/result.hpp"
#include "check/memory/environment_memory.hpp"
#include "check/rules/consequences.hpp"
#include "daemon/activation/activation.hpp"
#include "daemon/check/inventories.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cudaenv::daemon {

// What an examination read beside the records.
struct Seen {
    std::optional<facts::Examined> examined;
    std::optional<facts::Host> host;
    std::vector<facts::ExtensionModule> extensions;
    std::vector<facts::NumpyModule> numpy_modules;
    std::vector<facts::MissingLibrary> missing_libraries;
    std::vector<facts::FailingImport> failing_imports;
    std::vector<facts::EarlierSite> earlier_sites;
    std::string python_path;  // PYTHONPATH
    std::string library_path; // LD_LIBRARY_PATH
    std::vector<rules::SearchedLibrary> searched;
};

// An examination by the same client a moment before: this machine is as it was, and where the
// client's files are unchanged and no record has changed, so is all that was read.
struct Earlier {
    const Seen* seen = nullptr;
    bool files_unchanged = false;
};

// The same for as long as the finding is there.
std::string key_of(const rules::CheckFinding& found);

// What the user accepted with `check --accept`.
enum class Accepted { LeftOut, Included };

class Examination {
public:
    // Params: those of activation_of. `Records` reads the environment's records and what is
    // remembered of it; `Everything` looks at the claimed files, compiled modules and this machine
    // as well. Errors: those of activation_of and read_inventory; "no-environment"; k_stopped;
    // "records-unreadable", where a directory of records cannot be read: nothing can be said of the
    // environment then.
    static Result<std::unique_ptr<Examination>>
    of(const nlohmann::json& params, const protocol::Caller& caller, Machine& machine,
       rules::CheckDepth depth, const GoesOn& wanted = {}, const Earlier& earlier = {});
    // Of an environment whose activation and machine are at hand: depth Machine. `named`: the
    // request names it.
    static Result<std::unique_ptr<Examination>> of(const Activation& activation,
                                                   const facts::Host& host, bool named,
                                                   const protocol::Caller& caller,
                                                   Inventories& inventories);
    // Of an environment whose activation is at hand: by the records.
    static Result<std::unique_ptr<Examination>> of(const std::string& prefix,
                                                   const protocol::Caller& caller,
                                                   Inventories& inventories,
                                                   const GoesOn& wanted = {});

    // While an installer is at work, CE100 in the place of what it has not finished.
    [[nodiscard]] std::vector<rules::CheckFinding>
    findings(Accepted accepted = Accepted::LeftOut) const;
    // Of some of them: those of their repairs that do no harm without the others'.
    void withhold_harmful(std::vector<rules::CheckFinding>& findings) const;
    [[nodiscard]] std::vector<rules::UnmetRequirement> unmet() const;
    [[nodiscard]] const Seen& seen() const { return m_seen; }
    [[nodiscard]] const facts::Inventory& inventory() const { return m_loan.inventory(); }
    [[nodiscard]] const facts::Claims& claims() const { return m_claims; }
    [[nodiscard]] const rules::Ownership& ownership() const { return m_ownership; }
    [[nodiscard]] const pins::Config& config() const { return m_activation.project.config; }
    // What was remembered of the environment before this examination.
    [[nodiscard]] const memory::EnvironmentMemory& memory() const { return m_memory; }
    // What to remember after it: stored by whoever has reported what it found.
    [[nodiscard]] memory::EnvironmentMemory memory_now() const;
    // The same with findings that the user accepts, as CODE:SUBJECT. Errors: "bad-code",
    // "no-such-finding".
    [[nodiscard]] Result<memory::EnvironmentMemory>
    memory_accepting(const std::vector<std::string>& words) const;
    // The same with a kept copy: the distribution counts as replaced when another takes its place.
    [[nodiscard]] memory::EnvironmentMemory memory_with_kept(const facts::Distribution& kept) const;

private:
    explicit Examination(Inventories::Loan loan);
    [[nodiscard]] rules::CheckContext context() const;
    void look_at_files(const protocol::Caller& caller, const GoesOn& wanted);
    void look_at_cuda(const nlohmann::json& params, const protocol::Caller& caller,
                      const GoesOn& wanted, const Earlier& earlier);

    Inventories::Loan m_loan;
    facts::Claims m_claims;
    rules::Ownership m_ownership;
    memory::EnvironmentMemory m_memory;
    std::vector<rules::KeptCopy> m_kept; // what `cudaenv keep` can put back
    rules::CheckDepth m_depth = rules::CheckDepth::Records;
    Seen m_seen;
    Activation m_activation;
    bool m_is_named = false;
};

// Where the caller's memories of environments are kept.
memory::EnvironmentMemories memories_of(const protocol::Caller& caller);

} // namespace cudaenv::daemon
