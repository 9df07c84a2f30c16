#include "host/probe/closed_files.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "host/probe/driver_files.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace cudaenv::probe {

namespace {

facts::ClosedFile closed_file(const std::string& path, const struct stat& status) {
    host::DiskFileSystem files;
    facts::ClosedFile closed;
    closed.path = path;
    closed.owner = user_name(files, std::to_string(status.st_uid));
    closed.group = group_name(files, std::to_string(status.st_gid));
    closed.mode = status.st_mode & 07777U;
    closed.own = status.st_uid == ::geteuid();
    closed.is_directory = S_ISDIR(status.st_mode);
    return closed;
}

bool is_refused(const std::string& path, int access) {
    return ::faccessat(AT_FDCWD, path.c_str(), access, AT_EACCESS) != 0 && errno == EACCES;
}

std::optional<facts::ClosedFile> closed_at(const std::string& path, int access) {
    struct stat status {};
    if (!is_refused(path, access) || ::stat(path.c_str(), &status) != 0 ||
        S_ISDIR(status.st_mode)) {
        return std::nullopt;
    }
    return closed_file(path, status);
}

// `directory` or the first above it in which nothing may be looked for.
std::optional<facts::ClosedFile> closed_directory(const std::string& directory) {
    for (std::size_t end = directory.find('/', 1);; end = directory.find('/', end + 1)) {
        const std::string path = directory.substr(0, end);
        struct stat status {};
        if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
            return std::nullopt;
        }
        if (is_refused(path, X_OK)) {
            return closed_file(path, status);
        }
        if (end == std::string::npos) {
            return std::nullopt;
        }
    }
}

// libcudart.so.13, and torch's own libcudart-d0da41ae.so.11.0.
bool is_probed(std::string_view name) {
    return std::ranges::any_of(facts::k_library_rungs, [&](const facts::RungRow& rung) {
        const std::string_view file = rung.library.file;
        const std::string_view rest =
            name.starts_with(file) ? name.substr(file.size()) : std::string_view();
        return rest.starts_with(".so.") ||
               (rest.starts_with('-') && rest.find(".so.") != rest.npos);
    });
}

bool is_gpu(std::string_view name) {
    constexpr std::string_view k_begin = "nvidia";
    return name.size() > k_begin.size() && name.starts_with(k_begin) &&
           std::ranges::all_of(name.substr(k_begin.size()), is_digit);
}

// Lines are "name:x:number:".
std::string name_in(host::FileSystem& files, const char* file, std::string_view number) {
    const std::string text = files.read_file(file).value_or("");
    for (const std::string_view line : split(text, '\n')) {
        const auto fields = split(line, ':');
        if (fields.size() > 3 && fields[2] == number) {
            return std::string(fields[0]);
        }
    }
    return std::string(number);
}

} // namespace

std::vector<facts::ClosedFile> closed_libraries(const ProbeLibraries& libraries,
                                                std::span<const std::string> library_path) {
    std::vector<facts::ClosedFile> closed;
    const auto look_at = [&](const std::string& path) {
        if (auto file = closed_at(path, R_OK)) {
            file->was_passed_over =
                std::ranges::find(libraries.closed, path) != libraries.closed.end();
            closed.push_back(std::move(*file));
        }
    };
    std::set<std::string> known;
    const auto look_into = [&](const std::string& directory) {
        if (!known.insert(directory).second) {
            return;
        }
        if (auto found = closed_directory(directory)) {
            if (known.insert(found->path).second || found->path == directory) {
                closed.push_back(*std::move(found));
            }
            return;
        }
        for (const std::string& name : host::DiskFileSystem().names_in(directory)) {
            if (is_probed(name)) {
                look_at(directory + '/' + name);
            }
        }
    };
    for (const std::string& directory : library_path) {
        look_at(directory + "/libcuda.so.1");
        look_into(directory);
    }
    for (const std::string& directory : driver_directories()) {
        look_at(directory + "/libcuda.so.1");
    }
    for (const std::string& place : libraries.looked_at) {
        look_into(place);
    }
    return closed;
}

std::vector<facts::ClosedFile> closed_devices(const std::string& directory) {
    host::DiskFileSystem files;
    std::vector<facts::ClosedFile> closed;
    std::vector<facts::ClosedFile> closed_gpus;
    bool has_open_gpu = false;
    for (const std::string& name : files.names_in(directory)) {
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

std::string user_name(host::FileSystem& files, std::string_view number) {
    return name_in(files, "/etc/passwd", number);
}

std::string group_name(host::FileSystem& files, std::string_view number) {
    return name_in(files, "/etc/group", number);
}

} // namespace cudaenv::probe
