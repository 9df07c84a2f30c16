// Machine code and PTX.
#include "tests/unit/probe/cases/rows.hpp"

namespace cudaenv::testing {

namespace {

void has_torch(Bench& bench, const char* version, const char* cuda) {
    bench.environment.frameworks.front().version = version;
    bench.environment.frameworks.front().cuda = DottedVersion::of(cuda);
    bench.runs_on(cuda);
}

// Without a framework, the probe's own code for that GPU runs; on a runtime of that CUDA.
Change runs_own_code(const char* cuda, const char* gpu, ComputeCapability capability,
                     const char* architecture) {
    return [=](Bench& bench) {
        bench.environment.frameworks.clear();
        bench.runs_on(cuda);
        bench.has_gpu(gpu, capability);
        bench.rung(ProbeStep::Kernel).architecture = architecture;
    };
}

// A kernel that breaks with this number.
Change breaks(int error, const char* name) {
    return [=](Bench& bench) { bench.fails(ProbeStep::Kernel, "cuCtxSynchronize", error, name); };
}

} // namespace

std::vector<Case> kernel_cases() {
    return {
        {"209 on a GPU newer than the runtime names the first CUDA that knows it",
         [](Bench& bench) {
             bench.runs_on("12.4");
             bench.has_gpu("NVIDIA GeForce RTX 5090", {12, 0});
             bench.fails(ProbeStep::Kernel, "cuModuleLoadDataEx", 209,
                         "CUDA_ERROR_NO_BINARY_FOR_GPU");
         },
         ProbeStep::Kernel, "CE326", k_fails, ProbeVerdict::Fails,
         "no machine code for NVIDIA GeForce RTX 5090 (sm_120)", "newer than CUDA 12.4",
         "cudaenv resolve torch --gpu 12.0"},
        {"209 on a GPU older than the runtime names the last CUDA that served it",
         [](Bench& bench) {
             bench.has_gpu("Tesla V100-SXM2-16GB", {7, 0});
             bench.fails(ProbeStep::Kernel, "cuModuleLoadDataEx", 209);
         },
         ProbeStep::Kernel, "CE327", k_fails, ProbeVerdict::Fails, "(sm_70)",
         "CUDA 13.0 makes code for sm_75 and newer", "cudaenv resolve torch --gpu 7.0"},
        {"209 on a GPU that the runtime's CUDA serves is the build's",
         breaks(209, "CUDA_ERROR_NO_BINARY_FOR_GPU"), ProbeStep::Kernel, "CE328", k_fails,
         ProbeVerdict::Fails, "no machine code for NVIDIA H200 (sm_90)", "built for other GPUs",
         "cudaenv resolve torch"},
        {"a GPU that computes and that torch certainly has no code for fails",
         [](Bench& bench) {
             bench.has_gpu("Tesla V100-SXM2-16GB", {7, 0});
             bench.rung(ProbeStep::Kernel).architecture = "sm_70";
         },
         ProbeStep::Kernel, "CE329", k_fails, ProbeVerdict::Fails,
         "torch 2.11.0+cu130 has no code for sm_70; the probe's machine code for sm_70 runs",
         "no kernel image is available", "cudaenv resolve torch --gpu 7.0"},
        {"where PTX ran, it is not told as machine code",
         [](Bench& bench) {
             has_torch(bench, "2.6.0+cu124", "12.4");
             bench.has_gpu("NVIDIA GeForce RTX 5090", {12, 0});
             bench.rung(ProbeStep::Kernel).architecture = "compute_50";
         },
         ProbeStep::Kernel, "CE329", k_fails, ProbeVerdict::Fails,
         "torch 2.6.0+cu124 has no code for sm_120; the probe's PTX for compute_50 runs",
         "sm_50, 60, 70, 75, 80, 86, 90; on", "cudaenv resolve torch --gpu 12.0"},
        {"a torch whose list was only derived is a warning",
         [](Bench& bench) {
             has_torch(bench, "2.11.0+cu129", "12.9");
             bench.has_gpu("Tesla V100-SXM2-16GB", {7, 0});
             bench.rung(ProbeStep::Kernel).architecture = "sm_70";
         },
         ProbeStep::Kernel, "CE329", k_warns, ProbeVerdict::Warns,
         "torch 2.11.0+cu129 has no code for sm_70", "as far as is known",
         "cudaenv resolve torch --gpu 7.0"},
        {"a torch whose PTX the driver compiles serves a newer GPU",
         [](Bench& bench) {
             has_torch(bench, "2.7.1+cu128", "12.8");
             bench.has_gpu("NVIDIA of tomorrow", {12, 1});
             bench.rung(ProbeStep::Kernel).architecture = "sm_120";
         },
         ProbeStep::Kernel, "", StepStatus::Ok, ProbeVerdict::Ok, "machine code for sm_120", "",
         nullptr},
        {"a CUDA that has dropped the GPU fails, though the probe's own code runs",
         runs_own_code("13.0", "Tesla V100-SXM2-16GB", {7, 0}, "sm_70"), ProbeStep::Kernel, "CE327",
         k_fails, ProbeVerdict::Fails,
         "CUDA 13.0 has no machine code for sm_70; the probe's machine code for sm_70 runs",
         "CUDA 13.0 makes code for sm_75 and newer; this is an older GPU (Volta): its libraries "
         "end with 209 here, its nvcc and NVRTC do not know sm_70; the driver still runs",
         "cudaenv pin 12.9"},
        {"a GPU for which the probe has no code either fails by what is known of that CUDA",
         [](Bench& bench) {
             runs_own_code("13.0", "Tesla K80", {3, 7}, "")(bench);
             bench.skips(ProbeStep::Kernel, "the probe's PTX is for compute capability 5.0 and up");
         },
         ProbeStep::Kernel, "CE327", k_fails, ProbeVerdict::Fails,
         "CUDA 13.0 has no machine code for sm_37; nor has the probe",
         "nvcc and NVRTC do not know sm_37", "cudaenv pin 11"},
        {"a GPU for which only the probe has no code is not judged by that",
         [](Bench& bench) {
             runs_own_code("11.4", "Tesla K80", {3, 7}, "")(bench);
             bench.skips(ProbeStep::Kernel, "the probe's PTX is for compute capability 5.0 and up");
         },
         ProbeStep::Kernel, "", k_skipped, ProbeVerdict::Warns, "the probe's PTX is for", "",
         nullptr},
        {"the last CUDA that serves a GPU is right",
         runs_own_code("12.9", "Tesla V100-SXM2-16GB", {7, 0}, "sm_70"), ProbeStep::Kernel, "",
         StepStatus::Ok, ProbeVerdict::Ok, "machine code for sm_70", "", nullptr},
        {"without a runtime there is no CUDA that could lack code",
         [](Bench& bench) {
             bench.environment.frameworks.clear();
             bench.skips(ProbeStep::Runtime, "there is no libcudart");
             bench.has_gpu("Tesla V100-SXM2-16GB", {7, 0});
             bench.rung(ProbeStep::Kernel).architecture = "sm_70";
         },
         ProbeStep::Kernel, "", StepStatus::Ok, ProbeVerdict::Ok, "machine code for sm_70", "",
         nullptr},
        {"a CUDA older than the GPU is a warning, where its PTX may serve",
         runs_own_code("11.8", "NVIDIA B200", {10, 0}, "sm_100"), ProbeStep::Kernel, "CE326",
         k_warns, ProbeVerdict::Warns,
         "CUDA 11.8 has no machine code for sm_100; the probe's machine code for sm_100 runs",
         "newer than CUDA 11.8 (Blackwell): what brings PTX along may run", "cudaenv pin 12.8"},
        {"a CUDA older than the GPU fails where the driver compiles no PTX",
         [](Bench& bench) {
             bench.climbs_all();
             bench.environment.frameworks.clear();
             bench.runs_on("11.8");
             bench.rung(ProbeStep::Cudnn).cuda = DottedVersion::of("11.8");
             bench.has_gpu("NVIDIA B200", {10, 0});
             bench.rung(ProbeStep::Kernel).architecture = "sm_100";
             bench.fails(ProbeStep::Ptx, "cuModuleLoadDataEx", 223);
         },
         ProbeStep::Kernel, "CE326", k_fails, ProbeVerdict::Fails, "no machine code for sm_100",
         "it would have to run as PTX, which this driver refuses", "cudaenv pin 12.8"},
        {"a GPU of a later minor runs machine code of its major",
         runs_own_code("12.8", "NVIDIA B300", {10, 3}, "sm_100"), ProbeStep::Kernel, "",
         StepStatus::Ok, ProbeVerdict::Ok, "machine code for sm_100", "", nullptr},
        {"a variable for PTX hides no failure",
         [](Bench& bench) {
             bench.environment.frameworks.clear();
             bench.has_gpu("Tesla V100-SXM2-16GB", {7, 0});
             bench.rung(ProbeStep::Kernel).architecture = "compute_50";
             bench.rung(ProbeStep::Kernel).message = "CUDA_FORCE_PTX_JIT is set: PTX was run";
         },
         ProbeStep::Kernel, "CE327", k_fails, ProbeVerdict::Fails,
         "the probe's PTX for compute_50 runs", "older GPU", "cudaenv pin 12.9"},
        {"PTX that ran for a variable's sake is a warning",
         [](Bench& bench) {
             bench.rung(ProbeStep::Kernel).architecture = "compute_50";
             bench.rung(ProbeStep::Kernel).message =
                 "CUDA_FORCE_PTX_JIT is set: PTX was run instead of machine code";
         },
         ProbeStep::Kernel, "CE331", k_warns, ProbeVerdict::Warns,
         "machine code is passed over; PTX for compute_50 ran", "CUDA_FORCE_PTX_JIT is set",
         "unset CUDA_FORCE_PTX_JIT"},
        {"700 of a kernel that is right is hardware or driver",
         breaks(700, "CUDA_ERROR_ILLEGAL_ADDRESS"), ProbeStep::Kernel, "CE334", k_fails,
         ProbeVerdict::Fails, "error 700: a kernel known to be right broke on NVIDIA H200 (sm_90)",
         "an access to memory was refused", "dmesg | grep -i xid"},
        {"719 of a kernel that is right names no access, and asks for heat and power",
         breaks(719, "CUDA_ERROR_LAUNCH_FAILED"), ProbeStep::Kernel, "CE390", k_fails,
         ProbeVerdict::Fails, "error 719: a kernel known to be right broke",
         "without naming an access", "nvidia-smi -q -d TEMPERATURE,POWER"},
        {"710 of a kernel without an assertion is code that was damaged",
         breaks(710, "CUDA_ERROR_ASSERT"), ProbeStep::Kernel, "CE391", k_fails, ProbeVerdict::Fails,
         "error 710", "something else than this code", "nvidia-smi -q -d ECC"},
        {"715 likewise", breaks(715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"), ProbeStep::Kernel, "CE391",
         k_fails, ProbeVerdict::Fails, "error 715", "something else than this code", "xid"},
        {"716 likewise", breaks(716, "CUDA_ERROR_MISALIGNED_ADDRESS"), ProbeStep::Kernel, "CE334",
         k_fails, ProbeVerdict::Fails, "error 716", "", "xid"},
        {"717 likewise", breaks(717, "CUDA_ERROR_INVALID_ADDRESS_SPACE"), ProbeStep::Kernel,
         "CE334", k_fails, ProbeVerdict::Fails, "error 717", "", "xid"},
        {"222 on a driver of a CUDA that was never released names the newest that was",
         [](Bench& bench) {
             bench.gives_cuda("565.57.01", "12.7");
             bench.runs_on("12.6");
             bench.fails(ProbeStep::Kernel, "cuModuleLoadDataEx", 222);
         },
         ProbeStep::Kernel, "CE330", k_fails, ProbeVerdict::Fails, "error 222", "",
         "cudaenv pin 12.6"},
        {"214 is memory that cannot be corrected", breaks(214, "CUDA_ERROR_ECC_UNCORRECTABLE"),
         ProbeStep::Kernel, "CE335", k_fails, ProbeVerdict::Fails, "cannot be corrected",
         "not to be trusted", "nvidia-smi -q -d ECC"},
        {"a wrong result is said loudly",
         [](Bench& bench) {
             bench.rung(ProbeStep::Kernel).result = ProbeResult::Wrong;
             bench.rung(ProbeStep::Kernel).message = "shared: 17 is 18";
         },
         ProbeStep::Kernel, "CE336", k_fails, ProbeVerdict::Fails,
         "WRONG RESULT on NVIDIA H200 (sm_90): shared: 17 is 18", "trust no result", "dcgmi diag"},
        {"702 is the time limit", breaks(702, "CUDA_ERROR_LAUNCH_TIMEOUT"), ProbeStep::Kernel,
         "CE337", k_fails, ProbeVerdict::Fails, "time limit", "watchdog", "xid"},
        {"999 of a kernel is not cuInit's", breaks(999, "CUDA_ERROR_UNKNOWN"), ProbeStep::Kernel,
         "CE314", k_fails, ProbeVerdict::Fails, "failed without saying why", "Xid", "xid"},
        {"a number that nobody knows is told with its call, its name, and how to report it",
         breaks(12345, "CUDA_ERROR_OF_TOMORROW"), ProbeStep::Kernel, "CE359", k_fails,
         ProbeVerdict::Fails, "cuCtxSynchronize: error 12345 (CUDA_ERROR_OF_TOMORROW)",
         "the driver answered cuCtxSynchronize with 12345, CUDA_ERROR_OF_TOMORROW: newer than what "
         "is known here",
         "dmesg"},
        {"a number without a row has its family's meaning, of a kernel's",
         breaks(701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"), ProbeStep::Kernel, "CE359", k_fails,
         ProbeVerdict::Fails, "error 701", "a kernel was not launched, or broke", "xid"},
        {"of a virtual GPU without a licence", breaks(102, "CUDA_ERROR_DEVICE_NOT_LICENSED"),
         ProbeStep::Kernel, "CE359", k_fails, ProbeVerdict::Fails, "error 102", "not licensed",
         "grep -i licen"},
        {"of a call's argument, which is the runtime's where that was called",
         [](Bench& bench) {
             bench.fails(ProbeStep::Memory, "cudaMemcpy", 1, "cudaErrorInvalidValue");
             bench.rung(ProbeStep::Memory).message = "2 MiB";
         },
         ProbeStep::Memory, "CE359", k_fails, ProbeVerdict::Fails,
         "cudaMemcpy: error 1 (cudaErrorInvalidValue)",
         "the CUDA runtime answered cudaMemcpy with 1, cudaErrorInvalidValue: a call was given a "
         "value or a state that it does not take; it said: 2 MiB",
         "cudaenv status"},
        {"222 for old PTX is no ceiling",
         answers(ProbeStep::Ptx, "cuModuleLoadDataEx", 222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"),
         ProbeStep::Ptx, "CE330", k_fails, ProbeVerdict::Fails, "refuses this PTX 6.0",
         "damaged or very old", ""},
        {"221 is a driver without its PTX compiler",
         answers(ProbeStep::Ptx, "cuModuleLoadDataEx", 221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"),
         ProbeStep::Ptx, "CE332", k_fails, ProbeVerdict::Fails, "PTX compiler is not here",
         "libnvidia-ptxjitcompiler", "ldconfig"},
        {"223 is a variable that was set", answers(ProbeStep::Ptx, "cuModuleLoadDataEx", 223),
         ProbeStep::Ptx, "CE333", k_fails, ProbeVerdict::Fails, "switched off",
         "CUDA_DISABLE_PTX_JIT", "unset CUDA_DISABLE_PTX_JIT"},
        {"222 for the runtime's own PTX is the driver's ceiling",
         [](Bench& bench) {
             bench.climbs_all();
             bench.fails(ProbeStep::PtxRuntime, "cuModuleLoadDataEx", 222,
                         "CUDA_ERROR_UNSUPPORTED_PTX_VERSION");
             bench.rung(ProbeStep::PtxRuntime).isa = DottedVersion::of("9.5");
         },
         ProbeStep::PtxRuntime, "CE325", k_warns, ProbeVerdict::Warns,
         "PTX 9.5 is refused (222): machine code runs", "minor version compatibility",
         "cudaenv pin 13.0"},
    };
}

} // namespace cudaenv::testing
