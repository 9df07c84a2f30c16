// Who manages each distribution, and which conda record it is: conda's packages of Python code lay
// down a dist-info as well, and pip takes them over without telling conda.
#pragma once

#include "solver/facts/claims.hpp"
#include "solver/facts/inventory.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::plan {

enum class Owner : std::uint8_t {
    Conda,  // what conda's package laid down, untouched
    Pip,    // pip, uv or another installer of Python's
    System, // a distribution's own packages (Debian's dist-packages): no INSTALLER, or "debian"
};

struct Owned {
    Owner owner = Owner::Pip;
    // The conda package whose record claims this distribution's metadata, or, for Owner::Pip, the
    // one of the same name that it took over or lies beside. Index into Inventory::conda.
    std::optional<std::uint32_t> conda;
    // Whoever installed it first took away what conda's package had laid down, or wrote over its
    // metadata: conda's record is out of date.
    bool took_over = false;
};

// One distribution that a conda package lays down, by the metadata that its record claims. Names
// of conda's packages say nothing of it: torch is `pytorch`.
struct ShippedDistribution {
    std::uint32_t conda = 0; // of Inventory::conda
    std::string name;        // PEP 503
    std::string version;     // as the metadata's name has it; empty: that has none
    std::string site;
    std::string metadata; // the directory or file
    std::string claimed;  // what conda's record claims of it: its METADATA or PKG-INFO, or itself
    // Its metadata is there no more, so far as its site was read: pip took it away.
    bool gone = false;
};

class Ownership {
public:
    Ownership(const facts::Inventory& inventory, const facts::Claims& claims);

    [[nodiscard]] const Owned& of(std::uint32_t distribution) const {
        return m_owned[distribution];
    }
    // By conda package. Of sites that the environment's Python does not import from, none.
    [[nodiscard]] const std::vector<ShippedDistribution>& shipped() const { return m_shipped; }

private:
    void find_shipped(const facts::Inventory& inventory);
    [[nodiscard]] Owned judge(const facts::Inventory& inventory, const facts::Claims& claims,
                              const facts::Distribution& distribution) const;

    std::vector<Owned> m_owned; // by distribution
    std::vector<ShippedDistribution> m_shipped;
};

// Files that differ or are missing in healthy environments: what installers rewrite after the
// record was made (INSTALLER, RECORD, REQUESTED, direct_url.json, uv_cache.json) and compiled
// Python (.pyc, __pycache__). Scripts in bin/ are none: whose first line is rewritten is listed
// with another digest only by the RECORD within a conda package, which proves nothing in any case.
bool is_ordinary_difference(std::string_view path);

// What an INSTALLER of this digest says, of the words that installers write: "pip". Empty: another.
std::string_view installer_of(const facts::Sha256Digest& digest);

} // namespace cudaenv::plan
