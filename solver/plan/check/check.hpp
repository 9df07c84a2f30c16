// The findings about an environment (CE1xx, docs/findings.md). Law: a rule is a function of the
// scene and adds findings; it says only what the scene proves, and nothing where something it needs
// is not known. Another rule is a function
// (rules.hpp) and its row in check.cpp.
#pragma once

#include "solver/plan/check/scene.hpp"
#include "solver/plan/outcome.hpp"

#include <string>
#include <vector>

namespace cudaenv::plan {

// What `check --fix` would do for one finding, in order. Safe: nothing is lost that the user made,
// and nothing is fetched or replaced that was not asked for.
struct Repair {
    enum class Kind {
        Remove,       // `path`: a leftover, moved out of the environment before it is deleted
        RestoreKept,  // `distribution`: what `cudaenv keep` holds of it
        RestoreConda, // `package`: the files of the conda package anew, from its cache
        UninstallPip, // `distribution`: by its RECORD, but for files that another still claims
        ReinstallPip, // `distribution` == `version`, without its dependencies
    };

    Kind kind = Kind::Remove;
    std::string path;         // relative to the prefix; UninstallPip: the metadata of the one meant
    std::string distribution; // PEP 503
    std::string version;
    std::uint32_t package = 0; // of Inventory::conda
    // RestoreConda: these and no others, relative to the prefix; what the user changed is not
    // among them.
    std::vector<std::string> files;
};

struct CheckFinding {
    Finding finding;
    std::string subject; // the distribution or package it is about: "torch"
    // Said at the first prompt after the install that caused it.
    bool told_at_prompt = false;
    std::string line; // that line, without code and command: "pip replaced torch ... by ..."
    // All files concerned, relative to the prefix, sorted; the evidence quotes the first few.
    std::vector<std::string> files;
    std::vector<Repair> repairs; // empty: nothing that could be done safely
};

enum class CheckDepth { Records, Everything };
// By severity, then by code, then by subject.
std::vector<CheckFinding> check(const CheckScene& scene, CheckDepth depth);

} // namespace cudaenv::plan
