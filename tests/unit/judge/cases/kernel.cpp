// Machine code and PTX.
#include "tests/unit/judge/cases/rows.hpp"

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
         ProbeStep::Kernel,
         "CE326",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"cuda", "12.4"},
          {"gpu", "NVIDIA GeForce RTX 5090 (sm_120)"},
          {"generation", "Blackwell"},
          {"other", "12.8"},
          {"command", "cudaenv resolve torch --gpu 12.0"},
          {"seen", "cuModuleLoadDataEx: error 209"}}},
        {"209 on a GPU older than the runtime names the last CUDA that served it",
         [](Bench& bench) {
             bench.has_gpu("Tesla V100-SXM2-16GB", {7, 0});
             bench.fails(ProbeStep::Kernel, "cuModuleLoadDataEx", 209);
         },
         ProbeStep::Kernel,
         "CE327",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"cuda", "13.0"},
          {"gpu", "Tesla V100-SXM2-16GB (sm_70)"},
          {"oldest", "sm_75"},
          {"generation", "Volta"},
          {"other", "12.x"},
          {"command", "cudaenv resolve torch --gpu 7.0"},
          {"seen", "cuModuleLoadDataEx: error 209"}}},
        {"209 on a GPU that the runtime's CUDA serves is the build's",
         breaks(209, "CUDA_ERROR_NO_BINARY_FOR_GPU"),
         ProbeStep::Kernel,
         "CE328",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"seen", "cuCtxSynchronize: error 209"}, {"gpu", "NVIDIA H200 (sm_90)"}}},
        {"a GPU that computes and that torch certainly has no code for fails",
         [](Bench& bench) {
             bench.has_gpu("Tesla V100-SXM2-16GB", {7, 0});
             bench.rung(ProbeStep::Kernel).architecture = "sm_70";
         },
         ProbeStep::Kernel,
         "CE329",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"torch", "2.11.0+cu130"},
          {"sm", "sm_70"},
          {"ran", "the probe's machine code for sm_70 runs"},
          {"list", "sm_75, 80, 86, 90, 100, 120"},
          {"command", "cudaenv resolve torch --gpu 7.0"}}},
        {"where PTX ran, it is not reported as machine code",
         [](Bench& bench) {
             has_torch(bench, "2.6.0+cu124", "12.4");
             bench.has_gpu("NVIDIA GeForce RTX 5090", {12, 0});
             bench.rung(ProbeStep::Kernel).architecture = "compute_50";
         },
         ProbeStep::Kernel,
         "CE329",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"torch", "2.6.0+cu124"},
          {"sm", "sm_120"},
          {"ran", "the probe's PTX for compute_50 runs"},
          {"list", "sm_50, 60, 70, 75, 80, 86, 90"},
          {"command", "cudaenv resolve torch --gpu 12.0"}}},
        {"a torch whose list was only derived is a warning",
         [](Bench& bench) {
             has_torch(bench, "2.11.0+cu129", "12.9");
             bench.has_gpu("Tesla V100-SXM2-16GB", {7, 0});
             bench.rung(ProbeStep::Kernel).architecture = "sm_70";
         },
         ProbeStep::Kernel,
         "CE329",
         k_warns,
         ProbeVerdict::Warns,
         "uncertain",
         {{"torch", "2.11.0+cu129"},
          {"sm", "sm_70"},
          {"ran", "the probe's machine code for sm_70 runs"},
          {"list", "sm_75, 80, 86, 90, 100, 120"},
          {"command", "cudaenv resolve torch --gpu 7.0"}}},
        {"a torch whose PTX the driver compiles serves a newer GPU",
         [](Bench& bench) {
             has_torch(bench, "2.7.1+cu128", "12.8");
             bench.has_gpu("NVIDIA of tomorrow", {12, 1});
             bench.rung(ProbeStep::Kernel).architecture = "sm_120";
         },
         ProbeStep::Kernel,
         "",
         StepStatus::Ok,
         ProbeVerdict::Ok,
         "",
         {{"line", "machine code for sm_120"}}},
        {"a CUDA that has dropped the GPU fails, though the probe's own code runs",
         runs_own_code("13.0", "Tesla V100-SXM2-16GB", {7, 0}, "sm_70"),
         ProbeStep::Kernel,
         "CE327",
         k_fails,
         ProbeVerdict::Fails,
         "kernel",
         {{"cuda", "13.0"},
          {"sm", "sm_70"},
          {"oldest", "sm_75"},
          {"generation", "Volta"},
          {"other", "12.x"},
          {"ran", "the probe's machine code for sm_70 runs"},
          {"runs", "yes"},
          {"command", "cudaenv pin 12.9"}}},
        {"a GPU for which the probe has no code either fails by what is known of that CUDA",
         [](Bench& bench) {
             runs_own_code("13.0", "Tesla K80", {3, 7}, "")(bench);
             bench.skips(ProbeStep::Kernel, "the probe's PTX is for compute capability 5.0 and up");
         },
         ProbeStep::Kernel,
         "CE327",
         k_fails,
         ProbeVerdict::Fails,
         "kernel",
         {{"cuda", "13.0"},
          {"sm", "sm_37"},
          {"oldest", "sm_75"},
          {"generation", "Kepler"},
          {"other", "11.x"},
          {"ran", "nor has the probe"},
          {"command", "cudaenv pin 11.8"}}},
        {"a GPU for which only the probe has no code is not judged by that",
         [](Bench& bench) {
             runs_own_code("11.4", "Tesla K80", {3, 7}, "")(bench);
             bench.skips(ProbeStep::Kernel, "the probe's PTX is for compute capability 5.0 and up");
         },
         ProbeStep::Kernel,
         "",
         k_skipped,
         ProbeVerdict::Warns,
         "",
         {{"line", "the probe's PTX is for"}}},
        {"the last CUDA that serves a GPU is right",
         runs_own_code("12.9", "Tesla V100-SXM2-16GB", {7, 0}, "sm_70"),
         ProbeStep::Kernel,
         "",
         StepStatus::Ok,
         ProbeVerdict::Ok,
         "",
         {{"line", "machine code for sm_70"}}},
        {"without a runtime there is no CUDA that could lack code",
         [](Bench& bench) {
             bench.environment.frameworks.clear();
             bench.skips(ProbeStep::Runtime, "there is no libcudart");
             bench.has_gpu("Tesla V100-SXM2-16GB", {7, 0});
             bench.rung(ProbeStep::Kernel).architecture = "sm_70";
         },
         ProbeStep::Kernel,
         "",
         StepStatus::Ok,
         ProbeVerdict::Ok,
         "",
         {{"line", "machine code for sm_70"}}},
        {"a CUDA older than the GPU is a warning, where its PTX may serve",
         runs_own_code("11.8", "NVIDIA B200", {10, 0}, "sm_100"),
         ProbeStep::Kernel,
         "CE326",
         k_warns,
         ProbeVerdict::Warns,
         "ptx",
         {{"cuda", "11.8"},
          {"sm", "sm_100"},
          {"generation", "Blackwell"},
          {"other", "12.8"},
          {"ran", "the probe's machine code for sm_100 runs"},
          {"command", "cudaenv pin 12.8"}}},
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
         ProbeStep::Kernel,
         "CE326",
         k_fails,
         ProbeVerdict::Fails,
         "no-ptx",
         {{"cuda", "11.8"},
          {"sm", "sm_100"},
          {"generation", "Blackwell"},
          {"other", "12.8"},
          {"ran", "the probe's machine code for sm_100 runs"},
          {"command", "cudaenv pin 12.8"}}},
        {"a GPU of a later minor runs machine code of its major",
         runs_own_code("12.8", "NVIDIA B300", {10, 3}, "sm_100"),
         ProbeStep::Kernel,
         "",
         StepStatus::Ok,
         ProbeVerdict::Ok,
         "",
         {{"line", "machine code for sm_100"}}},
        {"a variable for PTX hides no failure",
         [](Bench& bench) {
             bench.environment.frameworks.clear();
             bench.has_gpu("Tesla V100-SXM2-16GB", {7, 0});
             bench.rung(ProbeStep::Kernel).architecture = "compute_50";
             bench.rung(ProbeStep::Kernel).reason = RungReason::ForcedPtx;
         },
         ProbeStep::Kernel,
         "CE327",
         k_fails,
         ProbeVerdict::Fails,
         "kernel",
         {{"cuda", "13.0"},
          {"sm", "sm_70"},
          {"oldest", "sm_75"},
          {"generation", "Volta"},
          {"other", "12.x"},
          {"ran", "the probe's PTX for compute_50 runs"},
          {"runs", "yes"},
          {"command", "cudaenv pin 12.9"}}},
        {"PTX that ran for a variable's sake is a warning",
         [](Bench& bench) {
             bench.rung(ProbeStep::Kernel).architecture = "compute_50";
             bench.rung(ProbeStep::Kernel).reason = RungReason::ForcedPtx;
         },
         ProbeStep::Kernel,
         "CE331",
         k_warns,
         ProbeVerdict::Warns,
         "",
         {{"target", "compute_50"}}},
        {"700 of a kernel that is right is hardware or driver",
         breaks(700, "CUDA_ERROR_ILLEGAL_ADDRESS"),
         ProbeStep::Kernel,
         "CE334",
         k_fails,
         ProbeVerdict::Fails,
         "own",
         {{"seen", "cuCtxSynchronize: error 700"},
          {"gpu", "NVIDIA H200 (sm_90)"},
          {"ran", "a kernel that is known to be correct"}}},
        {"719 of a kernel that is right names no access, and asks for heat and power",
         breaks(719, "CUDA_ERROR_LAUNCH_FAILED"),
         ProbeStep::Kernel,
         "CE390",
         k_fails,
         ProbeVerdict::Fails,
         "own",
         {{"seen", "cuCtxSynchronize: error 719"},
          {"gpu", "NVIDIA H200 (sm_90)"},
          {"ran", "a kernel that is known to be correct"}}},
        {"710 of a kernel without an assertion is code that was damaged",
         breaks(710, "CUDA_ERROR_ASSERT"),
         ProbeStep::Kernel,
         "CE391",
         k_fails,
         ProbeVerdict::Fails,
         "own",
         {{"seen", "cuCtxSynchronize: error 710"},
          {"gpu", "NVIDIA H200 (sm_90)"},
          {"ran", "a kernel that is known to be correct"}}},
        {"715 likewise",
         breaks(715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"),
         ProbeStep::Kernel,
         "CE391",
         k_fails,
         ProbeVerdict::Fails,
         "own",
         {{"seen", "cuCtxSynchronize: error 715"},
          {"gpu", "NVIDIA H200 (sm_90)"},
          {"ran", "a kernel that is known to be correct"}}},
        {"716 likewise",
         breaks(716, "CUDA_ERROR_MISALIGNED_ADDRESS"),
         ProbeStep::Kernel,
         "CE334",
         k_fails,
         ProbeVerdict::Fails,
         "own",
         {{"seen", "cuCtxSynchronize: error 716"},
          {"gpu", "NVIDIA H200 (sm_90)"},
          {"ran", "a kernel that is known to be correct"}}},
        {"717 likewise",
         breaks(717, "CUDA_ERROR_INVALID_ADDRESS_SPACE"),
         ProbeStep::Kernel,
         "CE334",
         k_fails,
         ProbeVerdict::Fails,
         "own",
         {{"seen", "cuCtxSynchronize: error 717"},
          {"gpu", "NVIDIA H200 (sm_90)"},
          {"ran", "a kernel that is known to be correct"}}},
        {"222 on a driver of a CUDA that was never released names the newest that was",
         [](Bench& bench) {
             bench.gives_cuda("565.57.01", "12.7");
             bench.runs_on("12.6");
             bench.fails(ProbeStep::Kernel, "cuModuleLoadDataEx", 222);
         },
         ProbeStep::Kernel,
         "CE330",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"seen", "cuModuleLoadDataEx: error 222"},
          {"driver", "driver 565.57.01"},
          {"newest", "12.6"}}},
        {"214 is memory that cannot be corrected",
         breaks(214, "CUDA_ERROR_ECC_UNCORRECTABLE"),
         ProbeStep::Kernel,
         "CE335",
         k_fails,
         ProbeVerdict::Fails,
         "memory",
         {{"seen", "cuCtxSynchronize: error 214"}, {"gpu", "NVIDIA H200 (sm_90)"}}},
        {"a wrong result is said loudly",
         [](Bench& bench) {
             bench.rung(ProbeStep::Kernel).result = ProbeResult::Wrong;
             bench.rung(ProbeStep::Kernel).message = "shared: 17 is 18";
         },
         ProbeStep::Kernel,
         "CE336",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"gpu", "NVIDIA H200 (sm_90)"}, {"said", "shared: 17 is 18"}}},
        {"702 is the time limit",
         breaks(702, "CUDA_ERROR_LAUNCH_TIMEOUT"),
         ProbeStep::Kernel,
         "CE337",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"seen", "cuCtxSynchronize: error 702"}}},
        {"999 of a kernel is not cuInit's",
         breaks(999, "CUDA_ERROR_UNKNOWN"),
         ProbeStep::Kernel,
         "CE314",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"seen", "cuCtxSynchronize: error 999"}}},
        {"an unknown number is reported with its call, its name, and how to report it",
         breaks(12345, "CUDA_ERROR_OF_TOMORROW"),
         ProbeStep::Kernel,
         "CE359",
         k_fails,
         ProbeVerdict::Fails,
         "new",
         {{"seen", "cuCtxSynchronize: error 12345"},
          {"who", "the driver"},
          {"call", "cuCtxSynchronize"},
          {"number", "12345"},
          {"error_name", "CUDA_ERROR_OF_TOMORROW"}}},
        {"a number without a row has its family's meaning, of a kernel's",
         breaks(701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"),
         ProbeStep::Kernel,
         "CE359",
         k_fails,
         ProbeVerdict::Fails,
         "kernel",
         {{"seen", "cuCtxSynchronize: error 701"},
          {"who", "the driver"},
          {"call", "cuCtxSynchronize"},
          {"number", "701"},
          {"error_name", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"}}},
        {"of a virtual GPU without a licence",
         breaks(102, "CUDA_ERROR_DEVICE_NOT_LICENSED"),
         ProbeStep::Kernel,
         "CE359",
         k_fails,
         ProbeVerdict::Fails,
         "licence",
         {{"seen", "cuCtxSynchronize: error 102"},
          {"who", "the driver"},
          {"call", "cuCtxSynchronize"},
          {"number", "102"},
          {"error_name", "CUDA_ERROR_DEVICE_NOT_LICENSED"}}},
        {"of a call's argument, which is the runtime's where that was called",
         [](Bench& bench) {
             bench.fails(ProbeStep::Memory, "cudaMemcpy", 1, "cudaErrorInvalidValue");
             bench.rung(ProbeStep::Memory).message = "2 MiB";
         },
         ProbeStep::Memory,
         "CE359",
         k_fails,
         ProbeVerdict::Fails,
         "value",
         {{"seen", "cudaMemcpy: error 1"},
          {"who", "the CUDA runtime"},
          {"call", "cudaMemcpy"},
          {"number", "1"},
          {"error_name", "cudaErrorInvalidValue"},
          {"said", "2 MiB"}}},
        {"222 for old PTX is no ceiling",
         answers(ProbeStep::Ptx, "cuModuleLoadDataEx", 222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"),
         ProbeStep::Ptx,
         "CE330",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"seen", "cuModuleLoadDataEx: error 222"},
          {"driver", "driver 580.159.04"},
          {"newest", "13.0"},
          {"isa", "6.0"}}},
        {"221 is a driver without its PTX compiler",
         answers(ProbeStep::Ptx, "cuModuleLoadDataEx", 221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"),
         ProbeStep::Ptx,
         "CE332",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"seen", "cuModuleLoadDataEx: error 221"}}},
        {"223 is a variable that was set",
         answers(ProbeStep::Ptx, "cuModuleLoadDataEx", 223),
         ProbeStep::Ptx,
         "CE333",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"seen", "cuModuleLoadDataEx: error 223"}}},
        {"222 for the runtime's own PTX is the driver's ceiling",
         [](Bench& bench) {
             bench.climbs_all();
             bench.fails(ProbeStep::PtxRuntime, "cuModuleLoadDataEx", 222,
                         "CUDA_ERROR_UNSUPPORTED_PTX_VERSION");
             bench.rung(ProbeStep::PtxRuntime).isa = DottedVersion::of("9.5");
         },
         ProbeStep::PtxRuntime,
         "CE325",
         k_warns,
         ProbeVerdict::Warns,
         "",
         {{"seen", "PTX 9.5 is refused (222)"},
          {"gives", "13.0"},
          {"full", "580.65.06"},
          {"newest", "13.0"}}},
    };
}

} // namespace cudaenv::testing
