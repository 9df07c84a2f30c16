// The environment's runtime.
#include "tests/unit/probe/cases/rows.hpp"

namespace cudaenv::testing {

std::vector<Case> runtime_cases() {
    return {
        {"an environment without a runtime is a note, and the driver's own way is right",
         [](Bench& bench) {
             bench.skips(ProbeStep::Runtime,
                         "there is no libcudart; what follows allocates by the driver API itself");
         },
         ProbeStep::Runtime, "CE320", k_skipped, ProbeVerdict::Ok, "no libcudart in this env",
         "nothing here brings a CUDA runtime", "pip install nvidia-cuda-runtime"},
        {"a runtime that sees another driver than the one that was tried is a warning",
         [](Bench& bench) { bench.rung(ProbeStep::Runtime).cuda = DottedVersion::of("13.1"); },
         ProbeStep::Runtime, "CE323", k_warns, ProbeVerdict::Warns,
         "sees a driver for CUDA 13.1; the one that was tried gives 13.0", "another libcuda",
         "ldconfig -p"},
        {"a runtime that sees the driver that was tried is right",
         [](Bench& bench) { bench.rung(ProbeStep::Runtime).cuda = DottedVersion::of("13.0"); },
         ProbeStep::Runtime, "", plan::StepStatus::Ok, ProbeVerdict::Ok, "13.0", "", nullptr},
        {"a runtime in the place of one that is closed is a warning, with who may open that",
         [](Bench& bench) {
             bench.context.closed_libraries.push_back({"/home/me/env/lib/libcudart.so.13", "root",
                                                       "cudausers", 0640, false, false, true});
             bench.rung(ProbeStep::Runtime).path = "/usr/local/cuda-13.0/lib64/libcudart.so.13";
         },
         ProbeStep::Runtime, "CE356", k_warns, ProbeVerdict::Warns,
         "another one is taken, 13.0: you may not read libcudart.so.13",
         "/home/me/env/lib/libcudart.so.13 is there, but it is root's, group cudausers, mode 0640; "
         "/usr/local/cuda-13.0/lib64/libcudart.so.13 is what is left",
         "sudo usermod -aG cudausers"},
        {"likewise between two entries of LD_LIBRARY_PATH",
         [](Bench& bench) {
             bench.context.library_path = {"/opt/a", "/opt/b/"};
             bench.context.closed_libraries.push_back(
                 {"/opt/a/libcudart.so.13", "me", "me", 0, true, false, true});
             bench.rung(ProbeStep::Runtime).path = "/opt/b/libcudart.so.13";
         },
         ProbeStep::Runtime, "CE356", k_warns, ProbeVerdict::Warns, "another one is taken",
         "/opt/a/libcudart.so.13 is there", "chmod u+r /opt/a/libcudart.so.13"},
        {"a closed runtime farther away than the one that was taken is nothing to tell",
         [](Bench& bench) {
             bench.context.library_path = {"/opt/a"};
             bench.context.closed_libraries.push_back(
                 {"/opt/a/libcudart.so.13", "me", "me", 0, true});
         },
         ProbeStep::Runtime, "", StepStatus::Ok, ProbeVerdict::Ok, "13.0 of this env", "", nullptr},
        {"a runtime in the place of a closed one that fails has both told",
         [](Bench& bench) {
             bench.context.closed_libraries.push_back(
                 {"/opt/a/libcudart.so.13", "me", "me", 0, true, false, true});
             bench.fails(ProbeStep::Runtime, "cudaGetDeviceCount", 35,
                         "cudaErrorInsufficientDriver");
         },
         ProbeStep::Runtime, "CE323", k_fails, ProbeVerdict::Fails, "error 35",
         "/opt/a/libcudart.so.13, which comes first, may not be read",
         "chmod u+r /opt/a/libcudart.so.13"},
        {"another library that is closed is none of the runtime's",
         [](Bench& bench) {
             bench.context.closed_libraries.push_back(
                 {"/home/me/env/lib/libcublas.so.13", "root", "root", 0600, false, false, true});
             bench.rung(ProbeStep::Runtime).path = "/usr/local/cuda-13.0/lib64/libcudart.so.13";
         },
         ProbeStep::Runtime, "", StepStatus::Ok, ProbeVerdict::Ok, "not of this env", "", nullptr},
        {"a libcudart that is cut short is named with its sizes",
         does_not_load(ProbeStep::Runtime,
                       "cut short: /home/me/env/lib/libcudart.so.13 has 64 bytes of at least "
                       "800000",
                       "/home/me/env/lib/libcudart.so.13"),
         ProbeStep::Runtime, "CE350", k_fails, ProbeVerdict::Fails,
         "the CUDA runtime does not load: libcudart.so.13 is cut short",
         "/home/me/env/lib/libcudart.so.13 has 64 bytes of at least 800000",
         "pip install --force-reinstall nvidia-cuda-runtime"},
        {"what the loader refuses for a reason of its own is named by its path",
         does_not_load(ProbeStep::Runtime,
                       "libcudart.so.13: cannot read file data: Input/output error",
                       "/mnt/nfs/env/lib/libcudart.so.13"),
         ProbeStep::Runtime, "CE321", k_fails, ProbeVerdict::Fails, "Input/output error",
         "/mnt/nfs/env/lib/libcudart.so.13 is there", "--force-reinstall"},
        {"a libcudart that does not load has the loader's words",
         [](Bench& bench) {
             bench.refuses(ProbeStep::Runtime, "dlopen",
                           "/opt/libcudart.so.13: cannot read file data: Input/output error");
         },
         ProbeStep::Runtime, "CE321", k_fails, ProbeVerdict::Fails, "Input/output error", "loader",
         "--force-reinstall nvidia-cuda-runtime"},
        {"a broken libcudart of CUDA 11 is had anew by that major's package",
         does_not_load(ProbeStep::Runtime, "/opt/libcudart.so.11.0: file too short"),
         ProbeStep::Runtime, "CE350", k_fails, ProbeVerdict::Fails, "file too short", "damaged",
         "pip install --force-reinstall nvidia-cuda-runtime-cu11"},
        {"a broken libcudart of CUDA 12 likewise",
         does_not_load(ProbeStep::Runtime, "/opt/libcudart.so.12: file too short"),
         ProbeStep::Runtime, "CE350", k_fails, ProbeVerdict::Fails, "file too short", "damaged",
         "pip install --force-reinstall nvidia-cuda-runtime-cu12"},
        {"in a conda environment a broken libcudart of CUDA 12 is cuda-cudart's",
         both(in_conda, does_not_load(ProbeStep::Runtime,
                                      "/home/me/env/lib/libcudart.so.12: file too short")),
         ProbeStep::Runtime, "CE350", k_fails, ProbeVerdict::Fails, "file too short", "damaged",
         "conda install --force-reinstall cuda-cudart"},
        {"in a conda environment a broken libcudart of CUDA 11 is cudatoolkit's",
         both(in_conda, does_not_load(ProbeStep::Runtime,
                                      "/home/me/env/lib/libcudart.so.11.0: file too short")),
         ProbeStep::Runtime, "CE350", k_fails, ProbeVerdict::Fails, "file too short", "damaged",
         "conda install --force-reinstall cudatoolkit"},
        {"torch's own copy of libcudart comes anew with torch",
         does_not_load(ProbeStep::Runtime, "/home/me/env/lib/python3.12/site-packages/torch/lib/"
                                           "libcudart-d0da41ae.so.11.0: file too short"),
         ProbeStep::Runtime, "CE350", k_fails, ProbeVerdict::Fails, "file too short", "damaged",
         "pip install --force-reinstall torch"},
        {"35 below the family's floor names the floor and an older build",
         [](Bench& bench) {
             bench.gives_cuda("550.54.15", "12.4");
             bench.fails(ProbeStep::Runtime, "cudaGetDeviceCount", 35,
                         "cudaErrorInsufficientDriver");
         },
         ProbeStep::Runtime, "CE322", k_fails, ProbeVerdict::Fails,
         "driver 550.54.15 gives CUDA 12.4, too old for CUDA 13.0",
         "CUDA 13.x runs on driver 580.65.06 and newer", "cudaenv resolve torch --cuda 12.4"},
        {"35 of a runtime before CUDA 11 has the toolkit's own minimum as its floor",
         [](Bench& bench) {
             bench.gives_cuda("410.48", "10.0");
             bench.runs_on("10.2");
             bench.fails(ProbeStep::Runtime, "cudaGetDeviceCount", 35);
         },
         ProbeStep::Runtime, "CE322", k_fails, ProbeVerdict::Fails, "too old for CUDA 10.2",
         "440.33", "cudaenv resolve torch --cuda 10.0"},
        {"35 without any driver is that there is none",
         [](Bench& bench) {
             bench.host.driver.reset();
             bench.report.rungs.clear();
             bench.runs_on("13.0");
             bench.fails(ProbeStep::Runtime, "cudaGetDeviceCount", 35);
         },
         ProbeStep::Runtime, "CE301", k_fails, ProbeVerdict::NoDriver, "there is no driver",
         "libcuda.so.1", "sudo apt install"},
        {"35 with a driver that is new enough is another libcuda",
         [](Bench& bench) {
             bench.fails(ProbeStep::Runtime, "cudaGetDeviceCount", 35,
                         "cudaErrorInsufficientDriver");
         },
         ProbeStep::Runtime, "CE323", k_fails, ProbeVerdict::Fails,
         "though driver 580.159.04 gives CUDA 13.0", "another libcuda", "ldconfig"},
        {"a driver below the runtime's minor runs machine code only",
         [](Bench& bench) { bench.runs_on("13.5"); }, ProbeStep::Runtime, "CE325", k_warns,
         ProbeVerdict::Warns, "machine code runs, PTX newer than CUDA 13.0 does not",
         "torch.compile", "cudaenv pin 13.0"},
    };
}

} // namespace cudaenv::testing
