// Which pin counts where several places name one (design decision 14). Pure.
//
// Law: this shell > cudaenv.local.toml > cudaenv.toml > the environment's own file > the user's
// default > the administrator's. One pin a name comes out, and nothing is overridden unseen.
#pragma once

#include "solver/facts/finding.hpp"
#include "solver/pins/pin.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::pins {

// Strongest first. What stands between a project's pin and an environment's own for CUDA (a module
// loaded, CUDA_HOME set by hand) is no pin and is weighed where environments are activated.
enum class PinSource { Shell, ProjectLocal, Project, Environment, User, System };

std::string_view name_of(PinSource source); // "this shell", "the project", ...

struct PinLayer {
    PinSource source = PinSource::Project;
    std::vector<Pin> pins;
};

struct EffectivePin {
    Pin pin;
    PinSource source = PinSource::Project;
};

// A pin that lost against a different one. A default that gives way to a project is what defaults
// are for, and cudaenv.local.toml exists to override its neighbour: these are notes, the rest
// warnings.
struct PinOverride {
    EffectivePin winner;
    EffectivePin loser;
    facts::Severity severity = facts::Severity::Warning;
    std::string text; // one line
};

struct EffectivePins {
    std::vector<EffectivePin> pins; // sorted by name
    std::vector<PinOverride> overridden;

    [[nodiscard]] const EffectivePin* find(std::string_view name) const;
    [[nodiscard]] std::vector<Pin> list() const; // for Request::pins
    [[nodiscard]] std::vector<std::string> warnings() const;
};

// Layers in any order.
EffectivePins effective_pins(std::span<const PinLayer> layers);

} // namespace cudaenv::pins
