// The environment variables that cudaenv reads or sets: one row each, in variables.cpp. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace cudaenv {

// Those that a client sends with a request, sorted. Nothing else of the user's environment reaches
// the daemon except what CUDA's libraries read, so no token or password does.
std::span<const std::string_view> read_variables();
bool is_read_variable(std::string_view name);

// Set or added to by activation, sorted: CUDA_HOME, PATH, CC, ...
std::span<const std::string_view> managed_variables();
bool is_managed(std::string_view name);
// Lists of directories among them, sorted: PATH, LD_LIBRARY_PATH, ...
std::span<const std::string_view> managed_lists();
bool is_managed_list(std::string_view name);

// A change of one of these may change the decision, sorted.
std::span<const std::string_view> watched_variables();
// Of some of these: unset and empty come to the same decision.
bool empty_means_unset(std::string_view name);

// What a daemon keeps of the environment of the shell that started it, sorted.
std::span<const std::string_view> variables_kept_by_daemon();

// How a module system counts who wants an entry on a list.
struct CounterStyle {
    std::string_view prefix; // of the counter's name; the list's name follows
    char between;
    std::size_t least; // fewer references are not written down
};
std::span<const CounterStyle> counter_styles();
// The style of the counter with this name; nullptr if it is not a counter.
const CounterStyle* counter_style(std::string_view name);

// The variable of which NAME is somebody else's copy or count: venv's `_OLD_VIRTUAL_PATH`, conda's
// `__CONDA_SHLVL_1_CUDA_HOME`, Lmod's `__LMOD_REF_COUNT_PATH`.
std::optional<std::string_view> snapshot_of(std::string_view name);

} // namespace cudaenv
