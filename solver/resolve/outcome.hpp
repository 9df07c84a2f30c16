// What a resolution came to: the values behind the JSON object `cudaenv.resolve/1`.
#pragma once

#include "base/dotted_version.hpp"
#include "solver/facts/finding.hpp"
#include "solver/facts/host.hpp"
#include "solver/knowledge/fit.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudaenv::resolve {

enum class Manager { Conda, Pip };

// The version of what is built from a repository that has no releases: apex.
inline constexpr const char* k_from_source = "from source";
// Likewise of what has wheels on its project's own page alone: pyg-lib.
inline constexpr const char* k_from_page = "from its project's page";

struct ChosenPackage {
    std::string name; // conda's for conda's, PyPI's for pip's
    std::string version;
    std::string build; // empty where the catalogue does not know it
    Manager manager = Manager::Conda;
    std::string channel; // channel or index
    std::string url;
    std::string sha256;
    bool asked = false;     // named by the request
    bool kept = false;      // installed in the environment, as it is
    bool framework = false; // decides the CUDA of an environment: torch, TensorFlow, JAX
};

struct Reason {
    std::string text;
    std::vector<std::string> facts;
};

// A change that makes the request solvable; proved by solving it. Costs: 1 another build, 2 another
// version of what was asked, 3 another toolkit or compiler on this host, 4 something to install as
// root, 5 other hardware.
struct RankedFix {
    std::string text;
    std::string command;
    int cost = 2;
};

struct Conflict {
    std::vector<Reason> reasons;
    std::vector<RankedFix> fixes;
};

struct Alternative {
    Manager manager = Manager::Pip;
    std::vector<std::string> commands;
};

// Why this version of what was asked, and not the newest.
struct Choice {
    std::string chosen; // "torch 2.7.1+cu118"
    std::string newest; // "2.15.0"; empty where the chosen one is the newest
    std::string why;
    std::string next; // what would have been taken without it; of the first that was asked for
};

// "driver 470.199.02 gives CUDA 11.4"; only a yes is shown with a tick.
struct Verdict {
    std::string text;
    knowledge::Answer answer = knowledge::Answer::Unknown;
};

// Of a package that is installed: it cannot stay with what was asked for.
struct Change {
    std::string name;
    std::string from;
    std::string to;
    std::string why;
};

struct Outcome {
    std::vector<std::string> request; // as the user wrote it, pins included, one item each
    std::optional<DottedVersion> cuda;
    std::optional<std::string> python; // 3.9, where the answer has one
    std::optional<std::string> cudnn;  // 8.3.2, likewise
    bool driver_assumed = false;
    std::vector<ChosenPackage> packages; // sorted by name
    std::optional<facts::Toolkit> toolkit;
    std::optional<facts::Compiler> host_compiler;
    std::vector<std::string> commands;
    std::vector<Alternative> alternatives;
    std::vector<facts::Finding> missing;
    std::vector<facts::Finding> warnings;
    std::vector<Verdict> runs;        // what the answer rests on here
    std::vector<Change> changes;      // of what the environment holds
    std::vector<std::string> kept;    // "torch 2.8.0+cu128", of the environment
    std::vector<std::string> unknown; // asked for, in no table: passed on to pip as written
    std::vector<Choice> choices;      // only where the request asks for them
    std::optional<Conflict> conflict;

    [[nodiscard]] bool solved() const { return !conflict.has_value(); }
};

} // namespace cudaenv::resolve
