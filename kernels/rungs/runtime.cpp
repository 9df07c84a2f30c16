#include "kernels/cuda_version.hpp"
#include "kernels/rungs/first_rungs.hpp"
#include "kernels/rungs/gpu_work.hpp"
#include "kernels/runtime_api.hpp"

namespace cudaenv::kernels {

RuntimeFound climb_runtime(const std::vector<std::string>& files, const DriverApi& driver,
                           RuntimeApi& api) {
    Rung rung(ProbeStep::Runtime, std::nullopt);
    if (const auto stop = load_runtime_api(files, api)) {
        if (!api.path.empty()) {
            rung.set_file(api.path);
        }
        end_rung(rung, stop);
        return RuntimeFound::Fails;
    }
    if (api.handle == nullptr) {
        rung.skipped("there is no libcudart; the next rungs allocate through the driver API");
        return RuntimeFound::Absent;
    }
    rung.set_file(api.path);
    const auto failed = [&](const char* call, int error) {
        rung.failed(call, error, words_of(api.get_error_name, error));
        return RuntimeFound::Fails;
    };
    if (const int error = api.runtime_get_version(&api.version)) {
        return failed("cudaRuntimeGetVersion", error);
    }
    if (const auto version = cuda_of_number(api.version)) {
        rung.set("version", version->str());
    }
    // Which driver it sees, which need not be the one that was opened: a stub, or one of
    // cuda-compat.
    int driver_version = 0;
    if (api.driver_get_version != nullptr && api.driver_get_version(&driver_version) == 0) {
        if (const auto cuda = cuda_of_number(driver_version)) {
            rung.set("cuda", cuda->str());
        }
    }
    int devices = -1;
    if (const int error = api.get_device_count(&devices)) {
        return failed("cudaGetDeviceCount", error);
    }
    if (devices >= 0) {
        rung.set("devices", devices);
    }
    if (driver.found_by != "loader") {
        rung.set("message", "it used the driver's library that the probe had opened; "
                            "the loader alone does not find libcuda.so.1");
    }
    rung.ok();
    return RuntimeFound::Answers;
}

} // namespace cudaenv::kernels
