#include "kernels/code_on_gpu.hpp"
#include "kernels/driver_api.hpp"
#include "kernels/ptx/ptx_text.hpp"
#include "kernels/rungs/library_numbers.hpp"
#include "kernels/rungs/rungs.hpp"

#include <cstdlib>

namespace cudaenv::kernels {

namespace {

// The user's own setting, and part of the question: the driver then ignores machine code.
bool is_ptx_forced() {
    const char* value = std::getenv("CUDA_FORCE_PTX_JIT");
    return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

MaybeStop run_reported(Rung& rung, const GpuUnderTest& gpu, const void* image,
                       const std::vector<KernelCheck>& checks) {
    std::vector<std::string> passed;
    auto stop = run_checks(gpu, image, checks, passed);
    if (!passed.empty()) {
        rung.set("checks", passed);
    }
    return stop;
}

// The probe's PTX with that `.version`; the rung is ended.
bool climb_text(Rung& rung, const GpuUnderTest& gpu, std::string_view isa) {
    if (gpu.capability < k_ptx_target) {
        rung.skipped("the probe's PTX is for compute capability " + k_ptx_target.str() +
                     " and newer");
        return true;
    }
    rung.set("architecture", architecture_name("compute_", k_ptx_target));
    rung.set("isa", isa);
    const auto stop = run_reported(rung, gpu, ptx_text(isa).c_str(), ptx_checks());
    end_rung(rung, stop);
    return !stop;
}

} // namespace

template <>
bool climb_on_gpu<ProbeStep::Kernel>(const GpuUnderTest& gpu, CurrentGpu& /*current*/) {
    Rung rung(ProbeStep::Kernel, gpu.ordinal);
    const auto& image = device_image();
    const auto machine_code = machine_code_for(image.machine_code, gpu.capability);
    if (is_ptx_forced()) {
        rung.set_reason(facts::RungReason::ForcedPtx);
        rung.set("message", "CUDA_FORCE_PTX_JIT is set: PTX ran instead of machine code");
    } else if (machine_code) {
        rung.set("architecture", architecture_name("sm_", *machine_code));
        const auto stop = run_reported(rung, gpu, image.fatbin, kernel_checks(*machine_code));
        // The probe's code may be newer than the driver, which says nothing of the environment's:
        // only within one major of CUDA's do older drivers take it.
        const bool too_new = gpu.driver_cuda && gpu.driver_cuda->major() < image.cuda.major();
        if (!stop || stop->call != k_load_call || !too_new) {
            end_rung(rung, stop);
            return !stop;
        }
        rung.set("message", "the driver refused the probe's machine code of CUDA " +
                                image.cuda.str() + " (error " + std::to_string(stop->error) +
                                "); this is its PTX");
    } else if (image.fatbin != nullptr && image.ptx <= gpu.capability) {
        // A GPU that is newer than the nvcc: its PTX, with all the checks, where the driver can.
        const auto stop = run_reported(rung, gpu, image.fatbin, kernel_checks(image.ptx));
        if (!stop || stop->call != k_load_call) {
            rung.set("architecture", architecture_name("compute_", image.ptx));
            end_rung(rung, stop);
            return !stop;
        }
    }
    return climb_text(rung, gpu, k_oldest_isa);
}

template <>
bool climb_on_gpu<ProbeStep::Ptx>(const GpuUnderTest& gpu, CurrentGpu& /*current*/) {
    Rung rung(ProbeStep::Ptx, gpu.ordinal);
    return climb_text(rung, gpu, k_oldest_isa);
}

template <>
bool climb_on_gpu<ProbeStep::PtxRuntime>(const GpuUnderTest& gpu, CurrentGpu& /*current*/) {
    Rung rung(ProbeStep::PtxRuntime, gpu.ordinal);
    const auto cuda = gpu.runtime == nullptr ? std::nullopt : cuda_of_number(gpu.runtime->version);
    const auto isa = cuda ? ptx_isa_of_cuda(*cuda) : std::nullopt;
    if (!isa) {
        rung.skipped(cuda ? "which PTX CUDA " + cuda->str() + " writes is not known"
                          : std::string("there is no runtime whose version could be asked for"));
        return true;
    }
    return climb_text(rung, gpu, isa->str());
}

} // namespace cudaenv::kernels
