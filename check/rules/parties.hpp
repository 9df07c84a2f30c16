// The packages and distributions of an environment: whose record counts, and who wrote after whom.
// Pure.
#pragma once

#include "check/rules/context.hpp"

#include <compare>
#include <cstdint>
#include <string_view>

namespace cudaenv::rules {

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

// Refers to the context.
class Parties {
public:
    explicit Parties(const CheckContext& context);

    // Does the package's record say what its files should be? A RECORD inside a conda package was
    // written before conda finished the files; the system's do not match their files; a RECORD that
    // does not list its own METADATA, which every installer lists, proves nothing.
    [[nodiscard]] bool counts(const Party& party) const;
    // A file that matches such a RECORD and not conda's record was written by pip all the same.
    [[nodiscard]] bool may_have_written(const Party& party) const;
    // With damaged lines in a record, its paths and digests are not certain.
    [[nodiscard]] bool is_damaged(const Party& party) const {
        return !party.is_conda() && m_inventory.distributions[party.package].damaged_lines != 0;
    }
    [[nodiscard]] std::int64_t time_of(const Party& party) const;
    [[nodiscard]] const facts::FileClaims& files_of(const Party& party) const;
    [[nodiscard]] bool took_over(const Party& by, const Party& from) const;
    // Both are the same Python distribution, whatever conda calls it.
    [[nodiscard]] bool same_name(const Party& left, const Party& right) const;
    // Certainly later; false also where the order is unknown.
    [[nodiscard]] bool wrote_after(const Party& party, const Party& other) const;
    // uv installs several wheels at once; and the times of a copied environment may be equal.
    [[nodiscard]] bool is_order_known(const Party& party, const Party& other) const;

private:
    const CheckContext& m_context;
    const facts::Inventory& m_inventory;
    std::vector<bool> m_is_no_record; // by distribution
};

// Does a record of conda's name a file below that directory?
bool conda_claims_below(const CheckContext& context, const std::string& path);

// The words that installers write into INSTALLER, and whose they are. Pure.

// "uv", and "uv-pixi": uv within pixi.
inline bool is_uv(std::string_view installer) {
    return installer.starts_with("uv");
}

inline bool is_pip_or_uv(std::string_view installer) {
    return installer == "pip" || is_uv(installer);
}

} // namespace cudaenv::rules
