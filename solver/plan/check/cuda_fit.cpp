#include "solver/plan/check/rules.hpp"

namespace cudaenv::plan {

void find_cuda_misfits(const CheckScene&, std::vector<CheckFinding>&) {}

} // namespace cudaenv::plan
