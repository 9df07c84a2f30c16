#include "base/variables.hpp"

#include "base/ranges.hpp"

#include <algorithm>
#include <array>

namespace cudaenv {

namespace {

enum Role : unsigned {
    k_set = 1,  // by activation
    k_list = 2, // of directories; activation adds to it
    // Costs every prompt 0.3 microseconds and more. Not watched: what matters only to itself (a
    // user's MAX_JOBS, CUDACXX or CUDNN_HOME stays in any case), and what never changes without a
    // watched one (CONDA_SHLVL, the NVCC flags that conda's compilers set, the journal).
    k_watched = 4,
    k_empty_is_unset = 8,
    // Where the daemon's files are and what a test of the build needs; nothing that would be wrong
    // for the next request, or should not stand in /proc for fifteen minutes.
    k_kept_by_daemon = 16,
    k_only_daemon = 32, // kept too, and not sent with requests
};

struct Row {
    std::string_view name;
    unsigned roles = 0;
};

constexpr auto k_rows = std::to_array<Row>({
    {"APPTAINER_CONTAINER"},
    {"ASAN_OPTIONS", k_only_daemon},
    {"CC", k_set},
    {"CI"},
    {"CMAKE_PREFIX_PATH", k_set | k_list},
    {"CONDARC"},
    {"CONDA_ENVS_DIRS"},
    {"CONDA_ENVS_PATH"},
    {"CONDA_EXE"},
    {"CONDA_PKGS_DIRS"},
    {"CONDA_PREFIX", k_watched | k_empty_is_unset},
    {"CONDA_ROOT"},
    {"CONDA_SHLVL"},
    {"CPATH"},
    {"CPLUS_INCLUDE_PATH", k_set | k_list},
    {"CUDAARCHS", k_set},
    {"CUDACXX", k_set},
    {"CUDAENV_CACHE_DIR"},
    {"CUDAENV_CONFIG_DIR", k_kept_by_daemon},
    {"CUDAENV_CUDA", k_watched | k_empty_is_unset},
    {"CUDAENV_DISABLE", k_watched | k_empty_is_unset},
    {"CUDAENV_HOST"},
    {"CUDAENV_IDLE_SECONDS", k_only_daemon},
    {"CUDAENV_LOG", k_kept_by_daemon},
    {"CUDAENV_NO_DAEMON"},
    {"CUDAENV_OFFLINE"},
    {"CUDAENV_QUIET"},
    {"CUDAENV_STATE_DIR", k_kept_by_daemon},
    {"CUDAHOSTCXX", k_set},
    {"CUDA_DEVICE_ORDER"},
    {"CUDA_DISABLE_PTX_JIT"},
    {"CUDA_FORCE_PTX_JIT"},
    {"CUDA_HOME", k_set | k_watched},
    {"CUDA_MPS_PIPE_DIRECTORY"},
    {"CUDA_PATH", k_set | k_watched},
    {"CUDA_VISIBLE_DEVICES"},
    {"CUDNN_HOME", k_set},
    {"CUDNN_INCLUDE_DIR", k_set},
    {"CUDNN_LIBRARY", k_set},
    {"CUDNN_LIB_DIR", k_set},
    {"CUDNN_PATH", k_set},
    {"CXX", k_set},
    {"DIRENV_DIFF"},
    {"HOME", k_kept_by_daemon},
    {"LD_LIBRARY_PATH", k_set | k_list | k_watched},
    {"LIBRARY_PATH", k_set | k_list},
    {"LOADEDMODULES", k_watched | k_empty_is_unset},
    {"LSAN_OPTIONS", k_only_daemon},
    {"LSB_JOBID"},
    {"MAMBARC"},
    {"MAMBA_EXE"},
    {"MAMBA_ROOT_PREFIX"},
    {"MAX_JOBS", k_set},
    {"MODULEPATH"},
    {"NCCL_P2P_DISABLE"},
    {"NCCL_SOCKET_IFNAME"},
    {"NVCC_APPEND_FLAGS"},
    {"NVCC_CCBIN", k_set},
    {"NVCC_PREPEND_FLAGS"},
    {"NVHPC_ROOT"},
    {"NVIDIA_DRIVER_CAPABILITIES"},
    {"NVIDIA_VISIBLE_DEVICES"},
    {"PATH", k_set | k_list | k_watched},
    {"PBS_JOBID"},
    {"PIXI_ENVIRONMENT_NAME"},
    {"PIXI_HOME"},
    {"PIXI_PROJECT_ROOT"},
    {"PYTHONNOUSERSITE"},
    {"PYTHONPATH"},
    {"PYTHONUSERBASE"},
    {"RATTLER_CACHE_DIR"},
    {"SINGULARITY_CONTAINER"},
    {"SLURM_JOB_ID"},
    {"TMPDIR"},
    {"TORCH_CUDA_ARCH_LIST", k_set},
    {"TSAN_OPTIONS", k_only_daemon},
    {"UBSAN_OPTIONS", k_only_daemon},
    {"VIRTUAL_ENV", k_watched | k_empty_is_unset},
    {"XDG_CACHE_HOME"},
    {"XDG_CONFIG_HOME", k_kept_by_daemon},
    {"XDG_DATA_HOME"},
    {"XDG_RUNTIME_DIR", k_kept_by_daemon},
    {"XDG_STATE_HOME", k_kept_by_daemon},
    {"XLA_FLAGS", k_set},
    {"_OLD_VIRTUAL_PATH"},
    {"__CUDAENV_UNDO"},
    {"__cudaenv_found_home"},
    {"__cudaenv_found_journal"},
    {"__cudaenv_found_path"},
    {"container"},
});
static_assert(std::ranges::is_sorted(k_rows, {}, &Row::name));

// Names of the rows that have one of these roles; with 0, of those that requests carry.
template <unsigned roles>
constexpr auto names_with() {
    constexpr auto has_role = [](const Row& row) {
        return roles == 0 ? (row.roles & k_only_daemon) == 0 : (row.roles & roles) != 0;
    };
    std::array<std::string_view, std::ranges::count_if(k_rows, has_role)> names{};
    std::size_t count = 0;
    for (const Row& row : k_rows) {
        if (has_role(row)) {
            names[count++] = row.name;
        }
    }
    return names;
}
constexpr auto k_read = names_with<0>();
constexpr auto k_managed = names_with<k_set>();
constexpr auto k_lists = names_with<k_list>();
constexpr auto k_watched_names = names_with<k_watched>();
constexpr auto k_kept = names_with<k_kept_by_daemon | k_only_daemon>();

unsigned roles_of(std::string_view name) {
    const auto* const row = std::ranges::lower_bound(k_rows, name, {}, &Row::name);
    return row != k_rows.end() && row->name == name ? row->roles : 0;
}

constexpr std::array<CounterStyle, 2> k_counters{{
    {"__LMOD_REF_COUNT_", ';', 1}, // "/a/bin:1;/b/bin:2", in the list's order
    {"__MODULES_SHARE_", ':', 2},  // "/b/bin:2:/c/bin:3"
}};

constexpr std::string_view k_conda_snapshot = "__CONDA_SHLVL_";

} // namespace

std::span<const std::string_view> read_variables() {
    return k_read;
}

bool is_read_variable(std::string_view name) {
    return std::ranges::binary_search(k_read, name);
}

std::span<const std::string_view> managed_variables() {
    return k_managed;
}

bool is_managed(std::string_view name) {
    return (roles_of(name) & k_set) != 0;
}

std::span<const std::string_view> managed_lists() {
    return k_lists;
}

bool is_managed_list(std::string_view name) {
    return (roles_of(name) & k_list) != 0;
}

std::span<const std::string_view> watched_variables() {
    return k_watched_names;
}

bool empty_means_unset(std::string_view name) {
    return (roles_of(name) & k_empty_is_unset) != 0;
}

std::span<const std::string_view> variables_kept_by_daemon() {
    return k_kept;
}

std::span<const CounterStyle> counter_styles() {
    return k_counters;
}

const CounterStyle* counter_style(std::string_view name) {
    return find_pointer_if(
        k_counters, [&](const CounterStyle& style) { return name.starts_with(style.prefix); });
}

std::optional<std::string_view> snapshot_of(std::string_view name) {
    if (name == "_OLD_VIRTUAL_PATH") {
        return "PATH";
    }
    if (const CounterStyle* const style = counter_style(name)) {
        return name.substr(style->prefix.size());
    }
    if (!name.starts_with(k_conda_snapshot)) {
        return std::nullopt;
    }
    name.remove_prefix(k_conda_snapshot.size());
    const std::size_t digits = std::min(name.size(), name.find_first_not_of("0123456789"));
    if (digits == 0 || name.size() < digits + 2 || name[digits] != '_') {
        return std::nullopt;
    }
    return name.substr(digits + 1);
}

} // namespace cudaenv
