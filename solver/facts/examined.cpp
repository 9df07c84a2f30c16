#include "solver/facts/examined.hpp"

namespace cudaenv::facts {

Fit fit_of(const FileClaim& claim, const PathState* state) {
    if (state == nullptr) {
        return Fit::Same;
    }
    switch (state->lies) {
    case Lies::Missing:
        return Fit::Missing;
    case Lies::Link:
        return claim.kind == ClaimKind::Softlink ? Fit::Same : Fit::Unknown;
    case Lies::Directory:
        if (claim.kind == ClaimKind::Directory) {
            return Fit::Same;
        }
        // Some records name directories like files, without a digest, and where links were not
        // wanted, what a link led to was copied.
        return claim.kind == ClaimKind::File && claim.hash != ClaimHash::None ? Fit::Other
                                                                              : Fit::Unknown;
    case Lies::File:
        break;
    case Lies::Other:
    case Lies::Redirected:
    case Lies::Unreadable:
        return Fit::Unknown;
    }
    if (claim.kind == ClaimKind::Softlink) {
        return Fit::Unknown; // a copy where links were not wanted
    }
    if (claim.kind == ClaimKind::Directory) {
        return Fit::Other;
    }
    // Of a file whose prefix was replaced conda has the size before.
    if (claim.size != FileClaim::k_no_size && !claim.prefix_replaced && claim.size != state->size) {
        return Fit::Other;
    }
    if (claim.hash != ClaimHash::Sha256 || !state->sha256) {
        return Fit::Unknown;
    }
    return *state->sha256 == claim.sha256 ? Fit::Same : Fit::Other;
}

} // namespace cudaenv::facts
