#include "solver/facts/measured.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace cudaenv::facts {

namespace {

// The PCI list says "GeForce RTX 3090", the driver "NVIDIA GeForce RTX 3090".
std::string_view bare(std::string_view name) {
    constexpr std::string_view k_maker = "NVIDIA ";
    return name.starts_with(k_maker) ? name.substr(k_maker.size()) : name;
}

void put_driver(Host& host, const DottedVersion& cuda) {
    if (!host.driver) {
        host.driver = Driver{};
        host.driver_absent.clear();
    }
    Driver& driver = *host.driver;
    if (driver.cuda && *driver.cuda != cuda) {
        host.notes.push_back("the driver gives CUDA " + cuda.str() + ", " + k_measured_source +
                             "; before that it was " + driver.cuda->str() +
                             (driver.source.empty() ? "" : " (" + driver.source + ')'));
    }
    if (driver.version && !driver.source.empty() && !driver.measured) {
        host.sources["driver version"] = driver.source.substr(0, driver.source.find(", CUDA "));
    }
    driver.cuda = cuda;
    driver.derived = false;
    driver.measured = true;
    driver.source = k_measured_source;
}

const MeasuredGpu* same_gpu(const Gpu& gpu, const std::vector<MeasuredGpu>& seen) {
    const auto found = std::ranges::find_if(seen, [&](const MeasuredGpu& one) {
        if (!gpu.uuid.empty() && gpu.uuid == one.uuid) {
            return true;
        }
        // A MIG instance's name begins with its GPU's: "NVIDIA H200 MIG 1g.18gb".
        const std::string_view name = bare(one.name);
        const std::string_view own = bare(gpu.name);
        return !own.empty() && (name == own || name.starts_with(std::string(own) + " MIG "));
    });
    return found == seen.end() ? nullptr : &*found;
}

void put_gpus(Host& host, const std::vector<MeasuredGpu>& seen, UnknownGpus unknown) {
    if (seen.empty() || (host.gpus.empty() && unknown == UnknownGpus::Leave)) {
        return;
    }
    if (host.gpus.empty()) {
        host.gpus_absent.clear();
        for (const MeasuredGpu& one : seen) {
            Gpu gpu;
            gpu.index = static_cast<int>(host.gpus.size());
            gpu.name = one.name;
            gpu.uuid = one.uuid;
            gpu.compute_capability = one.compute_capability;
            gpu.mig = one.uuid.starts_with("MIG-");
            gpu.source = k_measured_source;
            host.gpus.push_back(std::move(gpu));
        }
        return;
    }
    // Which is which need not be known where all that were seen are alike and none is hidden.
    const bool alike =
        seen.size() == host.gpus.size() && std::ranges::all_of(seen, [&](const MeasuredGpu& one) {
            return one.compute_capability == seen.front().compute_capability;
        });
    for (Gpu& gpu : host.gpus) {
        const MeasuredGpu* one = same_gpu(gpu, seen);
        if (one == nullptr && alike) {
            one = &seen.front();
        }
        if (one == nullptr || !one->compute_capability) {
            continue;
        }
        if (gpu.compute_capability && *gpu.compute_capability != *one->compute_capability) {
            host.notes.push_back("GPU " + std::to_string(gpu.index) + " is " +
                                 one->compute_capability->sm() + ", " + k_measured_source +
                                 "; before that it was " + gpu.compute_capability->sm() +
                                 (gpu.source.empty() ? "" : " (" + gpu.source + ')'));
        }
        gpu.compute_capability = one->compute_capability;
        gpu.source = k_measured_source;
    }
}

} // namespace

Host with_measured(Host host, Measured measured, UnknownGpus unknown) {
    if (measured.driver_cuda) {
        put_driver(host, *measured.driver_cuda);
    }
    put_gpus(host, measured.gpus, unknown);
    host.measured = std::move(measured);
    return host;
}

} // namespace cudaenv::facts
