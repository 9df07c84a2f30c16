#include "protocol/caller.hpp"

#include "protocol/json_field.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace cudaenv::protocol {

namespace {

constexpr std::array k_variables = std::to_array<std::string_view>({
    "CC",
    "CONDA_EXE",
    "CONDA_PREFIX",
    "CUDAENV_CACHE_DIR",
    "CUDAENV_CONFIG_DIR",
    "CUDAENV_CUDA",
    "CUDAENV_HOST",
    "CUDAHOSTCXX",
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES",
    "CXX",
    "HOME",
    "LD_LIBRARY_PATH",
    "MAMBA_EXE",
    "MAMBA_ROOT_PREFIX",
    "MODULEPATH",
    "NVCC_CCBIN",
    "PATH",
    "VIRTUAL_ENV",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
});
static_assert(std::ranges::is_sorted(k_variables));

} // namespace

std::optional<std::string> Caller::variable(std::string_view name) const {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
}

std::span<const std::string_view> caller_variables() {
    return k_variables;
}

nlohmann::json caller_to_json(const Caller& caller) {
    return {{"cwd", caller.cwd},
            {"environment", nlohmann::json(caller.environment)},
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
    CUDAENV_TRY(auto cwd, string_field(object, "cwd"));
    caller.cwd = cwd.value_or("/");
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
            if (!value.is_string()) {
                return bad_input("bad-field", "the caller's variable " + name + " is not a string");
            }
            if (std::ranges::binary_search(k_variables, name)) {
                caller.environment.emplace(name, value.get<std::string>());
            }
        }
    }
    return caller;
}

} // namespace cudaenv::protocol
