// What is asked of the resolver: the values behind `cudaenv resolve`.
#pragma once

#include "base/dotted_version.hpp"
#include "solver/plan/outcome.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudaenv::plan {

enum class Purpose { Run, Build };
enum class ManagerChoice { Auto, Conda, Pip };

// One thing asked for. `text` is a conda MatchSpec or a PEP 508 requirement; `origin` says where it
// was written, for messages ("argument 1", "/p/cudaenv.toml line 3").
struct Wanted {
    std::string text;
    std::string origin;
};

// A pin: a name of the pin vocabulary (cuda, cudnn, torch, python, ...) and a version constraint in
// pin grammar: a bare version is a prefix, "==11.3.1" is exact, ">=8.2" and commas as in conda.
struct Pin {
    std::string name;
    std::string constraint;
    std::string origin;
};

struct Request {
    std::vector<Wanted> specs;
    std::vector<Pin> pins;
    Purpose purpose = Purpose::Run;
    ManagerChoice manager = ManagerChoice::Auto;
    bool cpu = false;          // --cpu: a CPU build is what is wanted
    bool strict_host = false;  // warnings about the host become conflicts
    bool tell_choices = false; // say why each version and not the newest: `cudaenv explain`
    std::vector<std::string> preferred; // "name==version" of what is installed: favoured
    // Words that mean another host, as the user wrote them ("--driver", "550.54.15"): commands that
    // are offered repeat them.
    std::vector<std::string> host_words;
};

} // namespace cudaenv::plan
