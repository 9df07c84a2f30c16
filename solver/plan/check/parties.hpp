// The packages and distributions of a scene beside each other: whose record counts, and who wrote
// after whom. Pure.
#pragma once

#include "solver/plan/check/scene.hpp"

#include <compare>
#include <cstdint>

namespace cudaenv::plan {

// A package of conda's or a distribution, as Claim has it.
struct Party {
    facts::Claim::By by = facts::Claim::By::Conda;
    std::uint32_t package = 0;

    auto operator<=>(const Party&) const = default;
    [[nodiscard]] bool is_conda() const { return by == facts::Claim::By::Conda; }
};

inline Party party_of(const facts::Claim& claim) {
    return {claim.by, claim.package};
}

// Rests on the scene.
class Parties {
public:
    explicit Parties(const CheckScene& scene);

    // Does the package's record say what ought to lie there? That of a dist-info within a conda
    // package was made before conda finished it; those of the system's do not fit their files; one
    // that does not even name its own METADATA, which every installer lists, is no record.
    [[nodiscard]] bool counts(const Party& party) const;
    // Nevertheless, a file that is what such a RECORD says, and not what conda's record says, was
    // put there by pip.
    [[nodiscard]] bool may_have_written(const Party& party) const;
    // Of a record with damaged lines it cannot be told whether a path or a digest is what it was.
    [[nodiscard]] bool is_damaged(const Party& party) const {
        return !party.is_conda() && m_inventory.distributions[party.package].damaged_lines != 0;
    }
    [[nodiscard]] std::int64_t time_of(const Party& party) const;
    [[nodiscard]] const facts::FileClaims& files_of(const Party& party) const;
    [[nodiscard]] bool took_over(const Party& by, const Party& from) const;
    // Of one distribution of Python's, under whatever name.
    [[nodiscard]] bool same_name(const Party& left, const Party& right) const;
    // Certainly later; false also where that cannot be told.
    [[nodiscard]] bool wrote_after(const Party& party, const Party& other) const;
    // uv lays several wheels down at once; and times of a copy may be those of one second.
    [[nodiscard]] bool is_order_known(const Party& party, const Party& other) const;

private:
    const CheckScene& m_scene;
    const facts::Inventory& m_inventory;
    std::vector<bool> m_is_no_record; // by distribution
};

// Does a record of conda's name a file below that directory?
bool conda_claims_below(const CheckScene& scene, const std::string& path);

} // namespace cudaenv::plan
