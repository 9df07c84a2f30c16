#include "host/probe/machine_stamp.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "host/probe/file_stamps.hpp"

#include <string_view>

namespace cudaenv::probe {

namespace {

// Directories below `root` and theirs, `depth` levels: GPUs, MIG instances and their parts.
void add_names(host::FileSystem& files, const std::string& root, int depth, std::string& text) {
    for (const std::string& name : files.names_in(root)) {
        text += '\n' + root + '/' + name;
        if (depth > 1) {
            add_names(files, root + '/' + name, depth - 1, text);
        }
    }
}

} // namespace

std::string machine_stamp(host::FileSystem& files, const std::optional<DriverFiles>& looked_at) {
    std::string text = files.read_file("/proc/sys/kernel/random/boot_id").value_or("");
    const DriverFiles driver = looked_at ? *looked_at : look_at_driver(files);
    text += driver.module_text;
    if (!driver.library.empty()) {
        text += driver.library + ' ' + FileStamps(files).of(driver.library, VerdictDepth::Quick);
    }
    add_names(files, "/proc/driver/nvidia/gpus", 1, text);
    // gpu0/mig/gi1/ci0/access
    add_names(files, "/proc/driver/nvidia/capabilities", 4, text);
    return text;
}

std::string devices_stamp(host::FileSystem& files) {
    std::string text;
    for (const std::string& name : files.names_in("/dev")) {
        constexpr std::string_view k_begin = "nvidia";
        if (name.starts_with(k_begin) && name.size() > k_begin.size() &&
            is_digit(name[k_begin.size()])) {
            text += '\n' + name;
        }
    }
    return text;
}

std::string name_of_machine(host::FileSystem& files) {
    return std::string(trim(files.read_file("/proc/sys/kernel/hostname").value_or("")));
}

} // namespace cudaenv::probe
