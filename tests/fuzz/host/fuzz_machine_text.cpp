// Any bytes as what a machine's files and programs say of it: module files, version files, headers,
// nvcc's, nvidia-smi's, compilers' and the driver's texts, frameworks' own files, names of packages
// and compilers. Read or passed over; a directory is absolute and on one line.
#include "host/compilers.hpp"
#include "host/conda_installs.hpp"
#include "host/driver.hpp"
#include "host/environments/frameworks.hpp"
#include "host/environments/packages.hpp"
#include "host/gpus.hpp"
#include "host/modulefile.hpp"
#include "host/platform.hpp"
#include "host/silent_paths.hpp"
#include "host/toolkit_text.hpp"
#include "host/toolkits.hpp"
#include "tests/fuzz/require.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace cudaenv::environments;
using namespace cudaenv::host;

void check_compilers(std::string_view text) {
    if (const auto bounds = parse_host_config(text)) {
        require(!bounds->gcc_min || !bounds->gcc_max || *bounds->gcc_min <= *bounds->gcc_max);
        require(!bounds->clang_min || !bounds->clang_max ||
                *bounds->clang_min <= *bounds->clang_max);
    }
    static_cast<void>(parse_compiler_name(text));
    static_cast<void>(parse_gcc_version(text));
    static_cast<void>(parse_clang_version(text));
    const auto nvcc = parse_nvcc_wrapper(text);
    require(nvcc.empty() || (nvcc.front() == '/' && nvcc.ends_with("/nvcc") &&
                             nvcc.find('\n') == std::string::npos));
}

void check_names(std::string_view text) {
    if (const auto record = parse_conda_record(text)) {
        require(text == record->name + '-' + record->version + '-' + record->build + ".json");
    }
    if (const auto info = parse_dist_info(text)) {
        require(!info->name.empty() && !info->version.empty());
    }
    const auto version = parse_tool_version(text);
    require(version.find('\n') == std::string::npos);
}

void check_system(std::string_view text) {
    static_cast<void>(parse_os_release(text));
    static_cast<void>(parse_cgroup(text));
    static_cast<void>(parse_pci_uevent(text));
    for (const std::string& mount : remote_mounts(text)) {
        require(text.size() > mount.size());
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // The fuzzer's bytes are text here.
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const std::string_view path : {"/m/cuda/11.3", "/m/cuda/11.3.lua"}) {
        for (const std::string& directory : parse_modulefile(text, path)) {
            require(directory.front() == '/' && directory.find('\n') == std::string::npos);
        }
    }
    static_cast<void>(parse_version_json(text));
    static_cast<void>(parse_version_txt(text));
    static_cast<void>(parse_cuda_define(text, "CUDA_VERSION"));
    static_cast<void>(parse_nvcc_version(text));
    static_cast<void>(parse_cudnn_header(text));
    static_cast<void>(parse_nccl_header(text));
    static_cast<void>(parse_library_name(text, "libcudnn"));
    static_cast<void>(parse_proc_version(text));
    static_cast<void>(parse_module_version(text));
    static_cast<void>(parse_gpu_information(text));
    static_cast<void>(parse_nvidia_smi(text));
    static_cast<void>(parse_torch_version(text));
    static_cast<void>(parse_tensorflow_build(text));
    static_cast<void>(parse_editable_finder(text, "torch"));
    const auto root = parse_direct_url(text);
    require(root.empty() || root.front() == '/');
    check_compilers(text);
    check_names(text);
    check_system(text);
    return 0;
}
