// NVRTC, cuBLAS, cuDNN and NCCL.
#include "tests/unit/probe/cases/rows.hpp"

namespace cudaenv::testing {

std::vector<Case> cuda_libraries_cases() {
    return {
        {"a library that is not here is a note",
         [](Bench& bench) {
             bench.climbs_all();
             bench.skips(ProbeStep::Nvrtc, "no NVRTC was found");
         },
         ProbeStep::Nvrtc, "CE340", k_skipped, ProbeVerdict::Ok, "no libnvrtc in this env", "NVRTC",
         "pip install nvidia-cuda-nvrtc"},
        {"a library that may lie in a closed directory is told with what opens that",
         [](Bench& bench) {
             bench.climbs_all();
             bench.context.closed_libraries.push_back(
                 {"/home/me/env/lib", "me", "me", 0600, true, true});
             bench.skips(ProbeStep::Nvrtc, "no NVRTC was found");
         },
         ProbeStep::Nvrtc, "CE340", k_skipped, ProbeVerdict::Ok, "no libnvrtc in this env",
         "or it lies in /home/me/env/lib, which you may not search", "chmod u+rx /home/me/env/lib"},
        {"a closed directory that is none of the environment's is told, and not taken for the "
         "answer",
         [](Bench& bench) {
             bench.climbs_all();
             bench.context.closed_libraries.push_back(
                 {"/srv/ann/lib", "ann", "ann", 0700, false, true});
             bench.skips(ProbeStep::Nvrtc, "no NVRTC was found");
         },
         ProbeStep::Nvrtc, "CE340", k_skipped, ProbeVerdict::Ok, "no libnvrtc in this env",
         "or it lies in /srv/ann/lib", "pip install nvidia-cuda-nvrtc"},
        {"NVRTC without its builtins",
         answers(ProbeStep::Nvrtc, "nvrtcCompileProgram", 7,
                 "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
                 "nvrtc: error: failed to open libnvrtc-builtins.so.13.0."),
         ProbeStep::Nvrtc, "CE342", k_fails, ProbeVerdict::Fails, "libnvrtc-builtins",
         "exactly one version", "--force-reinstall nvidia-cuda-nvrtc"},
        {"222 for NVRTC's PTX after machine code ran is a warning",
         answers(ProbeStep::Nvrtc, "cuModuleLoadDataEx (PTX)", 222,
                 "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"),
         ProbeStep::Nvrtc, "CE343", k_warns, ProbeVerdict::Warns, "NVRTC's PTX is refused (222)",
         "newer than the driver's CUDA", "cudaenv pin 13.0"},
        {"NVRTC that does not know the GPU",
         answers(ProbeStep::Nvrtc, "nvrtcCompileProgram", 5, "NVRTC_ERROR_INVALID_OPTION"),
         ProbeStep::Nvrtc, "CE344", k_fails, ProbeVerdict::Fails,
         "NVRTC 13.0 does not know NVIDIA H200 (sm_90)", "older than the GPU", "cudaenv resolve"},
        {"NVRTC that refuses a small kernel has its words",
         answers(ProbeStep::Nvrtc, "nvrtcCompileProgram", 6, "NVRTC_ERROR_COMPILATION",
                 "kernel.cu(1): error: what is this"),
         ProbeStep::Nvrtc, "CE345", k_fails, ProbeVerdict::Fails, "error: what is this", "", ""},
        {"a library that another one misses names that one",
         does_not_load(ProbeStep::Cublas,
                       "libcublasLt.so.13: cannot open shared object file: No such file "
                       "or directory"),
         ProbeStep::Cublas, "CE341", k_fails, ProbeVerdict::Fails, "cuBLAS does not load",
         "libcublasLt.so.13", "--force-reinstall nvidia-cublas"},
        {"an older libnvJitLink found first",
         does_not_load(ProbeStep::Cublas,
                       "libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, "
                       "version libnvJitLink.so.12"),
         ProbeStep::Cublas, "CE347", k_fails, ProbeVerdict::Fails, "__nvJitLink",
         "older libnvJitLink", "unset LD_LIBRARY_PATH"},
        {"a library for a newer glibc",
         does_not_load(ProbeStep::Cublas,
                       "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found "
                       "(required by libcublas.so.13)"),
         ProbeStep::Cublas, "CE349", k_fails, ProbeVerdict::Fails, "GLIBC_2.38", "newer system",
         ""},
        {"cuBLAS that does not start", answers(ProbeStep::Cublas, "cublasCreate", 1),
         ProbeStep::Cublas, "CE351", k_fails, ProbeVerdict::Fails, "cuBLAS does not start",
         "too little memory", "nvidia-smi"},
        {"cuBLAS without code for the GPU",
         answers(ProbeStep::Cublas, "cublasSgemm", 8, "CUBLAS_STATUS_ARCH_MISMATCH"),
         ProbeStep::Cublas, "CE352", k_fails, ProbeVerdict::Fails,
         "no code for NVIDIA H200 (sm_90)", "", "cudaenv resolve"},
        {"cuBLAS without memory is busy, with what the memory's rung saw free",
         [](Bench& bench) {
             answers(ProbeStep::Cublas, "cublasCreate", 3)(bench);
             bench.rung(ProbeStep::Memory).memory_free = 40ULL << 20U;
         },
         ProbeStep::Cublas, "CE317", k_fails, ProbeVerdict::Busy, "no memory left (40 MiB free)",
         "other processes fill it", "nvidia-smi"},
        {"cuBLAS without memory on a GPU that has much is under a limit",
         answers(ProbeStep::Cublas, "cublasCreate", 3), ProbeStep::Cublas, "CE317", k_fails,
         ProbeVerdict::Busy, "gives no memory (102400 MiB free)", "a limit is in the way",
         "ulimit -a"},
        {"a toolkit's library of another CUDA is not the environment's",
         [](Bench& bench) {
             bench.climbs_all();
             bench.context.passed_over[ProbeStep::Cudnn] =
                 "/usr/local/cuda-13.0/lib64/libcudnn.so.9";
             bench.skips(ProbeStep::Cudnn, "no cuDNN was found");
         },
         ProbeStep::Cudnn, "CE340", k_skipped, ProbeVerdict::Ok, "no libcudnn in this env",
         "/usr/local/cuda-13.0/lib64/libcudnn.so.9 goes with another CUDA", "pip install"},
        {"in a conda environment the package is conda's",
         [](Bench& bench) {
             bench.climbs_all();
             in_conda(bench);
             bench.skips(ProbeStep::Cudnn, "no cuDNN was found");
         },
         ProbeStep::Cudnn, "CE340", k_skipped, ProbeVerdict::Ok, "no libcudnn", "",
         "conda install cudnn"},
        {"a library that may not be read is told with who may",
         [](Bench& bench) {
             bench.context.closed_libraries.push_back(
                 {"/opt/env/lib/libcublas.so.13", "ann", "staff", 0600, false});
             does_not_load(ProbeStep::Cublas,
                           "/opt/env/lib/libcublas.so.13: cannot open shared object "
                           "file: Permission denied")(bench);
         },
         ProbeStep::Cublas, "CE356", k_fails, ProbeVerdict::Fails,
         "cuBLAS does not load: you may not read libcublas.so.13",
         "/opt/env/lib/libcublas.so.13 is there, but it is ann's, group staff, mode 0600",
         "sudo chmod a+r /opt/env/lib/libcublas.so.13"},
        {"a library that was passed over because it may not be read is not absent",
         [](Bench& bench) {
             bench.climbs_all();
             bench.context.closed_libraries.push_back(
                 {"/home/me/env/lib/libcublasLt.so.13", "ann", "staff", 0600, false});
             bench.context.closed_libraries.push_back(
                 {"/home/me/env/lib/libcublas.so.13", "ann", "staff", 0640, false});
             bench.skips(ProbeStep::Cublas, "no cuBLAS was found");
         },
         ProbeStep::Cublas, "CE356", k_fails, ProbeVerdict::Fails,
         "cuBLAS does not load: you may not read libcublas.so.13",
         "it is ann's, group staff, mode 0640", "sudo usermod -aG staff"},
        {"a library of one's own that is closed is opened without an administrator",
         [](Bench& bench) {
             bench.context.closed_libraries.push_back(
                 {"/opt/env/lib/libcudnn.so.9", "ann", "staff", 0, true});
             does_not_load(ProbeStep::Cudnn,
                           "/opt/env/lib/libcudnn.so.9: cannot open shared object "
                           "file: Permission denied")(bench);
         },
         ProbeStep::Cudnn, "CE356", k_fails, ProbeVerdict::Fails, "you may not read libcudnn.so.9",
         "it is yours, group staff, mode 0000", "chmod u+r /opt/env/lib/libcudnn.so.9"},
        {"a refusal of the kernel's that no file's mode explains says where to look",
         does_not_load(ProbeStep::Nvrtc,
                       "/opt/env/lib/libnvrtc.so.13: cannot open shared object file: "
                       "Permission denied"),
         ProbeStep::Nvrtc, "CE356", k_fails, ProbeVerdict::Fails, "you may not read libnvrtc.so.13",
         "the kernel refused", "namei -lm /opt/env/lib/libnvrtc.so.13"},
        {"cuDNN 8 that is missed is not answered by 9",
         does_not_load(ProbeStep::Cudnn,
                       "libcudnn.so.8: cannot open shared object file: No such file or directory"),
         ProbeStep::Cudnn, "CE341", k_fails, ProbeVerdict::Fails, "libcudnn.so.8", "cuDNN 8",
         "nvidia-cudnn-cu13<9"},
        {"files of two versions that meet",
         does_not_load(ProbeStep::Cudnn, "libcudnn_ops.so.9: undefined symbol: cudnnSomething"),
         ProbeStep::Cudnn, "CE348", k_fails, ProbeVerdict::Fails, "undefined symbol",
         "two versions", "--force-reinstall nvidia-cudnn"},
        {"a library that is cut short",
         does_not_load(ProbeStep::Cudnn, "libcudnn.so.9: file too short"), ProbeStep::Cudnn,
         "CE350", k_fails, ProbeVerdict::Fails, "file too short", "damaged", "--force-reinstall"},
        {"cuDNN 8 that is not initialised",
         answers(ProbeStep::Cudnn, "cudnnCreate", 1, "CUDNN_STATUS_NOT_INITIALIZED"),
         ProbeStep::Cudnn, "CE353", k_fails, ProbeVerdict::Fails,
         "CUDNN_STATUS_NOT_INITIALIZED (1)", "another CUDA major", "pip list"},
        {"cuDNN 9 that is not initialised, by its new number",
         answers(ProbeStep::Cudnn, "cudnnCreate", 1001), ProbeStep::Cudnn, "CE353", k_fails,
         ProbeVerdict::Fails, "cuDNN does not start", "", ""},
        {"a cuDNN of another CUDA that is not initialised has that for its cause",
         [](Bench& bench) {
             bench.climbs_all();
             bench.rung(ProbeStep::Cudnn).cuda = DottedVersion::of("12.9");
             bench.fails(ProbeStep::Cudnn, "cudnnCreate", 1001);
         },
         ProbeStep::Cudnn, "CE353", k_fails, ProbeVerdict::Fails, "",
         "built for CUDA 12.9, the runtime is CUDA 13.0", ""},
        {"cuDNN 9 that finds the driver too old names the floor of its CUDA",
         [](Bench& bench) {
             bench.climbs_all();
             bench.gives_cuda("550.54.15", "12.4");
             bench.runs_on("12.4");
             bench.fails(ProbeStep::Cudnn, "cudnnCreate", 3005);
         },
         ProbeStep::Cudnn, "CE322", k_fails, ProbeVerdict::Fails,
         "driver 550.54.15 gives CUDA 12.4, too old for CUDA 13.0", "580.65.06", ""},
        {"cuDNN 9 that finds a new driver too old is believed",
         answers(ProbeStep::Cudnn, "cudnnCreate", 3005,
                 "CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER"),
         ProbeStep::Cudnn, "CE322", k_fails, ProbeVerdict::Fails,
         "driver 580.159.04 is too old for cuDNN 9.19.0", "asks for a newer driver", "pip list"},
        {"cuDNN 9 that does not go with the runtime",
         [](Bench& bench) {
             bench.climbs_all();
             bench.rung(ProbeStep::Cudnn).cuda = DottedVersion::of("12.9");
             bench.fails(ProbeStep::Cudnn, "cudnnCreate", 3006);
         },
         ProbeStep::Cudnn, "CE353", k_fails, ProbeVerdict::Fails, "not with this runtime",
         "built for CUDA 12.9, the runtime is CUDA 13.0", "pip list"},
        {"cuDNN 9 without code for the GPU, by its number",
         answers(ProbeStep::Cudnn, "cudnnConvolutionForward", 3007), ProbeStep::Cudnn, "CE352",
         k_fails, ProbeVerdict::Fails, "no code for NVIDIA H200 (sm_90)", "", "cudaenv resolve"},
        {"cuDNN 9 without host memory is not a full GPU",
         answers(ProbeStep::Cudnn, "cudnnCreate", 4003), ProbeStep::Cudnn, "CE346", k_fails,
         ProbeVerdict::Busy, "no host memory left", "the machine's own memory", "free -m"},
        {"cuDNN 9 without host memory is known by its name",
         answers(ProbeStep::Cudnn, "cudnnCreate", 4003,
                 "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED"),
         ProbeStep::Cudnn, "CE346", k_fails, ProbeVerdict::Busy, "no host memory left", "", ""},
        {"cuDNN 9 without device memory is busy", answers(ProbeStep::Cudnn, "cudnnCreate", 4004),
         ProbeStep::Cudnn, "CE317", k_fails, ProbeVerdict::Busy, "gives no memory", "", ""},
        {"cuDNN of two installs",
         answers(ProbeStep::Cudnn, "cudnnCreate", 1002, "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH"),
         ProbeStep::Cudnn, "CE354", k_fails, ProbeVerdict::Fails, "SUBLIBRARY_VERSION_MISMATCH",
         "two installs", "pip list"},
        {"cuDNN for another CUDA major that works all the same",
         [](Bench& bench) {
             bench.climbs_all();
             bench.rung(ProbeStep::Cudnn).cuda = DottedVersion::of("12.9");
         },
         ProbeStep::Cudnn, "CE355", k_warns, ProbeVerdict::Warns,
         "cuDNN 9.19.0 was built for CUDA 12, the runtime is CUDA 13.0", "NOT_INITIALIZED",
         "pip install nvidia-cudnn-cu13"},
        {"a status that has no row keeps its name",
         answers(ProbeStep::Cudnn, "cudnnConvolutionForward", 5000,
                 "CUDNN_STATUS_EXECUTION_FAILED"),
         ProbeStep::Cudnn, "CE358", k_fails, ProbeVerdict::Fails, "CUDNN_STATUS_EXECUTION_FAILED",
         "", "--force-reinstall nvidia-cudnn"},
        {"a CUDA error inside a library's rung is CUDA's",
         answers(ProbeStep::Cudnn, "cudaDeviceSynchronize", 700, "cudaErrorIllegalAddress"),
         ProbeStep::Cudnn, "CE334", k_fails, ProbeVerdict::Fails,
         "error 700: a kernel of that library", "where nothing is allocated", "xid"},
        {"NCCL that the system refuses, in a container",
         [](Bench& bench) {
             bench.climbs_all();
             bench.host.platform.container = "docker";
             bench.fails(ProbeStep::Nccl, "ncclCommInitAll", 2);
         },
         ProbeStep::Nccl, "CE357", k_fails, ProbeVerdict::Fails, "do not reach each other",
         "--shm-size", "NCCL_P2P_DISABLE=1"},
    };
}

} // namespace cudaenv::testing
