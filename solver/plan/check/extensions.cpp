#include "solver/plan/check/rules.hpp"

namespace cudaenv::plan {

void find_foreign_extensions(const CheckScene&, std::vector<CheckFinding>&) {}

} // namespace cudaenv::plan
