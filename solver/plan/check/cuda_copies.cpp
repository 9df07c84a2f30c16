#include "solver/plan/check/rules.hpp"

namespace cudaenv::plan {

void find_cuda_copies(const CheckScene&, std::vector<CheckFinding>&) {}

} // namespace cudaenv::plan
