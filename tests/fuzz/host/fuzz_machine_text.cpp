// Any bytes as what a machine's files and programs say of it: module files, version files, headers,
// nvcc's, nvidia-smi's and the driver's texts, frameworks' own files. Read or passed over; a
// directory is absolute and on one line.
#include "host/driver_text.hpp"
#include "host/environments/frameworks.hpp"
#include "host/modulefile.hpp"
#include "host/toolkit_text.hpp"
#include "tests/fuzz/require.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cudaenv::host;
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
    static_cast<void>(parse_dist_info_name(text));
    static_cast<void>(parse_conda_meta_name(text));
    static_cast<void>(parse_proc_version(text));
    static_cast<void>(parse_module_version(text));
    static_cast<void>(parse_gpu_information(text));
    static_cast<void>(parse_nvidia_smi(text));
    static_cast<void>(parse_torch_version(text));
    static_cast<void>(parse_tensorflow_build(text));
    static_cast<void>(cuda_of_dependencies(text));
    static_cast<void>(parse_editable_finder(text, "torch"));
    const auto root = parse_direct_url(text);
    require(root.empty() || root.front() == '/');
    return 0;
}
