#include "host/probe/closed_files.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "host/file_system.hpp"
#include "host/probe/driver_files.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cudaenv::host {

namespace {

// The name of a number in /etc/passwd or /etc/group, "name:x:number:"; the number where it has
// none. Not by getpwuid, which may ask a network.
std::string name_of(unsigned number, const char* file) {
    DiskFileSystem files;
    const std::string wanted = std::to_string(number);
    const std::string text = files.read_file(file, k_read_limit).value_or("");
    for (const std::string_view line : split(text, '\n')) {
        const auto fields = split(line, ':');
        if (fields.size() > 2 && fields[2] == wanted) {
            return std::string(fields[0]);
        }
    }
    return wanted;
}

std::optional<facts::ClosedFile> closed_at(const std::string& path, int access) {
    if (::faccessat(AT_FDCWD, path.c_str(), access, AT_EACCESS) == 0 || errno != EACCES) {
        return std::nullopt;
    }
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || S_ISDIR(status.st_mode)) {
        return std::nullopt;
    }
    return facts::ClosedFile{path, name_of(status.st_uid, "/etc/passwd"),
                             name_of(status.st_gid, "/etc/group"), status.st_mode & 07777U,
                             status.st_uid == ::geteuid()};
}

bool is_gpu(std::string_view name) {
    constexpr std::string_view k_begin = "nvidia";
    return name.size() > k_begin.size() && name.starts_with(k_begin) &&
           std::ranges::all_of(name.substr(k_begin.size()), is_digit);
}

} // namespace

std::vector<facts::ClosedFile> closed_libraries(std::span<const std::string> paths) {
    std::vector<facts::ClosedFile> closed;
    for (const std::string& path : paths) {
        if (!path.starts_with('/')) {
            continue;
        }
        if (auto file = closed_at(path, R_OK)) {
            closed.push_back(std::move(*file));
        }
    }
    return closed;
}

std::vector<std::string> places_of_libcuda(std::span<const std::string> library_path) {
    std::vector<std::string> places;
    const auto add = [&](const std::string& directory) {
        places.push_back(directory + "/libcuda.so.1");
    };
    std::ranges::for_each(library_path, add);
    std::ranges::for_each(driver_directories(), add);
    return places;
}

std::vector<facts::ClosedFile> closed_devices(const std::string& directory) {
    DiskFileSystem files;
    const auto names = files.list_directory(directory);
    std::vector<facts::ClosedFile> closed;
    std::vector<facts::ClosedFile> closed_gpus;
    bool has_open_gpu = false;
    for (const std::string& name : names ? *names : std::vector<std::string>()) {
        const bool gpu = is_gpu(name);
        if (!gpu && name != "nvidiactl" && name != "nvidia-uvm" && name != "dxg") {
            continue;
        }
        auto file = closed_at(directory + '/' + name, R_OK | W_OK);
        has_open_gpu = has_open_gpu || (gpu && !file);
        if (file) {
            (gpu ? closed_gpus : closed).push_back(std::move(*file));
        }
    }
    if (!has_open_gpu) { // else they were shared out among users
        closed.insert(closed.end(), closed_gpus.begin(), closed_gpus.end());
    }
    return closed;
}

} // namespace cudaenv::host
