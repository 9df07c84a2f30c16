#include "kernels/runtime_api.hpp"

#include "kernels/rungs/load_first.hpp"

#include <utility>

namespace cudaenv::kernels {

MaybeStop load_runtime_api(const std::vector<std::string>& files, RuntimeApi& api) {
    auto library = load_first(files);
    if (library.handle == nullptr) {
        api.path = std::move(library.path);
        return library.refusal;
    }
    api.handle = library.handle;
    api.path = std::move(library.path);
    find_function(api.handle, "cudaDriverGetVersion", api.driver_get_version);
    find_function(api.handle, "cudaGetLastError", api.get_last_error);
    find_function(api.handle, "cudaGetErrorName", api.get_error_name);
    return NeededFunctions(api.handle, api.path)
        .find("cudaRuntimeGetVersion", api.runtime_get_version)
        .find("cudaGetDeviceCount", api.get_device_count)
        .find("cudaSetDevice", api.set_device)
        .find("cudaMalloc", api.allocate)
        .find("cudaFree", api.free)
        .find("cudaMemcpy", api.copy)
        .find("cudaDeviceSynchronize", api.synchronize)
        .missing();
}

} // namespace cudaenv::kernels
