// The rules, one family a file.
#pragma once

#include "solver/plan/check/check.hpp"

namespace cudaenv::plan {

// overwrites.cpp: CE102 wheel over conda, CE103 conda over wheel, CE108 wheel over wheel, CE107
// files that are gone, CE109 files changed by nobody on record.
void find_overwrites(const CheckScene& scene, std::vector<CheckFinding>& found);
// duplicates.cpp: CE101 the same distribution from both managers, CE105 duplicate metadata.
void find_duplicates(const CheckScene& scene, std::vector<CheckFinding>& found);
// leftovers.cpp: CE106 of an uninstall, CE114 stale egg-info of an editable install.
void find_leftovers(const CheckScene& scene, std::vector<CheckFinding>& found);
// conda_leftovers.cpp: CE106 of a conda that was killed.
void find_conda_leftovers(const CheckScene& scene, std::vector<CheckFinding>& found);
// replaced.cpp: CE104 a source-built or editable distribution replaced by a wheel.
void find_replaced(const CheckScene& scene, std::vector<CheckFinding>& found);
// extensions.cpp: CE110 another torch or C++ ABI, CE111 another CUDA, CE112 another Python.
void find_foreign_extensions(const CheckScene& scene, std::vector<CheckFinding>& found);
// stale_builds.cpp: CE114 of modules for another torch that the next build would install.
void find_stale_builds(const CheckScene& scene, std::vector<CheckFinding>& found);
// torch_family.cpp: CE120 partners of another release, CE121 of another CUDA, CE122 a CPU build
// where CUDA is asked for.
void find_torch_family(const CheckScene& scene, std::vector<CheckFinding>& found);
// cuda_copies.cpp: CE130 several CUDA runtimes, CE131 cuDNNs, CE132 NCCLs, CE133 parts of two
// cuDNNs.
void find_cuda_copies(const CheckScene& scene, std::vector<CheckFinding>& found);
// cuda_fit.cpp: CE140 framework and toolkit, CE141 to CE143 driver and runtime, CE150 missing nvcc.
void find_cuda_misfits(const CheckScene& scene, std::vector<CheckFinding>& found);
// outdated_constraints.cpp: CE160 a constraints file of ours that no longer says what is there.
void find_outdated_constraints(const CheckScene& scene, std::vector<CheckFinding>& found);

} // namespace cudaenv::plan
