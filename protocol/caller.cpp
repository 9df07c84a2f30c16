#include "protocol/caller.hpp"

#include "base/variables.hpp"
#include "protocol/json_field.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace cudaenv::protocol {

namespace {

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

} // namespace

std::optional<std::string> Caller::variable(std::string_view name) const {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
}

bool is_caller_variable(std::string_view name) {
    const auto copied = snapshot_of(name);
    return is_read_variable(name) || (copied && is_read_variable(*copied));
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
