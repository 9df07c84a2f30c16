#include "solver/plan/check/rules.hpp"

namespace cudaenv::plan {

void find_replaced(const CheckScene&, std::vector<CheckFinding>&) {}

} // namespace cudaenv::plan
