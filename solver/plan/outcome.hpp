// What a resolution came to: the values behind the JSON object `cudaenv.resolve/1`.
#pragma once

#include "base/dotted_version.hpp"
#include "solver/facts/host.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudaenv::plan {

enum class Severity { Error, Warning, Note };

struct Evidence {
    std::string path;
    int line = 0;
    std::string text;
};

struct Fix {
    std::string text;
    std::string command;
};

// One thing worth telling, with a stable code (docs/findings.md).
struct Finding {
    std::string code; // CE201
    Severity severity = Severity::Warning;
    std::string title;
    std::vector<Evidence> evidence;
    std::string cause;
    std::optional<Fix> fix;
};

enum class Manager { Conda, Pip };

struct ChosenPackage {
    std::string name; // conda's for conda's, PyPI's for pip's
    std::string version;
    std::string build; // empty where the catalogue does not know it
    Manager manager = Manager::Conda;
    std::string channel; // channel or index
    std::string url;
    std::string sha256;
    bool asked = false; // named by the request
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
    std::vector<Finding> missing;
    std::vector<Finding> warnings;
    std::vector<std::string>
        notes; // facts the answer rests on: "driver 470.199.02 gives CUDA 11.4 ..."
    std::vector<Choice> choices; // only where the request asks for them
    std::optional<Conflict> conflict;

    [[nodiscard]] bool solved() const { return !conflict.has_value(); }
};

} // namespace cudaenv::plan
