#include "host/probe/driver_files.hpp"

#include "host/driver_text.hpp"
#include "host/environments/cuda_libraries.hpp"

namespace cudaenv::host {

std::vector<std::string> driver_directories() {
    return {"/usr/lib/" + machine_name() + "-linux-gnu", "/usr/lib64", "/usr/lib",
            "/usr/local/nvidia/lib64", "/run/opengl-driver/lib"};
}

namespace {

// Of libcuda.so.580.95.05; libcuda.so.1 itself says nothing.
std::optional<DottedVersion> version_in(std::string_view name) {
    constexpr std::string_view k_begin = "libcuda.so.";
    if (!name.starts_with(k_begin)) {
        return std::nullopt;
    }
    auto version = DottedVersion::parse(name.substr(k_begin.size()));
    return version && version->parts().size() > 1 ? std::optional(*version) : std::nullopt;
}

} // namespace

DriverFiles look_at_driver(FileSystem& files) {
    DriverFiles found;
    const auto text = files.read_file("/proc/driver/nvidia/version");
    if (!text) {
        return found;
    }
    found.module_text = *text;
    found.module = parse_proc_version(*text).version;
    // An image may carry the libcuda that it was made with beside the one that the container
    // toolkit puts in: the module's own is the one that counts, else the first.
    for (const std::string& directory : driver_directories()) {
        const auto real = files.real_path(directory + "/libcuda.so.1");
        if (!real) {
            continue;
        }
        const auto version = version_in(base_name(*real));
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

} // namespace cudaenv::host
