// The rules, one family a file.
#pragma once

#include "check/rules/check.hpp"
#include "check/rules/overwritten.hpp"

namespace cudaenv::rules {

// overwrites.cpp: CE102 wheel over conda, CE103 conda over wheel, CE108 wheel over wheel, CE107
// files that are missing, CE109 files changed without a record.
void find_overwrites(const CheckContext& context, std::vector<CheckFinding>& findings);
// CE108 of a Loss of kind WheelOverWheel; its commands name `code`, the rule that reports it.
CheckFinding wheel_over_wheel(const CheckContext& context, const Loss& loss, std::string_view code);
// duplicates.cpp: CE101 the same distribution from both managers, CE105 duplicate metadata.
void find_duplicates(const CheckContext& context, std::vector<CheckFinding>& findings);
// leftovers.cpp: CE106 of an uninstall, CE114 stale egg-info of an editable install.
void find_leftovers(const CheckContext& context, std::vector<CheckFinding>& findings);
// leftovers.cpp: CE106 of an interrupted conda.
void find_conda_leftovers(const CheckContext& context, std::vector<CheckFinding>& findings);
// replaced.cpp: CE104 a source-built or editable distribution replaced by a wheel.
void find_replaced(const CheckContext& context, std::vector<CheckFinding>& findings);
// extensions.cpp: CE110 another torch or C++ ABI, CE111 another CUDA, CE112 another Python.
void find_foreign_extensions(const CheckContext& context, std::vector<CheckFinding>& findings);
// extensions.cpp: CE114 of modules for another torch that the next build would install.
void find_stale_builds(const CheckContext& context, std::vector<CheckFinding>& findings);
// torch_family.cpp: CE120 partners of another release, CE121 of another CUDA, CE122 a CPU build
// where CUDA is asked for, CE123 another CUDA than conda's cudatoolkit.
void find_torch_family(const CheckContext& context, std::vector<CheckFinding>& findings);
// unmet_requirements.cpp: CE124 what a package of the CUDA world requires and is not met. After
// find_foreign_extensions, which reports the same of compiled modules.
void find_unmet_requirements(const CheckContext& context, std::vector<CheckFinding>& findings);
// cuda_copies.cpp: CE130 several CUDA runtimes, CE131 cuDNNs, CE132 NCCLs.
void find_cuda_copies(const CheckContext& context, std::vector<CheckFinding>& findings);
// cudnn_parts.cpp: CE133, for find_cuda_copies: libcudnn.so.9 and the parts that it opens
// (libcudnn_ops.so.9 and its like), of two installs in one directory.
void find_cudnn_parts(const CheckContext& context, std::vector<CheckFinding>& findings);
// nvcc.cpp: CE134 parts of nvcc of two CUDA releases.
void find_nvcc_parts(const CheckContext& context, std::vector<CheckFinding>& findings);
// shadowed_libraries.cpp: CE135 another cuDNN or CUDA library on LD_LIBRARY_PATH or LD_PRELOAD.
void find_shadowed_libraries(const CheckContext& context, std::vector<CheckFinding>& findings);
// cuda_fit.cpp: CE140 framework and toolkit, CE141 to CE143 driver and runtime.
void find_cuda_misfits(const CheckContext& context, std::vector<CheckFinding>& findings);
// nvcc.cpp: CE150, for find_cuda_misfits: something has to be compiled with CUDA and no
// nvcc is here.
void find_missing_nvcc(const CheckContext& context, std::vector<CheckFinding>& findings);
// constraints.cpp: CE160 a constraints file of `cudaenv attach` that is out of date.
void find_outdated_constraints(const CheckContext& context, std::vector<CheckFinding>& findings);

} // namespace cudaenv::rules
