// Who owns each distribution, and which conda record it belongs to: conda's packages of Python code
// contain a dist-info as well, and pip replaces them without updating conda's record.
#pragma once

#include "solver/facts/claims.hpp"
#include "solver/facts/inventory.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::rules {

enum class Owner : std::uint8_t {
    Conda,  // installed by conda's package, untouched
    Pip,    // pip, uv or another installer of Python's
    System, // a distribution's own packages (Debian's dist-packages): no INSTALLER, or "debian"
};

struct Owned {
    Owner owner = Owner::Pip;
    // The conda package whose record claims this distribution's metadata, or, for Owner::Pip, the
    // one of the same name that it replaced or lies beside. Index into Inventory::conda.
    std::optional<std::uint32_t> conda;
    // Its installer removed what conda's package had installed, or overwrote its metadata: conda's
    // record is out of date.
    bool took_over = false;
};

// A distribution that a conda package installs, by the metadata that its record claims. The names
// of conda's packages do not say: torch is `pytorch`.
struct ShippedDistribution {
    std::uint32_t conda = 0; // of Inventory::conda
    std::string name;        // PEP 503
    std::string version;     // of the metadata's name; empty: the name has no version
    std::string site;
    std::string metadata; // the directory or file
    std::string claimed;  // what conda's record claims of it: its METADATA or PKG-INFO, or itself
    // Its metadata is missing, as far as its site could be read: pip removed it.
    bool gone = false;
};

class Ownership {
public:
    Ownership(const facts::Inventory& inventory, const facts::Claims& claims);

    [[nodiscard]] const Owned& of(std::uint32_t distribution) const {
        return m_owned[distribution];
    }
    // By conda package. Sites that the environment's Python does not import from are left out.
    [[nodiscard]] const std::vector<ShippedDistribution>& shipped() const { return m_shipped; }

private:
    void find_shipped(const facts::Inventory& inventory);
    [[nodiscard]] Owned judge(const facts::Inventory& inventory, const facts::Claims& claims,
                              const facts::Distribution& distribution) const;

    std::vector<Owned> m_owned; // by distribution
    std::vector<ShippedDistribution> m_shipped;
};

// Files that differ or are missing in healthy environments: what installers rewrite after the
// record was written (INSTALLER, RECORD, REQUESTED, direct_url.json, uv_cache.json) and compiled
// Python
// (.pyc, __pycache__). Scripts in bin/ do not count: only the RECORD inside a conda package lists
// them with another digest (of the first line before it was rewritten), and that proves nothing.
bool is_ordinary_difference(std::string_view path);

// The installer whose word has this digest in INSTALLER: "pip". Empty: an unknown installer.
std::string_view installer_of(const facts::Sha256Digest& digest);

} // namespace cudaenv::rules
