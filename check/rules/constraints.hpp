// What pip and conda must not change in one environment, as lines of a constraints file and of
// conda-meta/pinned: `activate.constraints = "env"`. Pure.
//
// Law: what is installed is held at its exact version, its local label included, so that a build
// made here is never replaced by a wheel; every line is ASCII, whatever a record holds.
#pragma once

#include "check/rules/ownership.hpp"
#include "solver/facts/inventory.hpp"
#include "solver/pins/pin_layers.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::rules {

struct Constraints {
    // "torch==2.4.0+cu121,!=0+kept.by.cudaenv.until.cudaenv.detach". The second clause excludes a
    // version that does not exist: pip's resolver quotes the specifiers of a constraint and nothing
    // else of the file, so that is where its message can tell who asks and what ends it.
    std::vector<std::string> pip;
    // "pytorch ==2.4.0 py3.11_cuda12.1_cudnn9.1.0_0". For a torch that pip installed, its version,
    // which no channel has: conda then refuses to install its own over it.
    std::vector<std::string> conda;
};

// torch, torchvision and torchaudio as they are installed; of torchvision and torchaudio that are
// not, the release made for the torch that is here (very old ones, and the newest torchaudio, ask
// for any torch, and a resolver would take them); of NVIDIA's and triton's wheels those that
// torch's own record requires in one version: pip does not look at what installed packages require.
// Of `pins` those of a project or an environment that name another framework, or one that is not
// installed. A name that is there in several versions is left out.
Constraints constraints_of(const facts::Inventory& inventory, const Ownership& ownership,
                           std::span<const pins::EffectivePin> pins);

// torch 2.5.0, held at 2.4.0+cu121.
struct OutdatedConstraint {
    std::string name;
    std::string version;
    std::string held;

    bool operator==(const OutdatedConstraint&) const = default;
};
// Of torch, torchvision and torchaudio, where a constraints file, as written from constraints_of,
// no longer allows what is installed.
std::vector<OutdatedConstraint> outdated_constraints(std::string_view file,
                                                     const facts::Inventory& inventory,
                                                     const Ownership& ownership);

// From the first pip whose isolated builds can be kept from the constraints of an environment's own
// pip.conf, 25.3: Never before it, ByFeature with "use-feature = build-constraint" beside them,
// Always from 26.2 on.
enum class BuildsApart { Never, ByFeature, Always };
BuildsApart builds_apart(std::string_view pip_version);

} // namespace cudaenv::rules
