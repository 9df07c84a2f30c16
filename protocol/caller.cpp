#include "protocol/caller.hpp"

#include "protocol/json_field.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace cudaenv::protocol {

namespace {

constexpr std::array k_variables = std::to_array<std::string_view>({
    "APPTAINER_CONTAINER",
    "CC",
    "CI",
    "CMAKE_PREFIX_PATH",
    "CONDARC",
    "CONDA_ENVS_DIRS",
    "CONDA_ENVS_PATH",
    "CONDA_EXE",
    "CONDA_PKGS_DIRS",
    "CONDA_PREFIX",
    "CONDA_ROOT",
    "CONDA_SHLVL",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "CUDAARCHS",
    "CUDACXX",
    "CUDAENV_CACHE_DIR",
    "CUDAENV_CONFIG_DIR",
    "CUDAENV_CUDA",
    "CUDAENV_DISABLE",
    "CUDAENV_HOST",
    "CUDAENV_LOG",
    "CUDAENV_NO_DAEMON",
    "CUDAENV_OFFLINE",
    "CUDAENV_QUIET",
    "CUDAENV_STATE_DIR",
    "CUDAHOSTCXX",
    "CUDA_DEVICE_ORDER",
    "CUDA_DISABLE_PTX_JIT",
    "CUDA_FORCE_PTX_JIT",
    "CUDA_HOME",
    "CUDA_MPS_PIPE_DIRECTORY",
    "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES",
    "CUDNN_HOME",
    "CUDNN_INCLUDE_DIR",
    "CUDNN_LIBRARY",
    "CUDNN_LIB_DIR",
    "CUDNN_PATH",
    "CXX",
    "DIRENV_DIFF",
    "HOME",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "LOADEDMODULES",
    "LSB_JOBID",
    "MAMBARC",
    "MAMBA_EXE",
    "MAMBA_ROOT_PREFIX",
    "MAX_JOBS",
    "MODULEPATH",
    "NCCL_P2P_DISABLE",
    "NCCL_SOCKET_IFNAME",
    "NVCC_APPEND_FLAGS",
    "NVCC_CCBIN",
    "NVCC_PREPEND_FLAGS",
    "NVHPC_ROOT",
    "NVIDIA_DRIVER_CAPABILITIES",
    "NVIDIA_VISIBLE_DEVICES",
    "PATH",
    "PBS_JOBID",
    "PIXI_ENVIRONMENT_NAME",
    "PIXI_HOME",
    "PIXI_PROJECT_ROOT",
    "RATTLER_CACHE_DIR",
    "SINGULARITY_CONTAINER",
    "SLURM_JOB_ID",
    "TMPDIR",
    "TORCH_CUDA_ARCH_LIST",
    "VIRTUAL_ENV",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "XLA_FLAGS",
    "_OLD_VIRTUAL_PATH",
    "__CUDAENV_UNDO",
    "__cudaenv_found_home",
    "__cudaenv_found_journal",
    "__cudaenv_found_path",
    "container",
});
static_assert(std::ranges::is_sorted(k_variables));

// NVCC_ and CUFFT_ are not among them: the one is nvcc's (the list has what it reads), the other of
// no library that is tried. NVIDIA_ is the container's runtime's, but for one of cuBLAS and cuDNN.
constexpr std::array k_prefixes_of_cuda =
    std::to_array<std::string_view>({"CUBLASLT_", "CUBLAS_", "CUDA_", "CUDNN_", "NCCL_"});
constexpr std::array k_of_the_loader = std::to_array<std::string_view>(
    {"GLIBC_TUNABLES", "LD_AUDIT", "LD_BIND_NOW", "LD_PRELOAD", "NVIDIA_TF32_OVERRIDE"});
// How those begin that say what is written and kept beside the answers, and names of places that no
// library reads.
constexpr std::array k_words_and_places = std::to_array<std::string_view>({
    "CUBLASLT_LOG",
    "CUBLAS_LOG",
    "CUDA_CACHE_",
    "CUDA_COREDUMP_",
    "CUDA_ENABLE_COREDUMP",
    "CUDA_ENABLE_USER_TRIGGERED_COREDUMP",
    "CUDA_HOME",
    "CUDA_LOG_FILE",
    "CUDA_PATH",
    "CUDA_ROOT",
    "CUDA_VERSION",
    "CUDNN_FRONTEND_LOG",
    "CUDNN_HOME",
    "CUDNN_INCLUDE_DIR",
    "CUDNN_LIBRARY",
    "CUDNN_LIB_DIR",
    "CUDNN_LOG",
    "CUDNN_PATH",
    "NCCL_DEBUG",
});
// Words of a name; NCCL_IB_PKEY is a partition of InfiniBand.
constexpr std::array k_secrets = std::to_array<std::string_view>(
    {"APIKEY", "AUTH", "CREDENTIAL", "CREDENTIALS", "KEY", "KEYS", "PASS", "PASSWD", "PASSWORD",
     "SECRET", "SECRETS", "TOKEN", "TOKENS"});

bool may_be_secret(std::string_view name) {
    while (!name.empty()) {
        const std::size_t end = std::min(name.find('_'), name.size());
        if (std::ranges::find(k_secrets, name.substr(0, end)) != k_secrets.end()) {
            return true;
        }
        name.remove_prefix(std::min(end + 1, name.size()));
    }
    return false;
}

// conda keeps the value that an environment replaces in __CONDA_SHLVL_1_NAME.
constexpr std::string_view k_conda_snapshot = "__CONDA_SHLVL_";
// Lmod and Environment Modules count the entries of the list NAME in these.
constexpr std::array k_counters =
    std::to_array<std::string_view>({"__LMOD_REF_COUNT_", "__MODULES_SHARE_"});

bool is_listed(std::string_view name) {
    return std::ranges::binary_search(k_variables, name);
}

} // namespace

