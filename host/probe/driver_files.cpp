#include "host/probe/driver_files.hpp"

#include "base/driver_file.hpp"
#include "host/driver.hpp"
#include "host/environments/cuda_libraries.hpp"

#include <algorithm>

namespace cudaenv::probe {

namespace {

constexpr std::chrono::seconds k_deadline{3};

bool showed_none(const facts::ProbeReport& report) {
    bool answered = false;
    for (const facts::ProbeRung& rung : report.rungs) {
        if (rung.step == facts::ProbeStep::Gpu && rung.gpu) {
            return false;
        }
        answered =
            answered ||
            (rung.step == facts::ProbeStep::Driver &&
             (rung.result == facts::ProbeResult::Ok || rung.error == 100 || rung.error == 101));
    }
    return answered && report.ending == facts::ProbeReport::Ending::Finished;
}

// A UUID that the driver has not read yet is written with question marks in /proc.
bool is_known(const std::string& uuid) {
    return !uuid.empty() && uuid.find('?') == std::string::npos;
}

} // namespace

std::vector<std::string> driver_directories() {
    return {"/usr/lib/" + environments::machine_name() + "-linux-gnu", "/usr/lib64", "/usr/lib",
            "/usr/local/nvidia/lib64", "/run/opengl-driver/lib"};
}

DriverFiles look_at_driver(host::FileSystem& files) {
    DriverFiles found;
    const auto text = files.read_file("/proc/driver/nvidia/version");
    if (!text) {
        return found;
    }
    found.module_text = *text;
    found.module = host::parse_proc_version(*text).version;
    // An image may carry the libcuda that it was made with beside the one that the container
    // toolkit puts in: the module's own is the one that counts, else the first.
    for (const std::string& directory : driver_directories()) {
        const auto real = files.real_path(directory + "/libcuda.so.1");
        if (!real) {
            continue;
        }
        const auto version = driver_of_file(*real);
        const bool fits = version && found.module && *version == *found.module;
        if (found.library.empty() || fits) {
            found.library = *real;
            found.library_version = version;
        }
        if (fits) {
            break;
        }
    }
    return found;
}

std::string tell_change(const DriverFiles& driver) {
    if (!driver.differ()) {
        return {};
    }
    const bool is_newer = *driver.library_version > *driver.module;
    return std::string("the driver was ") + (is_newer ? "upgraded" : "downgraded") +
           " under the running system: its library is " + driver.library_version->str() +
           ", the loaded kernel module " + driver.module->str() + "; CUDA fails until a reboot";
}

void learn_mig_mode(host::ProcessRunner& processes, const std::string& program,
                    const std::vector<std::string>& environment, const facts::ProbeReport& report,
                    std::vector<facts::Gpu>& gpus) {
    if (!showed_none(report)) {
        return;
    }
    const auto nvml = host::parse_probe_facts(
        processes.run({{program, "--facts"}, environment}, k_deadline).output);
    if (!nvml) {
        return; // the judge says what it knows without
    }
    for (const facts::Gpu& gpu : nvml->gpus) {
        const auto same = std::ranges::find_if(gpus, [&](const facts::Gpu& known) {
            return is_known(known.uuid) && is_known(gpu.uuid) ? known.uuid == gpu.uuid
                                                              : known.index == gpu.index;
        });
        if (same == gpus.end()) {
            gpus.push_back(gpu);
        } else {
            same->mig = gpu.mig;
        }
    }
}

} // namespace cudaenv::probe
