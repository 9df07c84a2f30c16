// The compiler, and torch's extensions.
#include "tests/unit/probe/cases/rows.hpp"

namespace cudaenv::testing {

namespace {

Change builds(const char* message) {
    return [=](Bench& bench) {
        bench.rung(ProbeStep::Build).path = "/usr/local/cuda-13.0/bin/nvcc";
        bench.refuses(ProbeStep::Build, "nvcc", message);
        bench.rung(ProbeStep::Build).error = 1;
    };
}

Change extends(const char* message) {
    return [=](Bench& bench) {
        bench.rung(ProbeStep::TorchExtension).path = "/usr/local/cuda-13.0/bin/nvcc";
        bench.refuses(ProbeStep::TorchExtension, "torch.utils.cpp_extension.load", message);
        bench.rung(ProbeStep::TorchExtension).error = 1;
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
         ProbeStep::Build, "CE360", k_fails, ProbeVerdict::Fails,
         "nvcc refuses this gcc: it takes none later than 11", "host_config.h",
         "export CUDAHOSTCXX=/usr/bin/g++-11"},
        {"clang that is too new",
         builds("error: -- unsupported clang version! clang version must be less than 16 and "
                "greater than 3.2"),
         ProbeStep::Build, "CE360", k_fails, ProbeVerdict::Fails,
         "nvcc refuses this clang: it takes those below 16", "host_config.h", "cudaenv toolkits"},
        {"a GPU that nvcc does not know",
         builds("nvcc fatal   : Unsupported gpu architecture 'sm_61'"), ProbeStep::Build, "CE361",
         k_fails, ProbeVerdict::Fails, "nvcc does not know sm_61", "13 has none below sm_75",
         "cudaenv toolkits"},
        {"nothing to build with is a note",
         [](Bench& bench) { bench.skips(ProbeStep::Build, "no nvcc was chosen"); },
         ProbeStep::Build, "CE362", k_skipped, ProbeVerdict::Ok, "no nvcc was chosen",
         "running needs neither", "conda install"},
        {"a linker's words are kept",
         builds("/usr/bin/ld: cannot find -lcudart_static: No such file or directory\ncollect2: "
                "error: ld returned 1 exit status"),
         ProbeStep::Build, "CE363", k_fails, ProbeVerdict::Fails, "cannot find -lcudart_static",
         "a small program", "cudaenv probe --build"},
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
         ProbeStep::Build, "CE322", k_fails, ProbeVerdict::Fails, "too old for CUDA 13.5",
         "580.65.06", "cudaenv resolve"},
        {"a launch of what was built that finds no code meets that error's own cause",
         launches(209, "cudaErrorNoKernelImageForDevice"), ProbeStep::Build, "CE328", k_fails,
         ProbeVerdict::Fails, "kernel launch: error 209: no machine code for", "", ""},
        {"a launch of what was built whose PTX is refused names the ceiling",
         launches(222, "cudaErrorUnsupportedPtxVersion"), ProbeStep::Build, "CE330", k_fails,
         ProbeVerdict::Fails, "kernel launch: error 222", "nvcc is newer", "cudaenv pin 13.0"},
        {"a launch of what was built that breaks is told as that",
         launches(700, "cudaErrorIllegalAddress"), ProbeStep::Build, "CE334", k_fails,
         ProbeVerdict::Fails, "the program that was built broke", "", "xid"},
        {"an extension's launch that finds no code meets that error's own cause",
         extends("RuntimeError: kernel launch 222 cudaErrorUnsupportedPtxVersion\nException raised "
                 "from add_one"),
         ProbeStep::TorchExtension, "CE330", k_fails, ProbeVerdict::Fails,
         "kernel launch: error 222", "nvcc is newer", "cudaenv pin 13.0"},
        {"a compiler that was killed is not broken",
         builds("program.cu: g++: fatal error: Killed signal terminated program cc1plus\n"
                "compilation terminated."),
         ProbeStep::Build, "CE373", k_fails, ProbeVerdict::Fails, "the compiler was killed",
         "for want of memory", "dmesg"},
        {"an nvcc that was killed is not broken",
         [](Bench& bench) {
             bench.refuses(ProbeStep::Build, "nvcc itself", "/opt/nvcc: ended by signal 9");
         },
         ProbeStep::Build, "CE373", k_fails, ProbeVerdict::Fails, "the compiler was killed",
         "a job limit", "dmesg"},
        {"what was built and broke by itself is told with its signal, and no compiler's words",
         [](Bench& bench) { bench.refuses(ProbeStep::Build, "the program", "ended by signal 11"); },
         ProbeStep::Build, "CE363", k_fails, ProbeVerdict::Fails, "ended by signal 11", "",
         "sudo dmesg | tail"},
        {"a torch that is not imported is told before anything that was built",
         [](Bench& bench) {
             bench.refuses(ProbeStep::TorchExtension, "import torch",
                           "OSError: libcudart.so.77: cannot open shared object file: No such file "
                           "or directory");
         },
         ProbeStep::TorchExtension, "CE374", k_fails, ProbeVerdict::Fails,
         "torch cannot be imported: OSError: libcudart.so.77", "whatever is built",
         "/bin/python -c 'import torch'"},
        {"an extension that wants a library of torch's own is sent to no package of CUDA's",
         extends("ImportError: libc10xx.so: cannot open shared object file: No such file or "
                 "directory"),
         ProbeStep::TorchExtension, "CE369", k_fails, ProbeVerdict::Fails, "libc10xx.so", "",
         "/bin/python -c 'import torch'"},
        {"a TMPDIR that is full is told as that",
         [](Bench& bench) {
             bench.refuses(ProbeStep::Build, "write", "/mnt/t: No space left on device");
         },
         ProbeStep::Build, "CE364", k_fails, ProbeVerdict::Fails,
         "the trial cannot be written: /mnt/t: No space left on device", "below TMPDIR",
         "export TMPDIR=~/tmp"},
        {"a TMPDIR with a name at which nvcc breaks is told as that",
         [](Bench& bench) {
             bench.refuses(ProbeStep::Build, "temporary directory",
                           "a comma in its name: /mnt/a,b");
         },
         ProbeStep::Build, "CE364", k_fails, ProbeVerdict::Fails,
         "TMPDIR has a comma in its name: /mnt/a,b", "breaks at this character",
         "export TMPDIR=~/tmp"},
        {"nvcc of another major than torch, in the words of 1.13",
         extends(
             "RuntimeError: \nThe detected CUDA version (11.8) mismatches the version that was "
             "used to compile\nPyTorch (13.0). Please make sure to use the same CUDA versions."),
         ProbeStep::TorchExtension, "CE365", k_fails, ProbeVerdict::Fails, "nvcc is of CUDA 11.8",
         "another major", "cudaenv toolkits"},
        {"nvcc of another major than torch, in the words of 2.8",
         extends("The detected CUDA version (11.8) mismatches the version that was used to "
                 "compilePyTorch (13.0). Please make sure to use the same CUDA versions."),
         ProbeStep::TorchExtension, "CE365", k_fails, ProbeVerdict::Fails, "nvcc is of CUDA 11.8",
         "", ""},
        {"nvcc of another minor than torch is a warning",
         [](Bench& bench) {
             bench.rung(ProbeStep::TorchExtension).message =
                 "The detected CUDA version (13.5) has a minor version mismatch with the version "
                 "that was used to compile PyTorch (13.0). Most likely this shouldn't be a "
                 "problem.";
         },
         ProbeStep::TorchExtension, "CE366", k_warns, ProbeVerdict::Warns, "nvcc is of CUDA 13.5",
         "accepts another minor", ""},
        {"nvcc of another minor is known by its version, too",
         [](Bench& bench) {
             bench.rung(ProbeStep::TorchExtension).version = DottedVersion::of("13.5.37");
             bench.rung(ProbeStep::TorchExtension).message = "torch 2.11.0, CUDA 13.0";
         },
         ProbeStep::TorchExtension, "CE366", k_warns, ProbeVerdict::Warns,
         "nvcc is of CUDA 13.5, torch of 13.0", "accepts another minor", ""},
        {"torch without an nvcc to be found",
         extends("CUDA was not found on the system, please set the CUDA_HOME or the CUDA_PATH "
                 "environment variable or add NVCC to your system PATH."),
         ProbeStep::TorchExtension, "CE367", k_fails, ProbeVerdict::Fails, "torch finds no nvcc",
         "CUDA_HOME", "conda install"},
        {"torch without CUDA", extends("AssertionError: Torch not compiled with CUDA enabled"),
         ProbeStep::TorchExtension, "CE368", k_fails, ProbeVerdict::Fails, "build without CUDA",
         "another package's requirement", "cudaenv resolve torch torchvision torchaudio"},
        {"torch without CUDA, for which nothing was tried",
         [](Bench& bench) {
             bench.skips(ProbeStep::TorchExtension, "torch 2.11.0+cpu is a build without CUDA");
         },
         ProbeStep::TorchExtension, "CE368", k_skipped, ProbeVerdict::Ok, "build without CUDA", "",
         ""},
        {"an extension that does not build has the compiler's line",
         extends(
             "ninja: Entering directory\nextension.cu(3): error: identifier \"x\" is undefined\n"
             "RuntimeError: Error building extension 'cudaenv_trial'"),
         ProbeStep::TorchExtension, "CE369", k_fails, ProbeVerdict::Fails,
         "error: identifier \"x\" is undefined", "", "cudaenv probe --build"},
        {"torch that finds the driver too old",
         [](Bench& bench) {
             bench.gives_cuda("570.86.10", "12.8");
             extends("RuntimeError: The NVIDIA driver on your system is too old (found version "
                     "12080). Please update your GPU driver")(bench);
         },
         ProbeStep::TorchExtension, "CE370", k_fails, ProbeVerdict::Fails,
         "too old (found version 12080)", "580.65.06", "cudaenv resolve torch --cuda 12.6"},
        {"torch without code for the GPU",
         extends("NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the "
                 "current PyTorch installation."),
         ProbeStep::TorchExtension, "CE328", k_fails, ProbeVerdict::Fails, "torch: no machine code",
         "", ""},
        {"torch 1 that dropped the GPU",
         extends("UserWarning: \n    Found GPU0 Tesla K40m which is of cuda capability 3.5.\n    "
                 "PyTorch no longer supports this GPU because it is too old.\n    The minimum cuda "
                 "capability supported by this library is 3.7."),
         ProbeStep::TorchExtension, "CE328", k_fails, ProbeVerdict::Fails, "torch: no machine code",
         "", ""},
        {"torch 2 that has no code for the GPU, by its range",
         extends("UserWarning: \n    Found GPU0 Tesla V100 which is of cuda capability 7.0.\n    "
                 "Minimum and Maximum cuda capability supported by this version of PyTorch is\n    "
                 "(7.5) - (12.0)"),
         ProbeStep::TorchExtension, "CE328", k_fails, ProbeVerdict::Fails, "torch: no machine code",
         "", ""},
        {"torch whose kernels are not for the GPU",
         extends("RuntimeError: CUDA error: no kernel image is available for execution on the "
                 "device"),
         ProbeStep::TorchExtension, "CE328", k_fails, ProbeVerdict::Fails, "torch: no machine code",
         "", ""},
        {"torch that has no table of compilers for that CUDA says nothing of weight",
         [](Bench& bench) {
             bench.rung(ProbeStep::TorchExtension).message =
                 "UserWarning: There are no g++ version bounds defined for CUDA version 13.0";
         },
         ProbeStep::TorchExtension, "", StepStatus::Ok, ProbeVerdict::Ok,
         "an extension for this torch builds and runs", "", nullptr},
        {"an extension without ninja",
         extends("RuntimeError: Ninja is required to load C++ extensions (pip install ninja to get "
                 "it)"),
         ProbeStep::TorchExtension, "CE371", k_fails, ProbeVerdict::Fails, "ninja", "",
         "pip install ninja"},
        {"an extension without Python's headers",
         extends("torch/csrc/python_headers.h:12:10: fatal error: Python.h: No such file or "
                 "directory"),
         ProbeStep::TorchExtension, "CE372", k_fails, ProbeVerdict::Fails, "Python.h is not here",
         "", "python3-dev"},
    };
}

} // namespace cudaenv::testing