std::optional<std::string> Caller::variable(std::string_view name) const {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
}

std::span<const std::string_view> caller_variables() {
    return k_variables;
}

bool is_caller_variable(std::string_view name) {
    for (const std::string_view counter : k_counters) {
        if (name.starts_with(counter)) {
            return is_listed(name.substr(counter.size()));
        }
    }
    if (!name.starts_with(k_conda_snapshot)) {
        return is_listed(name);
    }
    name.remove_prefix(k_conda_snapshot.size());
    const std::size_t digits = std::min(name.size(), name.find_first_not_of("0123456789"));
    return digits > 0 && digits < name.size() && name[digits] == '_' &&
           is_listed(name.substr(digits + 1));
}

bool is_read_by_cuda(std::string_view name) {
    const auto begins_it = [&](std::string_view prefix) { return name.starts_with(prefix); };
    if (!std::ranges::any_of(k_prefixes_of_cuda, begins_it)) {
        return std::ranges::find(k_of_the_loader, name) != k_of_the_loader.end();
    }
    return std::ranges::none_of(k_words_and_places, begins_it) && !may_be_secret(name);
}

bool travels(std::string_view name, std::string_view value) {
    return is_caller_variable(name) || (value.size() <= k_longest_of_cuda && is_read_by_cuda(name));
}

nlohmann::json caller_to_json(const Caller& caller) {
    nlohmann::json environment = nlohmann::json::object();
    for (const auto& [name, value] : caller.environment) {
        environment[name] = bytes_to_json(value);
    }
    return {{"cwd", bytes_to_json(caller.cwd)},
            {"environment", std::move(environment)},
            {"is_terminal", caller.is_terminal},
            {"columns", caller.columns},
            {"utf8", caller.utf8},
            {"uid", caller.uid}};
}

Result<Caller> caller_from_json(const nlohmann::json& object) {
    if (!object.is_object()) {
        return bad_input("bad-field", "\"caller\" is not an object");
    }
    Caller caller;
    caller.cwd = "/";
    if (const auto cwd = object.find("cwd"); cwd != object.end() && !cwd->is_null()) {
        CUDAENV_TRY(caller.cwd, bytes_from_json(*cwd, "cwd"));
    }
    if (caller.cwd.empty() || caller.cwd.front() != '/') {
        return bad_input("bad-field", "\"cwd\" of the caller is not an absolute path");
    }
    CUDAENV_TRY(caller.is_terminal, bool_field(object, "is_terminal", false));
    CUDAENV_TRY(caller.utf8, bool_field(object, "utf8", false));
    CUDAENV_TRY(const long long columns, integer_field(object, "columns", 1, 10'000, 80));
    caller.columns = static_cast<int>(columns);
    CUDAENV_TRY(const long long uid,
                integer_field(object, "uid", 0, std::numeric_limits<unsigned>::max(), 0));
    caller.uid = static_cast<unsigned>(uid);
    if (const auto environment = object.find("environment"); environment != object.end()) {
        if (!environment->is_object()) {
            return bad_input("bad-field", "\"environment\" of the caller is not an object");
        }
        for (const auto& [name, value] : environment->items()) {
            CUDAENV_TRY(auto bytes, bytes_from_json(value, name));
            if (travels(name, bytes)) {
                caller.environment.emplace(name, std::move(bytes));
            }
        }
    }
    return caller;
}

} // namespace cudaenv::protocol
