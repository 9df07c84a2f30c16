#include "solver/plan/check/rules.hpp"

namespace cudaenv::plan {

void find_torch_family(const CheckScene&, std::vector<CheckFinding>&) {}

} // namespace cudaenv::plan
