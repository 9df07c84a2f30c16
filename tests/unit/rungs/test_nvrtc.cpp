// With the NVRTC of this machine, if it has one. It compiles without a GPU.
#include "kernels/rungs/library_numbers.hpp"
#include "kernels/rungs/nvrtc_library.hpp"
#include "kernels/rungs/rungs.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;
using namespace cudaenv::kernels;

namespace {

constexpr const char* k_source =
    "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] *= 2.0f; }";

NvrtcApi real_nvrtc() {
    const LoadedLibrary library = load_first({"/usr/local/cuda/lib64/libnvrtc.so", "libnvrtc.so.13",
                                              "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"});
    if (library.handle == nullptr) {
        SKIP("no NVRTC here: install a CUDA toolkit, or name the nvidia-cuda-nvrtc wheel's lib "
             "folder in LD_LIBRARY_PATH");
    }
    NvrtcApi api;
    REQUIRE_FALSE(load_nvrtc_api(library, api));
    NvrtcOutput output;
    const MaybeStop stop = compile_for(api, k_source, {9, 0}, output);
    if (stop && stop->message.find("libnvrtc-builtins") != std::string::npos) {
        SKIP("this NVRTC does not find its builtins (under the address sanitizer the loader does "
             "not follow $ORIGIN): name its folder in LD_LIBRARY_PATH");
    }
    return api;
}

bool is_elf(const std::string& content) {
    return content.starts_with("\x7f"
                               "ELF");
}

} // namespace

TEST_CASE("NVRTC makes machine code and PTX for a GPU that it knows") {
    const NvrtcApi api = real_nvrtc();
    if (api.get_cubin == nullptr) {
        SKIP("this NVRTC is older than 11.1 and makes no machine code");
    }
    NvrtcOutput output;
    const MaybeStop stop = compile_for(api, k_source, {9, 0}, output);
    INFO((stop ? stop->message : std::string{}));
    REQUIRE_FALSE(stop);
    CHECK(is_elf(output.machine_code));
    CHECK(output.machine_code_architecture == "sm_90");
    CHECK(output.ptx.find(".entry twice") != std::string::npos);
    CHECK(output.ptx_architecture == "compute_90");
    CHECK_FALSE(ptx_isa(output.ptx).empty());
}

TEST_CASE("for a GPU newer than NVRTC it makes PTX of the highest that it knows") {
    const NvrtcApi api = real_nvrtc();
    NvrtcOutput output;
    REQUIRE_FALSE(compile_for(api, k_source, {99, 0}, output));
    CHECK(output.machine_code.empty());
    CHECK(output.machine_code_architecture.empty());
    CHECK(output.ptx_architecture.starts_with("compute_"));
    CHECK(output.ptx.find(".entry twice") != std::string::npos);
}

TEST_CASE("an NVRTC that neither lists its architectures nor makes machine code makes PTX") {
    NvrtcApi api = real_nvrtc();
    api.get_cubin = nullptr;
    api.get_cubin_size = nullptr;
    api.get_supported_archs_count = nullptr;
    api.get_supported_archs = nullptr;
    NvrtcOutput output;
    REQUIRE_FALSE(compile_for(api, k_source, {9, 0}, output));
    CHECK(output.machine_code.empty());
    CHECK(output.ptx_architecture.starts_with("compute_8")); // 80 of CUDA 11.0, else 86
    CHECK(output.ptx.find(".entry twice") != std::string::npos);
}

TEST_CASE("a GPU that is older than all that NVRTC knows is refused by its option") {
    const NvrtcApi api = real_nvrtc();
    NvrtcOutput output;
    const MaybeStop stop = compile_for(api, k_source, {1, 0}, output);
    REQUIRE(stop);
    CHECK(stop->call == "nvrtcCompileProgram");
    CHECK(stop->error == 5);
    CHECK(stop->error_name == "NVRTC_ERROR_INVALID_OPTION");
    CHECK(stop->message.find("sm_10") != std::string::npos);
}

TEST_CASE("what NVRTC says to a wrong source is kept") {
    const NvrtcApi api = real_nvrtc();
    NvrtcOutput output;
    const MaybeStop stop = compile_for(api, "int no_semicolon", {9, 0}, output);
    REQUIRE(stop);
    CHECK(stop->error == 6);
    CHECK(stop->error_name == "NVRTC_ERROR_COMPILATION");
    CHECK(stop->message.find("cudaenv_probe.cu(1): error") != std::string::npos);
}

TEST_CASE("a library that is no NVRTC is reported by what it lacks") {
    const LoadedLibrary library = load_first({"libm.so.6"});
    REQUIRE(library.handle != nullptr);
    NvrtcApi api;
    const MaybeStop stop = load_nvrtc_api(library, api);
    REQUIRE(stop);
    CHECK(stop->kind == Stop::Kind::Refused);
    CHECK(stop->message == library.path + " has no nvrtcVersion");
}
