#include "solver/plan/check/rules.hpp"

namespace cudaenv::plan {

void find_duplicates(const CheckScene&, std::vector<CheckFinding>&) {}

} // namespace cudaenv::plan
