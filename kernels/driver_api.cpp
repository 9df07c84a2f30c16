#include "kernels/driver_api.hpp"

#include "kernels/library_files.hpp"
#include "kernels/rungs/library_numbers.hpp"

#include <array>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

namespace cudaenv::kernels {

namespace {

struct Place {
    const char* name;
    std::string_view found_by;
};
constexpr std::array<Place, 3> k_places = {{
    {"libcuda.so.1", "loader"},               // as every program of CUDA's asks for it
    {"/usr/lib/wsl/lib/libcuda.so.1", "wsl"}, // WSL 2, where the loader does not search it
    {"libcuda.so", "linker-name"},            // the name in a toolkit's stubs directory
}};

Stop link_to_nothing(const std::string& link) {
    std::error_code error;
    const auto target = std::filesystem::read_symlink(link, error);
    Stop stop = refused_by_loader(link + " leads to nothing: it is a link to " + target.string());
    stop.reason = facts::RungReason::BrokenLink;
    stop.broken = link;
    return stop;
}

// glibc's words on `place` itself; on a library that it needs they begin with that one's name.
bool is_absence(std::string_view words, const std::string& place) {
    return words.starts_with(place + ": cannot open shared object file: No such file or directory");
}

// The symbol by the name that cuda.h has given it since (cuMemAlloc is cuMemAlloc_v2), else by its
// first one.
template <typename Function>
void find_newest(void* library, const std::string& name, Function*& function) {
    find_function(library, (name + "_v2").c_str(), function);
    if (function == nullptr) {
        find_function(library, name.c_str(), function);
    }
}

void find_functions(void* library, DriverApi& api) {
    find_function(library, "cuInit", api.init);
    find_function(library, "cuDriverGetVersion", api.driver_get_version);
    find_function(library, "cuDeviceGetCount", api.device_get_count);
    find_function(library, "cuDeviceGet", api.device_get);
    find_function(library, "cuDeviceGetName", api.device_get_name);
    find_function(library, "cuDeviceGetUuid_v2", api.device_get_uuid);
    api.tells_instances = api.device_get_uuid != nullptr;
    if (!api.tells_instances) {
        find_function(library, "cuDeviceGetUuid", api.device_get_uuid);
    }
    find_function(library, "cuDeviceGetAttribute", api.device_get_attribute);
    find_newest(library, "cuDeviceTotalMem", api.device_total_mem);
    find_function(library, "cuDevicePrimaryCtxRetain", api.primary_context_retain);
    find_newest(library, "cuDevicePrimaryCtxRelease", api.primary_context_release);
    find_function(library, "cuCtxSetCurrent", api.context_set_current);
    find_function(library, "cuCtxSynchronize", api.context_synchronize);
    find_newest(library, "cuMemGetInfo", api.memory_get_info);
    find_newest(library, "cuMemAlloc", api.memory_allocate);
    find_newest(library, "cuMemFree", api.memory_free);
    find_newest(library, "cuMemcpyHtoD", api.copy_to_device);
    find_newest(library, "cuMemcpyDtoH", api.copy_from_device);
    find_function(library, "cuModuleLoadDataEx", api.module_load_data_ex);
    find_function(library, "cuModuleUnload", api.module_unload);
    find_function(library, "cuModuleGetFunction", api.module_get_function);
    find_function(library, "cuLaunchKernel", api.launch_kernel);
    find_function(library, "cuGetErrorName", api.get_error_name);
}

} // namespace

MaybeStop load_driver_api(DriverApi& api) {
    MaybeStop first;
    for (const auto& [place, found_by] : k_places) {
        auto found = find_as_the_loader(place);
        std::ranges::move(found.links_to_nothing, std::back_inserter(api.links_to_nothing));
        // Never closed: the runtime opens the same library, and drivers leave threads behind.
        MaybeStop refusal;
        void* library = open_whole(place, refusal);
        if (library != nullptr) {
            api.path = mapped_file(library);
            api.found_by = found_by;
            find_functions(library, api);
            return api.init == nullptr ? MaybeStop(lacks_function("cuInit", api.path))
                                       : std::nullopt;
        }
        if (!is_absence(refusal->message, place)) {
            // What exists and is broken, rather than what is absent.
            api.path =
                refusal->broken.empty() ? refused_file(refusal->message, place) : refusal->broken;
            return refusal;
        }
        if (!first) {
            first = std::move(refusal);
        }
    }
    if (!api.links_to_nothing.empty()) {
        api.path = api.links_to_nothing.front();
        return link_to_nothing(api.path);
    }
    return first;
}

std::string driver_error_name(const DriverApi& api, int error) {
    const char* name = nullptr;
    if (api.get_error_name == nullptr || api.get_error_name(error, &name) != 0 || name == nullptr) {
        return {};
    }
    return name;
}

Stop driver_failed(const DriverApi& api, std::string call, int error, std::string message) {
    return {.call = std::move(call),
            .error = error,
            .error_name = driver_error_name(api, error),
            .message = std::move(message)};
}

std::optional<DottedVersion> cuda_of_number(int number) {
    // CUDA 5.0 is the oldest that NVML can be asked about, and the last digit has always been 0.
    if (number < 5000 || number > 99'990 || number % 10 != 0 || number % 1000 / 10 > 30) {
        return std::nullopt;
    }
    return DottedVersion::of(std::to_string(number / 1000) + '.' +
                             std::to_string(number % 1000 / 10));
}

} // namespace cudaenv::kernels
