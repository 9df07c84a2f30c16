// One environment, looked at for its findings: everything that a scene refers to, kept together.
#pragma once

#include "base/goes_on.hpp"
#include "base/result.hpp"
#include "daemon/activation/activation.hpp"
#include "daemon/check/inventories.hpp"
#include "host/memory/environment_memory.hpp"
#include "solver/plan/check/check.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cudaenv::daemon {

class Examination {
public:
    // Params: those of activation_of. `Records` reads the environment's records and what is
    // remembered of it; `Everything` looks at the claimed files, compiled modules and this machine
    // as well. Errors: those of activation_of and read_inventory; "no-environment"; k_stopped;
    // "records-unreadable", where a directory of records cannot be read: nothing can be said of the
    // environment then.
    static Result<std::unique_ptr<Examination>> of(const nlohmann::json& params,
                                                   const protocol::Caller& caller, Machine& machine,
                                                   plan::CheckDepth depth,
                                                   const GoesOn& wanted = {});
    // Of an environment whose activation is at hand: by the records.
    static Result<std::unique_ptr<Examination>> of(const std::string& prefix,
                                                   const protocol::Caller& caller,
                                                   Inventories& inventories,
                                                   const GoesOn& wanted = {});

    [[nodiscard]] std::vector<plan::CheckFinding> findings() const;
    [[nodiscard]] const facts::Inventory& inventory() const { return m_loan.inventory(); }
    [[nodiscard]] const facts::Claims& claims() const { return m_claims; }
    [[nodiscard]] const plan::Ownership& ownership() const { return m_ownership; }
    [[nodiscard]] const plan::Config& config() const { return m_activation.project.config; }
    // What is remembered of the environment from before this look.
    [[nodiscard]] const host::EnvironmentMemory& memory() const { return m_memory; }
    // The same as it is after it: kept by whoever has told what it found.
    [[nodiscard]] host::EnvironmentMemory memory_now() const;
    // That a copy of it is kept from now on: it counts as replaced when another takes its place.
    [[nodiscard]] host::EnvironmentMemory memory_with_kept(const facts::Distribution& kept) const;

private:
    explicit Examination(Inventories::Loan loan);
    void look_at_files(const protocol::Caller& caller, const GoesOn& wanted);
    void look_at_cuda(const nlohmann::json& params, const protocol::Caller& caller,
                      const GoesOn& wanted);

    Inventories::Loan m_loan;
    facts::Claims m_claims;
    plan::Ownership m_ownership;
    host::EnvironmentMemory m_memory;
    std::vector<plan::KeptCopy> m_kept; // what `cudaenv keep` can put back
    plan::CheckDepth m_depth = plan::CheckDepth::Records;
    std::optional<facts::Examined> m_examined;
    Activation m_activation;
    bool m_is_named = false;
    std::optional<facts::Host> m_host;
    std::vector<facts::ExtensionModule> m_extensions;
};

// Where the caller's memories of environments are kept.
host::EnvironmentMemories memories_of(const protocol::Caller& caller);

} // namespace cudaenv::daemon
