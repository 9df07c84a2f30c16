#include "solver/pins/pin_layers.hpp"

#include "base/ranges.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::pins {

std::string_view name_of(PinSource source) {
    constexpr auto k_names = std::to_array<std::string_view>(
        {"this shell", "the project's local file", "the project", "the environment",
         "the user's default", "the administrator's default"}); // in the enum's order
    return k_names[static_cast<std::size_t>(source)];
}

namespace {

facts::Severity severity_of(PinSource winner, PinSource loser) {
    const bool by_default = loser == PinSource::User || loser == PinSource::System;
    const bool neighbour = winner == PinSource::ProjectLocal && loser == PinSource::Project;
    return by_default || neighbour ? facts::Severity::Note : facts::Severity::Warning;
}

} // namespace

const EffectivePin* EffectivePins::find(std::string_view name) const {
    return find_pointer_if(pins, [&](const EffectivePin& p) { return p.pin.name == name; });
}

std::vector<Pin> EffectivePins::list() const {
    return each_of(pins, &EffectivePin::pin);
}

std::vector<std::string> EffectivePins::warnings() const {
    std::vector<std::string> out;
    for (const PinOverride& change : overridden) {
        if (change.severity == facts::Severity::Warning) {
            out.push_back(change.text);
        }
    }
    return out;
}

EffectivePins effective_pins(std::span<const PinLayer> layers) {
    std::vector<EffectivePin> all;
    for (const PinLayer& layer : layers) {
        for (const Pin& pin : layer.pins) {
            all.push_back({pin, layer.source});
        }
    }
    std::ranges::stable_sort(all, [](const EffectivePin& a, const EffectivePin& b) {
        return a.pin.name != b.pin.name ? a.pin.name < b.pin.name : a.source < b.source;
    });
    EffectivePins out;
    for (EffectivePin& candidate : all) {
        if (out.pins.empty() || out.pins.back().pin.name != candidate.pin.name) {
            out.pins.push_back(std::move(candidate));
            continue;
        }
        const EffectivePin& winner = out.pins.back();
        if (winner.pin.constraint == candidate.pin.constraint) {
            continue;
        }
        PinOverride change{winner, candidate, severity_of(winner.source, candidate.source), {}};
        change.text = winner.pin.name + ' ' + winner.pin.constraint + " (" + winner.pin.origin +
                      ") overrides " + candidate.pin.constraint + " (" + candidate.pin.origin + ')';
        out.overridden.push_back(std::move(change));
    }
    return out;
}

} // namespace cudaenv::pins
