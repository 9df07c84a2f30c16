#include "check/inventory/claimed_content.hpp"

#include <algorithm>
#include <limits>

namespace cudaenv::inventory {

namespace {

using facts::Claim;
using facts::ClaimHash;
using facts::ClaimKind;
using facts::Claims;
using facts::FileClaim;
using facts::Lies;
using facts::PathState;

bool has_digest(const FileClaim& claim) {
    return claim.kind == ClaimKind::File && claim.hash == ClaimHash::Sha256;
}

// Of a file whose prefix was replaced, some records have the size before.
bool has_other_size(const FileClaim& claim, std::uint64_t size) {
    return claim.kind == ClaimKind::File && claim.size != FileClaim::k_no_size &&
           !claim.prefix_replaced && claim.size != size;
}

std::int64_t laid_down_ns(const facts::Inventory& inventory, const Claim& claim) {
    return claim.by == Claim::By::Conda ? inventory.conda[claim.package].laid_down_ns
                                        : inventory.distributions[claim.package].laid_down_ns;
}

// By when the file has to have been there to be believed. conda's record, where there is one: the
// directory of a dist-info that conda installed is as old as the last file in it, which is not its
// package's, and may be touched by others. Of several the earliest, which costs a digest at most.
std::int64_t laid_down_ns(const facts::Inventory& inventory, const Claims& claims,
                          std::span<const Claim> of_path) {
    constexpr auto k_none = std::numeric_limits<std::int64_t>::max();
    auto by_conda = k_none;
    auto by_others = k_none;
    for (const Claim& claim : of_path) {
        if (has_digest(claims.file(claim))) {
            auto& earliest = claim.by == Claim::By::Conda ? by_conda : by_others;
            earliest = std::min(earliest, laid_down_ns(inventory, claim));
        }
    }
    return by_conda != k_none ? by_conda : by_others;
}

// A claim without a digest, of another package than those that have one: whose file it is can only
// be seen from the digest.
bool is_claimed_without_digest(const Claims& claims, std::span<const Claim> of_path) {
    return std::ranges::any_of(of_path, [&](const Claim& bare) {
        return !has_digest(claims.file(bare)) &&
               std::ranges::none_of(of_path, [&](const Claim& other) {
                   return other.same_owner(bare) && has_digest(claims.file(other));
               });
    });
}

bool is_worth_a_digest(const facts::Inventory& inventory, const Claims& claims,
                       std::span<const Claim> of_path, const PathState& state) {
    const Claim* first = nullptr;
    bool disagree = false;
    bool may_be_one = false;
    for (const Claim& claim : of_path) {
        const FileClaim& file = claims.file(claim);
        if (!has_digest(file)) {
            continue;
        }
        first = first == nullptr ? &claim : first;
        disagree = disagree || claims.file(*first).sha256 != file.sha256;
        may_be_one = may_be_one || !has_other_size(file, state.size);
    }
    return may_be_one &&
           (disagree || state.changed_ns >= laid_down_ns(inventory, claims, of_path) ||
            is_claimed_without_digest(claims, of_path));
}

} // namespace

Agreement compare(const facts::Inventory& inventory, const Claims& claims,
                  std::span<const Claim> of_path, const PathState& state) {
    const auto all = [&](const auto& law) {
        return std::ranges::all_of(of_path,
                                   [&](const Claim& claim) { return law(claims.file(claim)); });
    };
    const auto all_of_kind = [&](ClaimKind kind) {
        return all([kind](const FileClaim& claim) { return claim.kind == kind; });
    };
    bool same = false;
    switch (state.lies) {
    case Lies::Link:
        // No record claims where a link leads: rattler's digest is of the text, others' of what
        // it leads to.
        same = all_of_kind(ClaimKind::Softlink);
        break;
    case Lies::Directory:
        same = all_of_kind(ClaimKind::Directory);
        break;
    case Lies::File:
        if (is_worth_a_digest(inventory, claims, of_path, state)) {
            return Agreement::AskDigest;
        }
        same = all([&](const FileClaim& claim) {
            return claim.kind == ClaimKind::File && !has_other_size(claim, state.size);
        });
        break;
    case Lies::Missing:
    case Lies::Other:
    case Lies::Redirected:
    case Lies::Unreadable:
        break;
    }
    return same ? Agreement::AsClaimed : Agreement::Differs;
}

Agreement after_digest(const Claims& claims, std::span<const Claim> of_path,
                       const PathState& state) {
    const bool same = std::ranges::all_of(of_path, [&](const Claim& claim) {
        const FileClaim& file = claims.file(claim);
        return !has_other_size(file, state.size) && file.kind == ClaimKind::File &&
               (!has_digest(file) || file.sha256 == state.sha256);
    });
    return same && !is_claimed_without_digest(claims, of_path) ? Agreement::AsClaimed
                                                               : Agreement::Differs;
}

} // namespace cudaenv::inventory
