#include "host/probe/driver_files.hpp"

#include "base/driver_file.hpp"
#include "host/driver_text.hpp"
#include "host/environments/cuda_libraries.hpp"

namespace cudaenv::probe {

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

} // namespace cudaenv::probe
