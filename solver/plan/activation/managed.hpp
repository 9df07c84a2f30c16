// The variables that activation may set, and those that tell it what is active: the one list. Pure.
#pragma once

#include <span>
#include <string_view>

namespace cudaenv::plan {

// Set or added to by a patch, sorted: CUDA_HOME, PATH, CC, ... All are in
// protocol::caller_variables() (a test holds the two together).
std::span<const std::string_view> managed_variables();
// Lists of directories among them, sorted: PATH, LD_LIBRARY_PATH, ...
std::span<const std::string_view> managed_lists();
// What tells a shell that another decision may be due, sorted: the managed ones that decide about
// others, CONDA_PREFIX, VIRTUAL_ENV, LOADEDMODULES, CUDAENV_CUDA, CUDAENV_DISABLE.
std::span<const std::string_view> watched_variables();
// Of some of these: unset and empty come to the same decision.
bool empty_means_unset(std::string_view name);

bool is_managed(std::string_view name);
bool is_managed_list(std::string_view name);

} // namespace cudaenv::plan
