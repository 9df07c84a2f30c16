// Whether a partner of torch goes with the torch that is there. Pure. Law: what the partner's own
// record requires is believed first, then the table of releases; a gap in that says nothing.
#pragma once

#include "solver/plan/check/cuda_builds.hpp"

#include <string>

namespace cudaenv::plan {

enum class Pairing { Fits, Differs, Untold };

struct Paired {
    Pairing pairing = Pairing::Untold;
    std::string wants;        // "torch==2.8.0", "pytorch 2.3.0", "torch 2.8.0"
    std::string told;         // how that is known: "requires", "is released for"
    bool other_minor = false; // the torch that it wants is of another major.minor
};

Paired pair_of(const FamilyMember& partner, const FamilyMember& torch);

// The partner of that name released for a torch: "0.23.0"; empty where the table has none.
std::string released_partner(const knowledge::TorchRelease& release, std::string_view name,
                             bool of_conda);

} // namespace cudaenv::plan
