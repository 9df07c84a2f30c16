// What all claims to one path say of its content, beside what lies there. Pure: the look and the
// digest are handed in. Law: content is asked for only where something speaks against it.
#pragma once

#include "solver/facts/claims.hpp"
#include "solver/facts/examined.hpp"

#include <span>

namespace cudaenv::inventory {

enum class Agreement {
    AsClaimed, // nothing is held of it
    Differs,   // the state is held, without a digest
    AskDigest, // what is held is for after_digest() to say
};

// `state`: what the look gave, without a digest; never Missing of what may be missing. A path whose
// claims disagree is asked for its digest, one that a package claims without a digest while another
// has one, and one that was changed when its record was written, or later. Not where its size tells
// already that no record matches it.
Agreement compare(const facts::Inventory& inventory, const facts::Claims& claims,
                  std::span<const facts::Claim> of_path, const facts::PathState& state);

// Of a path that was asked for its digest, which is in `state`: AsClaimed or Differs.
Agreement after_digest(const facts::Claims& claims, std::span<const facts::Claim> of_path,
                       const facts::PathState& state);

} // namespace cudaenv::inventory
