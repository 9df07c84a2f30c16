// What the rules of `cudaenv check` look at. Pure: whoever has looked at the machine hands it in.
#pragma once

#include "solver/facts/claims.hpp"
#include "solver/facts/environment.hpp"
#include "solver/facts/examined.hpp"
#include "solver/facts/extension.hpp"
#include "solver/facts/host.hpp"
#include "solver/facts/inventory.hpp"
#include "solver/facts/seen_distribution.hpp"
#include "solver/plan/check/ownership.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudaenv::plan {

// What `cudaenv keep` has of a distribution, and can put back.
struct KeptCopy {
    std::string name; // PEP 503
    std::string version;
};

// The constraints file of `cudaenv attach` that the environment's pip.conf names.
struct PipConstraints {
    std::string named; // empty: none
    bool is_own = true;
    bool is_there = true;
    std::string text;
};

struct CheckScene {
    const facts::Inventory& inventory;
    const facts::Claims& claims;
    const Ownership& ownership;
    // Null: no file was looked at, as at a prompt. Rules then say what the records prove.
    const facts::Examined* examined = nullptr;
    // Null: not looked at. The other facts of CUDA and of compiled modules go with it.
    const facts::EnvironmentFacts* environment = nullptr;
    const facts::Host* host = nullptr;       // null: not known
    const facts::Toolkit* toolkit = nullptr; // that activation chose
    std::string cuda{};                      // that a pin asks for: "11.3"; empty: none does
    std::string cuda_origin{};               // who asks: "pinned in ~/code/apex"
    std::vector<facts::ExtensionModule> extensions{};
    std::vector<facts::SeenDistribution> seen{}; // what it held before, by name
    std::vector<KeptCopy> kept{};                // by name, then by when it was kept
    PipConstraints constraints{};
    // The environment was asked for by its name or prefix; else it is the active one.
    bool is_named = false;
};

} // namespace cudaenv::plan
