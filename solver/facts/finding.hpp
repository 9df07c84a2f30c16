// A finding: what `check`, `doctor`, `resolve` and the probe report, with a stable code. What is
// said of a code is data (data/findings.json); solver/knowledge/findings.hpp fills it in.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cudaenv::facts {

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

// Named values of a finding's sentences: {"driver", "550.54.15"}. An empty value counts as absent.
using Arguments = std::vector<std::pair<std::string, std::string>>;

struct Finding {
    std::string code; // CE201
    Severity severity = Severity::Warning;
    std::string title;
    std::vector<Evidence> evidence;
    std::string cause;
    std::optional<Fix> fix;
    // Which case of the code this is, and the values in its sentences: what tests assert.
    std::string situation = {};
    Arguments arguments = {};
};

} // namespace cudaenv::facts
