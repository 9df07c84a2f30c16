// The facts that the rules of `cudaenv check` judge. Pure values: the caller has read the machine.
#pragma once

#include "check/rules/ownership.hpp"
#include "solver/facts/claims.hpp"
#include "solver/facts/earlier_site.hpp"
#include "solver/facts/environment.hpp"
#include "solver/facts/examined.hpp"
#include "solver/facts/extension.hpp"
#include "solver/facts/host.hpp"
#include "solver/facts/inventory.hpp"
#include "solver/facts/seen_distribution.hpp"

#include <string>
#include <vector>

namespace cudaenv::rules {

// A copy of a distribution that `cudaenv keep` can restore.
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

// A CUDA library that the shell puts before the environment's: in LD_PRELOAD, or in a directory of
// LD_LIBRARY_PATH.
struct SearchedLibrary {
    std::string name; // "libcudnn.so.9"
    std::string directory;
    std::string version;         // "9.14.0" of the file that it links to; empty: unknown
    bool of_environment = false; // inside the prefix
    bool preloaded = false;      // by LD_PRELOAD
};

struct CheckContext {
    const facts::Inventory& inventory;
    const facts::Claims& claims;
    const Ownership& ownership;
    // Null: no file was read, as at a prompt. Rules then report what the records prove.
    const facts::Examined* examined = nullptr;
    // Null: not read. Then the other facts of CUDA and of compiled modules are missing as well.
    const facts::EnvironmentFacts* environment = nullptr;
    const facts::Host* host = nullptr;       // null: not known
    const facts::Toolkit* toolkit = nullptr; // that activation chose
    std::string cuda{};                      // that a pin asks for: "11.3"; empty: none does
    std::string cuda_origin{};               // who asks: "pinned in ~/code/apex"
    std::vector<facts::ExtensionModule> extensions{};
    std::vector<facts::SeenDistribution> seen{}; // what it held before, by name
    std::vector<KeptCopy> kept{};                // by name, then by when it was kept
    PipConstraints constraints{};
    std::string library_path{};              // LD_LIBRARY_PATH of the shell
    std::vector<SearchedLibrary> searched{}; // what is preloaded, then by its directories
    std::vector<facts::NumpyModule> numpy_modules{};
    std::vector<facts::MissingLibrary> missing_libraries{};
    std::vector<facts::FailingImport> failing_imports{};
    std::vector<facts::EarlierSite> earlier_sites{}; // in the order of sys.path
    std::string python_path{};                       // PYTHONPATH of the shell
    // The environment was named on the command line; else it is the active one.
    bool is_named = false;
};

} // namespace cudaenv::rules
