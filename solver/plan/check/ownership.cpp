#include "solver/plan/check/ownership.hpp"

namespace cudaenv::plan {

Ownership::Ownership(const facts::Inventory& inventory, const facts::Claims&)
    : m_owned(inventory.distributions.size()) {}

bool is_ordinary_difference(std::string_view) {
    return false;
}

} // namespace cudaenv::plan
