#include "base/driver_file.hpp"
#include "kernels/cuda_version.hpp"
#include "kernels/reporter.hpp"
#include "kernels/rungs/first_rungs.hpp"
#include "kernels/rungs/gpu_work.hpp"

namespace cudaenv::kernels {

namespace {

// More than any machine has.
constexpr int k_most_devices = 256;

} // namespace

bool climb_library(DriverApi& api) {
    Rung rung(ProbeStep::Library, std::nullopt);
    const auto stop = load_driver_api(api);
    if (!api.path.empty()) {
        rung.set_file(api.path);
    }
    if (!api.found_by.empty()) {
        rung.set("found_by", api.found_by);
    }
    if (!stop && !api.links_to_nothing.empty()) {
        rung.set_reason(facts::RungReason::BrokenLink);
        rung.set("message", api.links_to_nothing.front() + " leads to nothing: passed over");
    }
    if (const auto version = driver_of_file(api.path)) {
        rung.set("version", version->str());
    }
    end_rung(rung, stop);
    return !stop;
}

std::optional<DriverAnswer> climb_driver(const DriverApi& api) {
    Rung rung(ProbeStep::Driver, std::nullopt);
    const int initialised = api.init(0);
    DriverAnswer answer;
    // Drivers report their version without cuInit too, which matters most where cuInit fails.
    int number = 0;
    if (api.driver_get_version != nullptr && api.driver_get_version(&number) == 0) {
        answer.cuda = cuda_of_number(number);
    }
    if (answer.cuda) {
        rung.set("cuda", answer.cuda->str());
    }
    if (initialised != 0) {
        rung.failed("cuInit", initialised, driver_error_name(api, initialised));
        return std::nullopt;
    }
    if (api.device_get_count == nullptr || api.device_get == nullptr) {
        end_rung(rung, lacks_function("cuDeviceGetCount", api.path));
        return std::nullopt;
    }
    int count = -1; // a count that was never written is not a count
    if (const int error = api.device_get_count(&count)) {
        rung.failed("cuDeviceGetCount", error, driver_error_name(api, error));
        return std::nullopt;
    }
    if (count < 0 || count > k_most_devices) {
        rung.wrong("the driver counts " + std::to_string(count) + " devices");
        return std::nullopt;
    }
    answer.devices = count;
    rung.set("devices", count);
    rung.ok();
    return answer;
}

} // namespace cudaenv::kernels
