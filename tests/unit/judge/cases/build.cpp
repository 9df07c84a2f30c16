// The compiler, and torch's extensions.
#include "host/probe/build_trial.hpp"
#include "tests/unit/judge/cases/rows.hpp"

namespace cudaenv::testing {

namespace {

std::string cause_in(const char* output) {
    host::ChildOutcome outcome;
    outcome.error = output;
    return probe::cause_line(outcome);
}

Change builds(const char* message) {
    return [=](Bench& bench) {
        bench.rung(ProbeStep::Build).path = "/usr/local/cuda-13.0/bin/nvcc";
        bench.refuses(ProbeStep::Build, "nvcc", message);
        bench.rung(ProbeStep::Build).error = 1;
        bench.rung(ProbeStep::Build).cause = cause_in(message);
    };
}

Change extends(const char* message) {
    return [=](Bench& bench) {
        bench.rung(ProbeStep::TorchExtension).path = "/usr/local/cuda-13.0/bin/nvcc";
        bench.refuses(ProbeStep::TorchExtension, "torch.utils.cpp_extension.load", message);
        bench.rung(ProbeStep::TorchExtension).error = 1;
        bench.rung(ProbeStep::TorchExtension).cause = cause_in(message);
    };
}

// The program was built, and the launch of its kernel was refused.
Change launches(int error, const char* name) {
    return [=](Bench& bench) {
        bench.rung(ProbeStep::Build).path = "/usr/local/cuda-13.0/bin/nvcc";
        bench.rung(ProbeStep::Build).version = DottedVersion::of("13.0.48");
        bench.fails(ProbeStep::Build, "kernel launch", error, name);
    };
}

} // namespace

std::vector<Case> build_cases() {
    return {
        {"nvcc whose parts are of two releases shows ptxas's cause, and is replaced as a whole",
         builds("ptxas /tmp/tmpxft_0000171b_00000000-6_program.ptx, line 9; fatal   : Unsupported "
                ".version 9.5; current version is '9.0'\nptxas fatal   : Ptx assembly aborted due "
                "to errors"),
         ProbeStep::Build,
         "CE363",
         k_fails,
         ProbeVerdict::Fails,
         "mixed",
         {{"said", "ptxas fatal : Unsupported .version 9.5; current version is '9.0'"},
          {"recipe_command",
           "/home/me/env/bin/python -m pip install "
           "'cuda-toolkit[nvcc,cudart,cccl,cublas,cusparse,cusolver,curand,cufft,nvrtc,nvtx]==13.0."
           "*'"}}},
        {"a host compiler that is too new, and one here that is not",
         [](Bench& bench) {
             bench.host.compilers = {
                 {facts::CompilerFamily::Gcc, DottedVersion::of("9.4.0"), "/usr/bin/g++-9", "PATH"},
                 {facts::CompilerFamily::Gcc, DottedVersion::of("11.4.0"), "/usr/bin/g++-11",
                  "PATH"},
                 {facts::CompilerFamily::Gcc, DottedVersion::of("12.2.0"), "/usr/bin/g++", "PATH"}};
             builds(
                 "In file included from <command-line>:\nhost_config.h:132:2: error: #error -- "
                 "unsupported GNU version! gcc versions later than 11 are not supported!")(bench);
         },
         ProbeStep::Build,
         "CE360",
         k_fails,
         ProbeVerdict::Fails,
         "here",
         {{"compiler", "gcc"},
          {"limit", "no version later than 11"},
          {"gcc", "11.4.0"},
          {"path", "/usr/bin/g++-11"}}},
        {"clang that is too new",
         builds("error: -- unsupported clang version! clang version must be less than 16 and "
                "greater than 3.2"),
         ProbeStep::Build,
         "CE360",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"compiler", "clang"},
          {"limit", "versions below 16"},
          {"recipe", "install a g++ that it supports"},
          {"recipe_command", "cudaenv toolkits"}}},
        {"a GPU that nvcc does not know",
         builds("nvcc fatal   : Unsupported gpu architecture 'sm_61'"),
         ProbeStep::Build,
         "CE361",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"sm", "sm_61"}}},
        {"nothing to build with is a note",
         [](Bench& bench) { bench.skips(ProbeStep::Build, "no nvcc was chosen"); },
         ProbeStep::Build,
         "CE362",
         k_skipped,
         ProbeVerdict::Ok,
         "",
         {{"said", "no nvcc was chosen"},
          {"recipe", "install nvcc 13.0 with headers and libraries, into the environment"},
          {"recipe_command", "/home/me/env/bin/python -m pip install "
                             "'cuda-toolkit[nvcc,cudart,cccl,cublas,cusparse,cusolver,curand,cufft,"
                             "nvrtc,nvtx]==13.0.*'"}}},
        {"a linker's words are kept",
         builds("/usr/bin/ld: cannot find -lcudart_static: No such file or directory\ncollect2: "
                "error: ld returned 1 exit status"),
         ProbeStep::Build,
         "CE363",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"said", "/usr/bin/ld: cannot find -lcudart_static: No such file or directory"}}},
        {"what was built meets CUDA's own errors, by nvcc's CUDA",
         [](Bench& bench) {
             bench.rung(ProbeStep::Build).version = DottedVersion::of("13.5.37");
             bench.rung(ProbeStep::Build).path = "/usr/local/cuda-13.5/bin/nvcc";
             bench.gives_cuda("550.54.15", "12.4");
             bench.runs_on("12.4");
             bench.environment.frameworks.clear();
             bench.rung(ProbeStep::Build).result = ProbeResult::Failed;
             bench.rung(ProbeStep::Build).call = "cudaMalloc";
             bench.rung(ProbeStep::Build).error = 35;
             bench.rung(ProbeStep::Build).error_name = "cudaErrorInsufficientDriver";
         },
         ProbeStep::Build,
         "CE322",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"seen", "cudaMalloc: error 35"},
          {"driver", "driver 550.54.15"},
          {"gives", "12.4"},
          {"runtime", "CUDA 13.5"},
          {"family", "CUDA 13.x"},
          {"floor", "580.65.06"},
          {"build", "torch 2.6.0+cu124, or another build for CUDA 12.4 or older"},
          {"command", "cudaenv resolve torch --cuda 12.4"}}},
        {"a launch of what was built that finds no code meets that error's own cause",
         launches(209, "cudaErrorNoKernelImageForDevice"),
         ProbeStep::Build,
         "CE328",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"seen", "kernel launch: error 209"}, {"gpu", "NVIDIA H200 (sm_90)"}}},
        {"a launch of what was built whose PTX is refused names the ceiling",
         launches(222, "cudaErrorUnsupportedPtxVersion"),
         ProbeStep::Build,
         "CE330",
         k_fails,
         ProbeVerdict::Fails,
         "built",
         {{"seen", "kernel launch: error 222"},
          {"driver", "driver 580.159.04"},
          {"newest", "13.0"}}},
        {"a launch of what was built that breaks is reported as that",
         launches(700, "cudaErrorIllegalAddress"),
         ProbeStep::Build,
         "CE334",
         k_fails,
         ProbeVerdict::Fails,
         "other",
         {{"seen", "kernel launch: error 700"},
          {"gpu", "NVIDIA H200 (sm_90)"},
          {"ran", "the built program"}}},
        {"an extension's launch that finds no code meets that error's own cause",
         extends("RuntimeError: kernel launch 222 cudaErrorUnsupportedPtxVersion\nException raised "
                 "from add_one"),
         ProbeStep::TorchExtension,
         "CE330",
         k_fails,
         ProbeVerdict::Fails,
         "built",
         {{"seen", "kernel launch: error 222"},
          {"driver", "driver 580.159.04"},
          {"newest", "13.0"}}},
        {"a compiler that was killed is not broken",
         builds("program.cu: g++: fatal error: Killed signal terminated program cc1plus\n"
                "compilation terminated."),
         ProbeStep::Build,
         "CE373",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {}},
        {"an nvcc that was killed is not broken",
         [](Bench& bench) {
             bench.refuses(ProbeStep::Build, "nvcc itself", "/opt/nvcc: ended by signal 9");
         },
         ProbeStep::Build,
         "CE373",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {}},
        {"what was built and broke by itself is reported with its signal, and no compiler's words",
         [](Bench& bench) { bench.refuses(ProbeStep::Build, "the program", "ended by signal 11"); },
         ProbeStep::Build,
         "CE363",
         k_fails,
         ProbeVerdict::Fails,
         "program",
         {{"said", "ended by signal 11"}}},
        {"a torch that is not imported is reported before anything that was built",
         [](Bench& bench) {
             bench.refuses(ProbeStep::TorchExtension, "import torch",
                           "OSError: libcudart.so.77: cannot open shared object file: No such file "
                           "or directory");
         },
         ProbeStep::TorchExtension,
         "CE374",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"said", "OSError: libcudart.so.77: cannot open shared object file: No such fil..."},
          {"all",
           "OSError: libcudart.so.77: cannot open shared object file: No such file or directory"},
          {"python", "/home/me/env/bin/python"}}},
        {"an extension that wants a library of torch's own is sent to no package of CUDA's",
         extends("ImportError: libc10xx.so: cannot open shared object file: No such file or "
                 "directory"),
         ProbeStep::TorchExtension,
         "CE369",
         k_fails,
         ProbeVerdict::Fails,
         "import",
         {{"said",
           "ImportError: libc10xx.so: cannot open shared object file: No such file or directory"},
          {"python", "/home/me/env/bin/python"}}},
        {"a TMPDIR that is full is reported as that",
         [](Bench& bench) {
             bench.refuses(ProbeStep::Build, "write", "/mnt/t: No space left on device");
         },
         ProbeStep::Build,
         "CE364",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"said", "/mnt/t: No space left on device"}, {"all", "/mnt/t: No space left on device"}}},
        {"a TMPDIR with a name at which nvcc breaks is reported as that",
         [](Bench& bench) {
             bench.refuses(ProbeStep::Build, "temporary directory",
                           "a comma in its name: /mnt/a,b");
         },
         ProbeStep::Build,
         "CE364",
         k_fails,
         ProbeVerdict::Fails,
         "name",
         {{"said", "a comma in its name: /mnt/a,b"}}},
        {"nvcc of another major than torch, in the words of 1.13",
         extends(
             "RuntimeError: \nThe detected CUDA version (11.8) mismatches the version that was "
             "used to compile\nPyTorch (13.0). Please make sure to use the same CUDA versions."),
         ProbeStep::TorchExtension,
         "CE365",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"nvcc", "11.8"}}},
        {"nvcc of another major than torch, in the words of 2.8",
         extends("The detected CUDA version (11.8) mismatches the version that was used to "
                 "compilePyTorch (13.0). Please make sure to use the same CUDA versions."),
         ProbeStep::TorchExtension,
         "CE365",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"nvcc", "11.8"}}},
        {"nvcc of another minor than torch is a warning",
         [](Bench& bench) {
             bench.rung(ProbeStep::TorchExtension).message =
                 "The detected CUDA version (13.5) has a minor version mismatch with the version "
                 "that was used to compile PyTorch (13.0). Most likely this shouldn't be a "
                 "problem.";
         },
         ProbeStep::TorchExtension,
         "CE366",
         k_warns,
         ProbeVerdict::Warns,
         "",
         {{"nvcc", "13.5"}, {"torch", "13.0"}}},
        {"nvcc of another minor is known by its version, too",
         [](Bench& bench) {
             bench.rung(ProbeStep::TorchExtension).version = DottedVersion::of("13.5.37");
             bench.rung(ProbeStep::TorchExtension).message = "torch 2.11.0, CUDA 13.0";
         },
         ProbeStep::TorchExtension,
         "CE366",
         k_warns,
         ProbeVerdict::Warns,
         "",
         {{"nvcc", "13.5"}, {"torch", "13.0"}}},
        {"torch without an nvcc to be found",
         extends("CUDA was not found on the system, please set the CUDA_HOME or the CUDA_PATH "
                 "environment variable or add NVCC to your system PATH."),
         ProbeStep::TorchExtension,
         "CE367",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"recipe", "install nvcc 13.0 with headers and libraries, into the environment"},
          {"recipe_command", "/home/me/env/bin/python -m pip install "
                             "'cuda-toolkit[nvcc,cudart,cccl,cublas,cusparse,cusolver,curand,cufft,"
                             "nvrtc,nvtx]==13.0.*'"}}},
        {"torch without CUDA",
         extends("AssertionError: Torch not compiled with CUDA enabled"),
         ProbeStep::TorchExtension,
         "CE368",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {}},
        {"torch without CUDA, for which nothing was tried",
         [](Bench& bench) {
             bench.skips(ProbeStep::TorchExtension, "torch 2.11.0+cpu is a build without CUDA");
             bench.rung(ProbeStep::TorchExtension).reason = RungReason::CpuBuild;
         },
         ProbeStep::TorchExtension,
         "CE368",
         k_skipped,
         ProbeVerdict::Ok,
         "untried",
         {}},
        {"an extension that does not build has the compiler's line",
         extends(
             "ninja: Entering directory\nextension.cu(3): error: identifier \"x\" is undefined\n"
             "RuntimeError: Error building extension 'cudaenv_trial'"),
         ProbeStep::TorchExtension,
         "CE369",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"said", "extension.cu(3): error: identifier \"x\" is undefined"}}},
        {"torch that finds the driver too old",
         [](Bench& bench) {
             bench.gives_cuda("570.86.10", "12.8");
             extends("RuntimeError: The NVIDIA driver on your system is too old (found version "
                     "12080). Please update your GPU driver")(bench);
         },
         ProbeStep::TorchExtension,
         "CE370",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"family", "CUDA 13.x"},
          {"floor", "580.65.06"},
          {"found", "found version 12080"},
          {"build", "torch 2.14.1+cu126, or another build for CUDA 12.8 or older"},
          {"command", "cudaenv resolve torch --cuda 12.6"}}},
        {"torch without code for the GPU",
         extends("NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the "
                 "current PyTorch installation."),
         ProbeStep::TorchExtension,
         "CE328",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"seen", "torch"}, {"gpu", "NVIDIA H200 (sm_90)"}}},
        {"torch 1 that dropped the GPU",
         extends("UserWarning: \n    Found GPU0 Tesla K40m which is of cuda capability 3.5.\n    "
                 "PyTorch no longer supports this GPU because it is too old.\n    The minimum cuda "
                 "capability supported by this library is 3.7."),
         ProbeStep::TorchExtension,
         "CE328",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"seen", "torch"}, {"gpu", "NVIDIA H200 (sm_90)"}}},
        {"torch 2 that has no code for the GPU, by its range",
         extends("UserWarning: \n    Found GPU0 Tesla V100 which is of cuda capability 7.0.\n    "
                 "Minimum and Maximum cuda capability supported by this version of PyTorch is\n    "
                 "(7.5) - (12.0)"),
         ProbeStep::TorchExtension,
         "CE328",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"seen", "torch"}, {"gpu", "NVIDIA H200 (sm_90)"}}},
        {"torch whose kernels are not for the GPU",
         extends("RuntimeError: CUDA error: no kernel image is available for execution on the "
                 "device"),
         ProbeStep::TorchExtension,
         "CE328",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"seen", "torch"}, {"gpu", "NVIDIA H200 (sm_90)"}}},
        {"torch that has no table of compilers for that CUDA says nothing of weight",
         [](Bench& bench) {
             bench.rung(ProbeStep::TorchExtension).message =
                 "UserWarning: There are no g++ version bounds defined for CUDA version 13.0";
         },
         ProbeStep::TorchExtension,
         "",
         StepStatus::Ok,
         ProbeVerdict::Ok,
         "",
         {{"line", "an extension for this torch builds and runs"}}},
        {"an extension without ninja",
         extends("RuntimeError: Ninja is required to load C++ extensions (pip install ninja to get "
                 "it)"),
         ProbeStep::TorchExtension,
         "CE371",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"install", "/home/me/env/bin/python -m pip install ninja"}}},
        {"an extension without Python's headers",
         extends("torch/csrc/python_headers.h:12:10: fatal error: Python.h: No such file or "
                 "directory"),
         ProbeStep::TorchExtension,
         "CE372",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {}},
    };
}

} // namespace cudaenv::testing
