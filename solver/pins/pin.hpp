// What a project wants, as values: a pin, and what the environment is for.
#pragma once

#include <string>

namespace cudaenv::pins {

enum class Purpose { Run, Build };

// A pin: a name of the pin vocabulary (cuda, cudnn, torch, python, ...) and a version constraint in
// pin grammar: a bare version is a prefix, "==11.3.1" is exact, ">=8.2" and commas as in conda.
struct Pin {
    std::string name;
    std::string constraint;
    std::string origin;
};

} // namespace cudaenv::pins
