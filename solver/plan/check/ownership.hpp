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
    // one of the same name that it took over. Index into Inventory::conda.
    std::optional<std::uint32_t> conda;
};

class Ownership {
public:
    Ownership(const facts::Inventory& inventory, const facts::Claims& claims);

    [[nodiscard]] const Owned& of(std::uint32_t distribution) const {
        return m_owned[distribution];
    }

private:
    std::vector<Owned> m_owned; // by distribution
};

// Files that differ or are missing in healthy environments: what installers rewrite after the
// record was made (INSTALLER, RECORD, REQUESTED, direct_url.json, uv_cache.json), compiled Python
// (.pyc, __pycache__), scripts whose first line is rewritten (bin/ of a RECORD).
bool is_ordinary_difference(std::string_view path);

} // namespace cudaenv::plan
