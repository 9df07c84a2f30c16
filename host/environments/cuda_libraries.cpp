#include "host/environments/cuda_libraries.hpp"

#include "base/ascii.hpp"
#include "host/toolkit_text.hpp"

#include <algorithm>
#include <array>
#include <sys/utsname.h>

namespace cudaenv::environments {

namespace {

// Between "lib" and ".so.N", sorted. What NVIDIA's toolkits and wheels name theirs; libcuda and
// libnvidia-* are the driver's, libOpenCL everybody's.
constexpr auto k_libraries = std::to_array<std::string_view>(
    {"cublas",     "cublasLt",       "cudart",       "cufft",        "cufftw",
     "cufile",     "cufile_rdma",    "cupti",        "curand",       "cusolver",
     "cusolverMg", "cusparse",       "cusparseLt",   "cutensor",     "nccl",
     "nvJitLink",  "nvToolsExt",     "nvblas",       "nvfatbin",     "nvjpeg",
     "nvrtc",      "nvrtc-builtins", "nvshmem_host", "nvtx3interop", "nvvm"});
static_assert(std::ranges::is_sorted(k_libraries));

// cudnn, cudnn_ops, cudnn_engines_precompiled; nppc, nppial.
bool is_of_family(std::string_view stem, std::string_view family) {
    return stem.starts_with(family) &&
           std::ranges::all_of(stem, [](char c) { return is_alnum(c) || c == '_'; });
}

struct NameParts {
    std::string_view stem;    // cublas
    std::string_view version; // 12, empty for the plain .so
};
NameParts parts_of(std::string_view file_name) {
    constexpr std::string_view k_so = ".so.";
    const auto at = file_name.find(k_so);
    if (!file_name.starts_with("lib") || at == std::string_view::npos) {
        return {};
    }
    return {file_name.substr(3, at - 3), file_name.substr(at + k_so.size())};
}

} // namespace

bool is_cuda_library(std::string_view file_name) {
    const auto [stem, version] = parts_of(file_name);
    if (version.empty() || !is_digit(version.front()) ||
        !std::ranges::all_of(version, [](char c) { return is_digit(c) || c == '.'; })) {
        return false;
    }
    return std::ranges::binary_search(k_libraries, stem) || is_of_family(stem, "cudnn") ||
           is_of_family(stem, "npp");
}

std::vector<std::string> cuda_sonames(const std::vector<std::string>& names) {
    struct Library {
        NameParts parts;
        std::string_view major;
        std::ptrdiff_t dots;
        const std::string* name;
    };
    std::vector<Library> libraries;
    for (const auto& name : names) {
        if (is_cuda_library(name)) {
            const auto parts = parts_of(name);
            libraries.push_back({parts, parts.version.substr(0, parts.version.find('.')),
                                 std::ranges::count(parts.version, '.'), &name});
        }
    }
    std::vector<std::string> sonames;
    for (const auto& library : libraries) {
        const bool led_to = std::ranges::any_of(libraries, [&](const Library& other) {
            return other.dots < library.dots && other.parts.stem == library.parts.stem &&
                   other.major == library.major;
        });
        if (!led_to) {
            sonames.push_back(*library.name);
        }
    }
    std::ranges::sort(sonames);
    return sonames;
}

std::optional<facts::CudnnPlace> cudnn_at(host::FileSystem& files, const std::string& root,
                                          const std::vector<std::string>& includes,
                                          const std::vector<std::string>& libraries) {
    const auto absolute = [&](const std::string& directory) {
        return directory.starts_with('/') ? directory : root + '/' + directory;
    };
    facts::CudnnPlace place;
    place.root = root;
    for (const auto& include : includes) {
        auto directory = absolute(include);
        if (!files.exists(directory + "/cudnn.h")) {
            continue;
        }
        // Version 7 and older have the numbers in cudnn.h itself.
        for (const auto* header : {"/cudnn_version.h", "/cudnn.h"}) {
            if (const auto text = files.read_file(directory + header)) {
                place.version = host::parse_cudnn_header(*text);
            }
            if (place.version) {
                break;
            }
        }
        place.include_dir = std::move(directory);
        break;
    }
    if (place.include_dir.empty()) {
        return std::nullopt;
    }
    for (const auto& library : libraries) {
        auto directory = absolute(library);
        std::string found;
        if (files.exists(directory + "/libcudnn.so")) {
            found = directory + "/libcudnn.so";
        } else if (place.version) {
            // Wheels have no libcudnn.so, and their major is the header's.
            auto named = directory + "/libcudnn.so." + std::to_string(place.version->major());
            found = files.exists(named) ? std::move(named) : std::string();
        } else {
            for (const auto& name : cuda_sonames(files.names_in(directory))) {
                if (name.starts_with("libcudnn.so.")) {
                    found = directory + '/' + name; // the highest is the last
                }
            }
        }
        if (!found.empty()) {
            place.library_dir = std::move(directory);
            place.library = std::move(found);
            break;
        }
    }
    return place;
}

std::string machine_name() {
    struct utsname name {};
    return ::uname(&name) == 0 ? name.machine : "x86_64";
}

std::vector<std::string> target_directories(const std::string& machine) {
    if (machine == "aarch64") {
        return {"targets/sbsa-linux", "targets/aarch64-linux"};
    }
    return {"targets/" + machine + "-linux"};
}

} // namespace cudaenv::environments
