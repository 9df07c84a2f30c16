#include "solver/plan/check/rules.hpp"

namespace cudaenv::plan {

void find_leftovers(const CheckScene&, std::vector<CheckFinding>&) {}

} // namespace cudaenv::plan
