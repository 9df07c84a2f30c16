#include "cases.hpp"

#include <algorithm>

namespace cudaenv::testing {

using facts::ProbeResult;
using facts::ProbeRung;
using facts::ProbeStep;
using plan::ProbeVerdict;
using plan::StepStatus;
using Ending = facts::ProbeReport::Ending;

namespace {

constexpr const char* k_runtime = "/home/me/env/lib/python3.12/site-packages/nvidia/cu13/lib/"
                                  "libcudart.so.13";

bool is_of_gpu(ProbeStep step) {
    return step == ProbeStep::Gpu || (step >= ProbeStep::Memory && step <= ProbeStep::Cudnn);
}

} // namespace

Bench::Bench() {
    host.driver = facts::Driver{DottedVersion::of("580.159.04"), std::nullopt, std::nullopt, false,
                                "/proc/driver/nvidia/version"};
    host.distribution = "Debian 12";
    facts::Gpu gpu;
    gpu.name = "NVIDIA H200";
    gpu.uuid = "GPU-8f6f6a3e-1111-2222-3333-444444444444";
    gpu.compute_capability = ComputeCapability{9, 0};
    host.gpus.push_back(gpu);
    environment.prefix = "/home/me/env";
    environment.kind = facts::EnvironmentKind::Venv;
    environment.site_packages = {"/home/me/env/lib/python3.12/site-packages"};
    environment.frameworks.push_back(
        {"torch", "2.11.0+cu130", DottedVersion::of("13.0"), false, "torch/version.py"});
    context.host = &host;
    context.environment = &environment;
    context.environment_name = "env";
    context.device_files = true;

    loads_libcuda("/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04");
    rung(ProbeStep::Driver).devices = 1;
    gives_cuda("580.159.04", "13.0");
    has_gpu("NVIDIA H200", {9, 0});
    runs_on("13.0");
    rung(ProbeStep::Memory).memory_free = 100ULL << 30U;
    rung(ProbeStep::Kernel).architecture = "sm_90";
}

ProbeRung& Bench::rung(ProbeStep step) {
    for (ProbeRung& one : report.rungs) {
        if (one.step == step && one.gpu.value_or(0) == 0) {
            return one;
        }
    }
    ProbeRung& made = report.rungs.emplace_back();
    made.step = step;
    if (is_of_gpu(step)) {
        made.gpu = 0;
    }
    return made;
}

void Bench::drop_after(ProbeStep step) {
    std::erase_if(report.rungs, [&](const ProbeRung& one) { return one.step > step; });
}

void Bench::fails(ProbeStep step, const char* call, int error, const char* name) {
    if (step <= ProbeStep::Memory) {
        drop_after(step);
    }
    ProbeRung& one = rung(step);
    one.result = ProbeResult::Failed;
    one.call = call;
    one.error = error;
    one.error_name = name;
}

void Bench::refuses(ProbeStep step, const char* call, const char* message) {
    if (step <= ProbeStep::Memory) {
        drop_after(step);
    }
    ProbeRung& one = rung(step);
    one.result = ProbeResult::Failed;
    one.call = call;
    one.message = message;
}

void Bench::skips(ProbeStep step, const char* message) {
    ProbeRung& one = rung(step);
    one.result = ProbeResult::Skipped;
    one.path.clear();
    one.version.reset();
    one.message = message;
}

void Bench::lost(ProbeStep step, Ending ending, const char* failure) {
    drop_after(step);
    rung(step).result = ProbeResult::Unfinished;
    report.ending = ending;
    report.failure = failure;
}

void Bench::loads_libcuda(const char* path) {
    rung(ProbeStep::Library).path = path;
}

void Bench::gives_cuda(const char* driver, const char* cuda) {
    host.driver->version = DottedVersion::of(driver);
    loads_libcuda((std::string("/usr/lib/x86_64-linux-gnu/libcuda.so.") + driver).c_str());
    rung(ProbeStep::Driver).cuda = DottedVersion::of(cuda);
}

void Bench::runs_on(const char* runtime) {
    rung(ProbeStep::Runtime).version = DottedVersion::of(runtime);
    rung(ProbeStep::Runtime).path = k_runtime;
}

void Bench::has_gpu(const char* name, ComputeCapability capability) {
    rung(ProbeStep::Gpu).name = name;
    rung(ProbeStep::Gpu).compute_capability = capability;
    rung(ProbeStep::Gpu).compute_mode = 0;
}

void Bench::climbs_all() {
    context.full = true;
    rung(ProbeStep::Ptx).isa = DottedVersion::of("6.0");
    rung(ProbeStep::PtxRuntime).isa = DottedVersion::of("9.0");
    rung(ProbeStep::Nvrtc).version = DottedVersion::of("13.0");
    rung(ProbeStep::Cublas).version = DottedVersion::of("13.1.0");
    rung(ProbeStep::Cudnn).version = DottedVersion::of("9.19.0");
    rung(ProbeStep::Cudnn).cuda = DottedVersion::of("13.0");
    rung(ProbeStep::Cudnn).path = "/home/me/env/lib/libcudnn.so.9";
    skips(ProbeStep::Nccl, "one GPU: nothing to exchange");
}

plan::ProbeOutcome Bench::judged() const {
    return plan::judge_probe(report, context);
}

namespace {

constexpr auto k_fails = StepStatus::Fails;
constexpr auto k_warns = StepStatus::Warns;
constexpr auto k_skipped = StepStatus::Skipped;

void no_device(Bench& bench) {
    bench.fails(ProbeStep::Driver, "cuInit", 100, "CUDA_ERROR_NO_DEVICE");
    bench.rung(ProbeStep::Driver).devices.reset();
}

// A kernel that breaks with this number.
std::function<void(Bench&)> breaks(int error, const char* name) {
    return [=](Bench& bench) { bench.fails(ProbeStep::Kernel, "cuCtxSynchronize", error, name); };
}

std::function<void(Bench&)> builds(const char* message) {
    return [=](Bench& bench) {
        bench.rung(ProbeStep::Build).path = "/usr/local/cuda-13.0/bin/nvcc";
        bench.refuses(ProbeStep::Build, "nvcc", message);
        bench.rung(ProbeStep::Build).error = 1;
    };
}

std::function<void(Bench&)> extends(const char* message) {
    return [=](Bench& bench) {
        bench.rung(ProbeStep::TorchExtension).path = "/usr/local/cuda-13.0/bin/nvcc";
        bench.refuses(ProbeStep::TorchExtension, "torch.utils.cpp_extension.load", message);
        bench.rung(ProbeStep::TorchExtension).error = 1;
    };
}

// The program was built, and the launch of its kernel was refused.
std::function<void(Bench&)> launches(int error, const char* name) {
    return [=](Bench& bench) {
        bench.rung(ProbeStep::Build).path = "/usr/local/cuda-13.0/bin/nvcc";
        bench.rung(ProbeStep::Build).version = DottedVersion::of("13.0.48");
        bench.fails(ProbeStep::Build, "kernel launch", error, name);
    };
}

std::function<void(Bench&)> loads(ProbeStep step, const char* message) {
    return [=](Bench& bench) {
        bench.climbs_all();
        bench.refuses(step, "dlopen", message);
    };
}

std::function<void(Bench&)> answers(ProbeStep step, const char* call, int error,
                                    const char* name = "") {
    return [=](Bench& bench) {
        bench.climbs_all();
        bench.fails(step, call, error, name);
    };
}

// A GPU of which no context was made.
std::function<void(Bench&)> leaves_alone(ProbeResult result, const char* call) {
    return [=](Bench& bench) {
        bench.drop_after(ProbeStep::Memory);
        ProbeRung& memory = bench.rung(ProbeStep::Memory);
        memory.result = result;
        memory.call = call;
        memory.memory_free.reset();
        if (result == ProbeResult::Failed) { // with the number that CUDA would have given
            memory.error = std::string_view(call) == "memory" ? 2 : 46;
            memory.error_name = "CUDA_ERROR_DEVICE_UNAVAILABLE";
        }
        memory.message = "left alone: another process is on it";
    };
}

// --- the driver ---------------------------------------------------------------------------------

std::vector<Case> driver_cases() {
    return {
        {"without libcuda there is no driver",
         [](Bench& bench) {
             bench.host.driver.reset();
             bench.rung(ProbeStep::Library).path.clear();
             bench.refuses(ProbeStep::Library, "dlopen",
                           "libcuda.so.1: cannot open shared object file: No such file or "
                           "directory");
         },
         ProbeStep::Library, "CE301", k_fails, ProbeVerdict::NoDriver,
         "no libcuda.so.1: there is no NVIDIA driver here", "programs load libcuda.so.1",
         "sudo apt install nvidia-driver"},
        {"a container without the driver's libraries is told which capability it lacks",
         [](Bench& bench) {
             bench.host.platform.container = "docker";
             bench.rung(ProbeStep::Library).path.clear();
             bench.refuses(ProbeStep::Library, "dlopen",
                           "libcuda.so.1: cannot open shared object file: No such file or "
                           "directory");
         },
         ProbeStep::Library, "CE301", k_fails, ProbeVerdict::NoDriver,
         "no libcuda.so.1 beside kernel module 580.159.04", "without the driver's compute", ""},
        {"a libcuda that does not load is broken, not absent",
         [](Bench& bench) {
             bench.refuses(ProbeStep::Library, "dlopen", "/usr/lib/libcuda.so.1: file too short");
         },
         ProbeStep::Library, "CE302", k_fails, ProbeVerdict::DriverBroken,
         "libcuda does not load: libcuda.so.1: file too short", "damaged", ""},
        {"a library that libcuda needs is not libcuda's own absence",
         [](Bench& bench) {
             bench.refuses(ProbeStep::Library, "dlopen",
                           "libnvidia-gpucomp.so.1: cannot open shared object file: No such file "
                           "or directory");
         },
         ProbeStep::Library, "CE302", k_fails, ProbeVerdict::DriverBroken, "libnvidia-gpucomp",
         "misses a library", ""},
        {"a libcuda without a function is broken",
         [](Bench& bench) {
             bench.refuses(ProbeStep::Gpu, "dlsym", "libcuda.so has no cuDeviceGetAttribute");
         },
         ProbeStep::Gpu, "CE302", k_fails, ProbeVerdict::DriverBroken,
         "libcuda lacks a function: libcuda.so has no cuDeviceGetAttribute", "very old", ""},
        {"a libcuda that only WSL's directory has is not found by programs",
         [](Bench& bench) {
             bench.host.driver.reset();
             bench.host.platform.wsl = true;
             bench.loads_libcuda("/usr/lib/wsl/drivers/nvdm.inf_amd64_1/libcuda.so.1.1");
             bench.rung(ProbeStep::Library).found_by = "wsl";
         },
         ProbeStep::Library, "CE300", k_warns, ProbeVerdict::Warns,
         "/usr/lib/wsl/lib has libcuda; the loader does not look there",
         "will not find libcuda.so.1", "echo /usr/lib/wsl/lib | sudo tee"},
        {"a libcuda that has the linker's name only is not found by programs",
         [](Bench& bench) { bench.rung(ProbeStep::Library).found_by = "linker-name"; },
         ProbeStep::Library, "CE300", k_warns, ProbeVerdict::Warns,
         "libcuda.so is found, libcuda.so.1 is not", "will not find it",
         "sudo ldconfig /usr/lib/x86_64-linux-gnu"},
        {"a libcuda that the loader found has no warning",
         [](Bench& bench) { bench.rung(ProbeStep::Library).found_by = "loader"; },
         ProbeStep::Library, "", StepStatus::Ok, ProbeVerdict::Ok, "libcuda.so.580.159.04", "",
         nullptr},
        {"a stub is recognised by its number, and its directory is named",
         [](Bench& bench) {
             bench.context.library_path = {"/opt/lib", "/usr/local/cuda-13.0/lib64/stubs"};
             bench.loads_libcuda("/usr/local/cuda-13.0/lib64/stubs/libcuda.so");
             bench.fails(ProbeStep::Driver, "cuInit", 34, "CUDA_ERROR_STUB_LIBRARY");
             bench.rung(ProbeStep::Driver).cuda.reset();
         },
         ProbeStep::Driver, "CE303", k_fails, ProbeVerdict::DriverBroken, "stub, not a driver",
         "to link against", "export LD_LIBRARY_PATH=/opt/lib"},
        {"a stub where no kernel module is loaded hides no driver",
         [](Bench& bench) {
             bench.host.driver.reset();
             bench.fails(ProbeStep::Driver, "cuInit", 34);
             bench.rung(ProbeStep::Driver).cuda.reset();
         },
         ProbeStep::Driver, "CE303", k_fails, ProbeVerdict::NoDriver, "stub, not a driver", "", ""},
        {"a library below stubs is a stub whatever it answers",
         [](Bench& bench) {
             bench.context.library_path = {"/opt/cuda/lib64/stubs"};
             bench.loads_libcuda("/opt/cuda/lib64/stubs/libcuda.so");
             bench.fails(ProbeStep::Driver, "cuInit", 999);
         },
         ProbeStep::Driver, "CE303", k_fails, ProbeVerdict::DriverBroken, "stub", "",
         "unset LD_LIBRARY_PATH"},
        {"803 from a compat directory names the entry to remove",
         [](Bench& bench) {
             bench.context.library_path = {"/usr/local/cuda/compat", "/opt/lib"};
             bench.loads_libcuda("/usr/local/cuda-13.0/compat/libcuda.so.580.95.05");
             bench.fails(ProbeStep::Driver, "cuInit", 803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH");
         },
         ProbeStep::Driver, "CE304", k_fails, ProbeVerdict::DriverBroken,
         "libcuda 580.95.05, kernel module 580.159.04", "cuda-compat's",
         "export LD_LIBRARY_PATH=/opt/lib"},
        {"803 from a compat directory of the loader's configuration ends with ldconfig",
         [](Bench& bench) {
             bench.loads_libcuda("/usr/local/cuda-13.0/compat/libcuda.so.580.95.05");
             bench.fails(ProbeStep::Driver, "cuInit", 803);
         },
         ProbeStep::Driver, "CE304", k_fails, ProbeVerdict::DriverBroken, "580.95.05", "",
         "sudo ldconfig"},
        {"803 with a newer libcuda wants a reboot",
         [](Bench& bench) {
             bench.loads_libcuda("/usr/lib/x86_64-linux-gnu/libcuda.so.590.44.01");
             bench.fails(ProbeStep::Driver, "cuInit", 803);
         },
         ProbeStep::Driver, "CE305", k_fails, ProbeVerdict::DriverBroken,
         "libcuda 590.44.01, kernel module 580.159.04", "upgraded", "sudo reboot"},
        {"804 with a newer libcuda is the same unrebooted upgrade",
         [](Bench& bench) {
             bench.loads_libcuda("/usr/lib/x86_64-linux-gnu/libcuda.so.590.44.01");
             bench.fails(ProbeStep::Driver, "cuInit", 804);
         },
         ProbeStep::Driver, "CE305", k_fails, ProbeVerdict::DriverBroken, "590.44.01", "upgraded",
         "sudo reboot"},
        {"803 with an older libcuda is one that was left over",
         [](Bench& bench) {
             bench.loads_libcuda("/usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01");
             bench.fails(ProbeStep::Driver, "cuInit", 803);
         },
         ProbeStep::Driver, "CE306", k_fails, ProbeVerdict::DriverBroken,
         "libcuda 550.163.01, kernel module 580.159.04", "left over",
         "cat /proc/driver/nvidia/version"},
        {"a left over libcuda on LD_LIBRARY_PATH is named with its directory",
         [](Bench& bench) {
             bench.context.library_path = {"/home/me/old"};
             bench.loads_libcuda("/home/me/old/libcuda.so.550.163.01");
             bench.fails(ProbeStep::Driver, "cuInit", 803);
         },
         ProbeStep::Driver, "CE306", k_fails, ProbeVerdict::DriverBroken, "550.163.01", "",
         "unset LD_LIBRARY_PATH"},
        {"a newer libcuda that works all the same is a warning",
         [](Bench& bench) {
             bench.loads_libcuda("/usr/lib/x86_64-linux-gnu/libcuda.so.590.44.01");
         },
         ProbeStep::Library, "CE305", k_warns, ProbeVerdict::Warns,
         "libcuda 590.44.01, kernel module 580.159.04", "upgraded", "sudo reboot"},
        {"804 from a compat directory says whom it serves",
         [](Bench& bench) {
             bench.context.library_path = {"/usr/local/cuda-13.0/compat/"};
             bench.loads_libcuda("/usr/local/cuda-13.0/compat/libcuda.so.590.44.01");
             bench.fails(ProbeStep::Driver, "cuInit", 804,
                         "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE");
         },
         ProbeStep::Driver, "CE307", k_fails, ProbeVerdict::DriverBroken, "590.44.01",
         "data-center GPUs only", "unset LD_LIBRARY_PATH"},
        {"804 without a version to compare names both causes",
         [](Bench& bench) {
             bench.loads_libcuda("/usr/lib/libcuda.so.1");
             bench.fails(ProbeStep::Driver, "cuInit", 804);
         },
         ProbeStep::Driver, "CE307", k_fails, ProbeVerdict::DriverBroken,
         "libcuda.so.1, kernel module 580.159.04", "or an upgrade without reboot", ""},
        {"an empty CUDA_VISIBLE_DEVICES hides every GPU",
         [](Bench& bench) {
             bench.context.visible_devices = "";
             no_device(bench);
         },
         ProbeStep::Driver, "CE308", k_fails, ProbeVerdict::NoGpu, "hides every GPU", "names none",
         "unset CUDA_VISIBLE_DEVICES"},
        {"CUDA_VISIBLE_DEVICES=-1 hides every GPU",
         [](Bench& bench) {
             bench.context.visible_devices = "-1";
             no_device(bench);
         },
         ProbeStep::Driver, "CE308", k_fails, ProbeVerdict::NoGpu, "CUDA_VISIBLE_DEVICES=-1", "",
         "unset CUDA_VISIBLE_DEVICES"},
        {"a driver that counts no device is asked why",
         [](Bench& bench) {
             bench.context.visible_devices = "-1";
             bench.rung(ProbeStep::Driver).devices = 0;
             bench.drop_after(ProbeStep::Driver);
             facts::ProbeRung gpu;
             gpu.step = ProbeStep::Gpu;
             gpu.result = ProbeResult::Skipped;
             gpu.message = "no GPU is visible";
             bench.report.rungs.push_back(gpu);
         },
         ProbeStep::Gpu, "CE308", k_fails, ProbeVerdict::NoGpu, "hides every GPU", "", ""},
        {"a container without device files was started without GPUs",
         [](Bench& bench) {
             bench.host.platform.container = "docker";
             bench.context.device_files = false;
             no_device(bench);
         },
         ProbeStep::Driver, "CE309", k_fails, ProbeVerdict::NoGpu, "was given no GPU",
         "no /dev/nvidia*", ""},
        {"a GPU without a kernel module wants the module",
         [](Bench& bench) {
             bench.host.driver.reset();
             bench.context.device_files = false;
             no_device(bench);
         },
         ProbeStep::Driver, "CE310", k_fails, ProbeVerdict::NoGpu, "does not reach the GPU",
         "kernel module is not loaded", "sudo modprobe nvidia"},
        {"a module without device files wants them made",
         [](Bench& bench) {
             bench.context.device_files = false;
             no_device(bench);
         },
         ProbeStep::Driver, "CE310", k_fails, ProbeVerdict::NoGpu, "does not reach the GPU",
         "/dev/nvidia* are missing", "sudo nvidia-modprobe"},
        {"WSL without /dev/dxg speaks of Windows, not of kernel modules",
         [](Bench& bench) {
             bench.host.driver.reset();
             bench.host.gpus.clear();
             bench.host.platform.wsl = true;
             bench.context.device_files = false;
             no_device(bench);
         },
         ProbeStep::Driver, "CE310", k_fails, ProbeVerdict::NoGpu, "does not reach the GPU",
         "/dev/dxg, which is missing", "wsl.exe --update"},
        {"WSL with /dev/dxg and no GPU asks Windows",
         [](Bench& bench) {
             bench.host.driver.reset();
             bench.host.gpus.clear();
             bench.host.platform.wsl = true;
             no_device(bench);
         },
         ProbeStep::Driver, "CE311", k_fails, ProbeVerdict::NoGpu, "no NVIDIA GPU",
         "Windows shows WSL no GPU", "wsl.exe --update"},
        {"a GPU that is there for all but the driver may have fallen off the bus", no_device,
         ProbeStep::Driver, "CE310", k_fails, ProbeVerdict::NoGpu, "does not reach the GPU",
         "fallen off the bus", "sudo dmesg"},
        {"libcuda alone, as in a package that was unpacked, is no GPU",
         [](Bench& bench) {
             bench.host.driver.reset();
             bench.host.gpus.clear();
             bench.context.device_files = false;
             no_device(bench);
         },
         ProbeStep::Driver, "CE311", k_fails, ProbeVerdict::NoGpu, "no NVIDIA GPU", "",
         "sudo modprobe nvidia"},
        {"CUDA_VISIBLE_DEVICES beyond the last GPU is told with their number",
         [](Bench& bench) {
             bench.context.visible_devices = "3,0";
             no_device(bench);
         },
         ProbeStep::Driver, "CE312", k_fails, ProbeVerdict::NoGpu,
         "CUDA_VISIBLE_DEVICES=3,0 names no GPU", "this machine has 1 GPU",
         "unset CUDA_VISIBLE_DEVICES"},
        {"CUDA_VISIBLE_DEVICES with a foreign UUID names no GPU",
         [](Bench& bench) {
             bench.context.visible_devices = "GPU-00000000-dead";
             no_device(bench);
         },
         ProbeStep::Driver, "CE312", k_fails, ProbeVerdict::NoGpu, "names no GPU", "", ""},
        {"101 is a GPU that is not there",
         [](Bench& bench) {
             bench.context.visible_devices = "0";
             bench.fails(ProbeStep::Driver, "cuInit", 101, "CUDA_ERROR_INVALID_DEVICE");
         },
         ProbeStep::Driver, "CE312", k_fails, ProbeVerdict::NoGpu, "CUDA_ERROR_INVALID_DEVICE",
         "beyond those that are visible", "unset CUDA_VISIBLE_DEVICES"},
        {"802 wants the fabric manager of the driver's version",
         [](Bench& bench) {
             bench.fails(ProbeStep::Driver, "cuInit", 802, "CUDA_ERROR_SYSTEM_NOT_READY");
         },
         ProbeStep::Driver, "CE313", k_fails, ProbeVerdict::DriverBroken, "NVSwitch is not set up",
         "fabric manager", "nvidia-fabricmanager"},
        {"999 is a driver that does not start",
         [](Bench& bench) { bench.fails(ProbeStep::Driver, "cuInit", 999, "CUDA_ERROR_UNKNOWN"); },
         ProbeStep::Driver, "CE314", k_fails, ProbeVerdict::DriverBroken,
         "the driver does not start", "nvidia_uvm", "sudo modprobe nvidia_uvm"},
        {"a number of cuInit that nobody knows is a broken driver too",
         [](Bench& bench) { bench.fails(ProbeStep::Driver, "cuInit", 4711); }, ProbeStep::Driver,
         "CE314", k_fails, ProbeVerdict::DriverBroken, "cuInit: error 4711", "", "dmesg"},
        {"a CUDA version that is none is not believed",
         [](Bench& bench) { bench.rung(ProbeStep::Driver).cuda = DottedVersion::of("2147483.6"); },
         ProbeStep::Driver, "CE315", k_fails, ProbeVerdict::DriverBroken, "2147483.6",
         "makes no sense", "ldconfig"},
        {"a version of zero is not believed either",
         [](Bench& bench) { bench.rung(ProbeStep::Driver).cuda = DottedVersion::of("0.0"); },
         ProbeStep::Driver, "CE315", k_fails, ProbeVerdict::DriverBroken, "\"0.0\"", "", ""},
        {"a driver that says no version at all",
         [](Bench& bench) { bench.rung(ProbeStep::Driver).cuda.reset(); }, ProbeStep::Driver,
         "CE315", k_fails, ProbeVerdict::DriverBroken, "does not say which CUDA", "", ""},
        {"a count of GPUs that is none is the driver's fault",
         [](Bench& bench) {
             bench.drop_after(ProbeStep::Driver);
             bench.rung(ProbeStep::Driver).result = ProbeResult::Wrong;
             bench.rung(ProbeStep::Driver).devices.reset();
             bench.rung(ProbeStep::Driver).message = "the driver counts 1819043144 devices";
         },
         ProbeStep::Driver, "CE315", k_fails, ProbeVerdict::DriverBroken,
         "the driver counts 1819043144 devices", "makes no sense", "ldconfig"},
        {"a compute capability that is none is the driver's fault, not a wrong result",
         [](Bench& bench) {
             bench.drop_after(ProbeStep::Gpu);
             bench.rung(ProbeStep::Gpu).result = ProbeResult::Wrong;
             bench.rung(ProbeStep::Gpu).message = "the driver tells a compute capability of 0.0";
         },
         ProbeStep::Gpu, "CE315", k_fails, ProbeVerdict::DriverBroken, "capability of 0.0", "", ""},
        {"MIG without an instance",
         [](Bench& bench) {
             bench.host.gpus.front().mig = true;
             no_device(bench);
         },
         ProbeStep::Driver, "CE318", k_fails, ProbeVerdict::NoGpu, "MIG is on", "instances",
         "nvidia-smi mig"},
        {"an MPS server that is gone",
         [](Bench& bench) { bench.fails(ProbeStep::Memory, "cudaSetDevice", 805); },
         ProbeStep::Memory, "CE319", k_fails, ProbeVerdict::Busy, "MPS server", "control daemon",
         "unset CUDA_MPS_PIPE_DIRECTORY"},
        {"304 of cuInit is a driver that may not",
         [](Bench& bench) {
             bench.fails(ProbeStep::Driver, "cuInit", 304, "CUDA_ERROR_OPERATING_SYSTEM");
         },
         ProbeStep::Driver, "CE339", k_fails, ProbeVerdict::DriverBroken, "the kernel refused",
         "seccomp", "ls -l /dev/nvidia*"},
        {"3 of cuInit is a driver that is not initialised",
         [](Bench& bench) { bench.fails(ProbeStep::Driver, "cuInit", 3); }, ProbeStep::Driver,
         "CE338", k_fails, ProbeVerdict::DriverBroken, "not initialised", "", "dmesg"},
        {"46 is a GPU in use",
         [](Bench& bench) {
             bench.fails(ProbeStep::Memory, "cudaSetDevice", 46, "cudaErrorDevicesUnavailable");
         },
         ProbeStep::Memory, "CE316", k_fails, ProbeVerdict::Busy,
         "NVIDIA H200 (sm_90) is in use or closed to you", "another process", "nvidia-smi"},
        {"46 under exclusive mode names the mode",
         [](Bench& bench) {
             bench.rung(ProbeStep::Gpu).compute_mode = 3;
             bench.fails(ProbeStep::Memory, "cudaSetDevice", 46, "cudaErrorDevicesUnavailable");
         },
         ProbeStep::Memory, "CE316", k_fails, ProbeVerdict::Busy, "held by another process",
         "exclusive", "nvidia-smi"},
        {"a GPU in prohibited mode is left alone and said to be",
         [](Bench& bench) {
             bench.rung(ProbeStep::Gpu).compute_mode = 2;
             bench.drop_after(ProbeStep::Runtime);
         },
         ProbeStep::Gpu, "CE316", k_fails, ProbeVerdict::Busy, "compute mode prohibited",
         "administrator", "nvidia-smi"},
        {"a prohibited GPU whose memory was left alone is told once, at its own rung",
         [](Bench& bench) {
             bench.rung(ProbeStep::Gpu).compute_mode = 2;
             leaves_alone(ProbeResult::Skipped, "compute mode")(bench);
         },
         ProbeStep::Memory, "", k_skipped, ProbeVerdict::Busy, "left alone", "", nullptr},
        {"an exclusive GPU that is taken is left alone and busy",
         [](Bench& bench) {
             bench.rung(ProbeStep::Gpu).compute_mode = 3;
             leaves_alone(ProbeResult::Skipped, "compute mode")(bench);
         },
         ProbeStep::Memory, "CE316", k_fails, ProbeVerdict::Busy,
         "left alone: NVIDIA H200 (sm_90) is held by another process", "exclusive", "nvidia-smi"},
        {"an exclusive GPU that is reported as a failure is busy likewise",
         [](Bench& bench) {
             bench.rung(ProbeStep::Gpu).compute_mode = 3;
             leaves_alone(ProbeResult::Failed, "compute mode")(bench);
         },
         ProbeStep::Memory, "CE316", k_fails, ProbeVerdict::Busy,
         "left alone: NVIDIA H200 (sm_90) is held by another process", "exclusive", "nvidia-smi"},
        {"an exclusive GPU of which NVML tells nothing may be taken",
         [](Bench& bench) {
             bench.rung(ProbeStep::Gpu).compute_mode = 3;
             leaves_alone(ProbeResult::Failed, "compute mode")(bench);
             bench.rung(ProbeStep::Memory).message =
                 "left alone: its compute mode is exclusive, and NVML does not tell whether a "
                 "process is on it";
         },
         ProbeStep::Memory, "CE316", k_fails, ProbeVerdict::Busy,
         "left alone: NVIDIA H200 (sm_90) may be held by another process", "NVML does not tell",
         "nvidia-smi"},
        {"a GPU too full for a context is left alone and busy",
         [](Bench& bench) {
             leaves_alone(ProbeResult::Skipped, "memory")(bench);
             bench.rung(ProbeStep::Memory).memory_free = 300ULL << 20U;
         },
         ProbeStep::Memory, "CE317", k_fails, ProbeVerdict::Busy,
         "left alone: NVIDIA H200 (sm_90) has no memory left (300 MiB free)",
         "other processes fill it", "nvidia-smi"},
        {"a GPU too full for a context may be reported as a failure",
         [](Bench& bench) {
             leaves_alone(ProbeResult::Failed, "memory")(bench);
             bench.rung(ProbeStep::Gpu).memory_free = 300ULL << 20U;
         },
         ProbeStep::Memory, "CE317", k_fails, ProbeVerdict::Busy,
         "left alone: NVIDIA H200 (sm_90) has no memory left (300 MiB free)",
         "other processes fill it", "nvidia-smi"},
        {"a full GPU is busy, with what is left",
         [](Bench& bench) {
             bench.fails(ProbeStep::Memory, "cudaMalloc", 2, "cudaErrorMemoryAllocation");
             bench.rung(ProbeStep::Memory).memory_free = 3ULL << 20U;
         },
         ProbeStep::Memory, "CE317", k_fails, ProbeVerdict::Busy, "(3 MiB free)",
         "other processes fill it", "nvidia-smi"},
        {"a GPU that gives no memory and has much is under a limit",
         [](Bench& bench) {
             bench.fails(ProbeStep::Memory, "cudaMalloc", 2, "cudaErrorMemoryAllocation");
         },
         ProbeStep::Memory, "CE317", k_fails, ProbeVerdict::Busy,
         "gives no memory (102400 MiB free)", "a limit is in the way", "ulimit -a"},
        {"803 without any version to compare still says what is wrong",
         [](Bench& bench) {
             bench.host.driver.reset();
             bench.loads_libcuda("/usr/lib/libcuda.so.1");
             bench.fails(ProbeStep::Driver, "cuInit", 803);
         },
         ProbeStep::Driver, "CE306", k_fails, ProbeVerdict::DriverBroken,
         "libcuda.so.1 is not of the kernel module's version", "left over",
         "cat /proc/driver/nvidia/version"},
    };
}

// --- the runtime and kernels --------------------------------------------------------------------

std::vector<Case> runtime_cases() {
    return {
        {"an environment without a runtime is a note, and the driver's own way is right",
         [](Bench& bench) {
             bench.skips(ProbeStep::Runtime,
                         "there is no libcudart; what follows allocates by the driver API itself");
         },
         ProbeStep::Runtime, "CE320", k_skipped, ProbeVerdict::Ok, "no libcudart in this env",
         "nothing here brings a CUDA runtime", "pip install nvidia-cuda-runtime"},
        {"a libcudart that does not load has the loader's words",
         [](Bench& bench) {
             bench.refuses(ProbeStep::Runtime, "dlopen",
                           "/opt/libcudart.so.13: cannot read file data: Input/output error");
         },
         ProbeStep::Runtime, "CE321", k_fails, ProbeVerdict::Fails, "Input/output error", "loader",
         "--force-reinstall nvidia-cuda-runtime"},
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
        {"36 is a call that came later",
         [](Bench& bench) {
             bench.fails(ProbeStep::Memory, "cudaMalloc", 36, "cudaErrorCallRequiresNewerDriver");
         },
         ProbeStep::Memory, "CE324", k_fails, ProbeVerdict::Fails,
         "lacks a call that CUDA 13.0 makes", "minor version compatibility", "cudaenv pin 13.0"},
        {"a driver below the runtime's minor runs machine code only",
         [](Bench& bench) { bench.runs_on("13.5"); }, ProbeStep::Runtime, "CE325", k_warns,
         ProbeVerdict::Warns, "machine code runs, PTX newer than CUDA 13.0 does not",
         "torch.compile", "cudaenv pin 13.0"},
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
        {"209 on a GPU newer than the runtime names the first CUDA that knows it",
         [](Bench& bench) {
             bench.runs_on("12.4");
             bench.has_gpu("NVIDIA GeForce RTX 5090", {12, 0});
             bench.fails(ProbeStep::Kernel, "cuModuleLoadDataEx", 209,
                         "CUDA_ERROR_NO_BINARY_FOR_GPU");
         },
         ProbeStep::Kernel, "CE326", k_fails, ProbeVerdict::Fails,
         "no machine code for NVIDIA GeForce RTX 5090 (sm_120)", "newer than CUDA 12.4",
         "cudaenv resolve torch --cuda 12.8"},
        {"209 on a GPU older than the runtime names the last CUDA that served it",
         [](Bench& bench) {
             bench.has_gpu("Tesla V100-SXM2-16GB", {7, 0});
             bench.fails(ProbeStep::Kernel, "cuModuleLoadDataEx", 209);
         },
         ProbeStep::Kernel, "CE327", k_fails, ProbeVerdict::Fails, "(sm_70)",
         "CUDA 13.0 makes code for sm_75 and newer", "cudaenv resolve torch --cuda 12.9"},
        {"209 on a GPU that the runtime's CUDA serves is the build's",
         breaks(209, "CUDA_ERROR_NO_BINARY_FOR_GPU"), ProbeStep::Kernel, "CE328", k_fails,
         ProbeVerdict::Fails, "no machine code for NVIDIA H200 (sm_90)", "built for other GPUs",
         "cudaenv resolve torch"},
        {"209 of an old runtime, under its old number, is known by its name",
         [](Bench& bench) {
             bench.runs_on("10.0");
             bench.has_gpu("NVIDIA A100", {8, 0});
             bench.fails(ProbeStep::Memory, "cudaMalloc", 48, "cudaErrorNoKernelImageForDevice");
         },
         ProbeStep::Memory, "CE326", k_fails, ProbeVerdict::Fails,
         "cudaErrorNoKernelImageForDevice (48)", "newer than CUDA 10.0",
         "cudaenv resolve torch --cuda 11.0"},
        {"a GPU that computes and that torch has no code for is a warning",
         [](Bench& bench) {
             bench.has_gpu("Tesla V100-SXM2-16GB", {7, 0});
             bench.rung(ProbeStep::Kernel).architecture = "sm_70";
         },
         ProbeStep::Kernel, "CE329", k_warns, ProbeVerdict::Warns,
         "machine code for sm_70 runs; torch 2.11.0+cu130 has none for it",
         "no kernel image is available", "cudaenv resolve torch --gpu 7.0"},
        {"PTX that ran for a variable's sake is a warning",
         [](Bench& bench) {
             bench.rung(ProbeStep::Kernel).architecture = "compute_50";
             bench.rung(ProbeStep::Kernel).message =
                 "CUDA_FORCE_PTX_JIT is set: PTX was run instead of machine code";
         },
         ProbeStep::Kernel, "CE331", k_warns, ProbeVerdict::Warns,
         "machine code is passed over; PTX for compute_50 ran", "CUDA_FORCE_PTX_JIT is set",
         "unset CUDA_FORCE_PTX_JIT"},
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
        {"700 of a kernel that is right is hardware or driver",
         breaks(700, "CUDA_ERROR_ILLEGAL_ADDRESS"), ProbeStep::Kernel, "CE334", k_fails,
         ProbeVerdict::Fails, "error 700: a kernel known to be right broke on NVIDIA H200 (sm_90)",
         "the GPU or its driver", "dmesg | grep -i xid"},
        {"719 likewise", breaks(719, "CUDA_ERROR_LAUNCH_FAILED"), ProbeStep::Kernel, "CE334",
         k_fails, ProbeVerdict::Fails, "error 719", "the GPU or its driver", "xid"},
        {"710 likewise", breaks(710, "CUDA_ERROR_ASSERT"), ProbeStep::Kernel, "CE334", k_fails,
         ProbeVerdict::Fails, "error 710", "", "xid"},
        {"716 likewise", breaks(716, "CUDA_ERROR_MISALIGNED_ADDRESS"), ProbeStep::Kernel, "CE334",
         k_fails, ProbeVerdict::Fails, "error 716", "", "xid"},
        {"717 likewise", breaks(717, "CUDA_ERROR_INVALID_ADDRESS_SPACE"), ProbeStep::Kernel,
         "CE334", k_fails, ProbeVerdict::Fails, "error 717", "", "xid"},
        {"an old runtime's 4 is a launch that failed, not a driver that ends",
         [](Bench& bench) {
             bench.runs_on("9.0");
             bench.fails(ProbeStep::Memory, "cudaMemcpy", 4, "cudaErrorLaunchFailure");
         },
         ProbeStep::Memory, "CE334", k_fails, ProbeVerdict::Fails, "cudaErrorLaunchFailure (4)", "",
         "xid"},
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
        {"4 of a runtime is a driver that ends",
         [](Bench& bench) {
             bench.fails(ProbeStep::Memory, "cudaMalloc", 4, "cudaErrorCudartUnloading");
         },
         ProbeStep::Memory, "CE338", k_fails, ProbeVerdict::Fails, "shutting down", "", "dmesg"},
        {"304 of a runtime leaves the driver whole",
         [](Bench& bench) {
             bench.fails(ProbeStep::Memory, "cudaSetDevice", 304, "cudaErrorOperatingSystem");
         },
         ProbeStep::Memory, "CE339", k_fails, ProbeVerdict::Fails, "the kernel refused",
         "/dev/nvidia-uvm", "ls -l /dev/nvidia*"},
        {"999 of a kernel is not cuInit's", breaks(999, "CUDA_ERROR_UNKNOWN"), ProbeStep::Kernel,
         "CE314", k_fails, ProbeVerdict::Fails, "failed without saying why", "Xid", "xid"},
        {"a number that has no row keeps its name and words",
         breaks(12345, "CUDA_ERROR_OF_TOMORROW"), ProbeStep::Kernel, "CE359", k_fails,
         ProbeVerdict::Fails, "error 12345 (CUDA_ERROR_OF_TOMORROW)", "no explanation", "dmesg"},
    };
}

// --- libraries ----------------------------------------------------------------------------------

std::vector<Case> library_cases() {
    return {
        {"a library that is not here is a note",
         [](Bench& bench) {
             bench.climbs_all();
             bench.skips(ProbeStep::Nvrtc, "no NVRTC was found");
         },
         ProbeStep::Nvrtc, "CE340", k_skipped, ProbeVerdict::Ok, "no libnvrtc in this env", "NVRTC",
         "pip install nvidia-cuda-nvrtc"},
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
             bench.environment.kind = facts::EnvironmentKind::Conda;
             bench.skips(ProbeStep::Cudnn, "no cuDNN was found");
         },
         ProbeStep::Cudnn, "CE340", k_skipped, ProbeVerdict::Ok, "no libcudnn", "",
         "conda install cudnn"},
        {"a library that another one misses names that one",
         loads(ProbeStep::Cublas, "libcublasLt.so.13: cannot open shared object file: No such file "
                                  "or directory"),
         ProbeStep::Cublas, "CE341", k_fails, ProbeVerdict::Fails, "cuBLAS does not load",
         "libcublasLt.so.13", "--force-reinstall nvidia-cublas"},
        {"cuDNN 8 that is missed is not answered by 9",
         loads(ProbeStep::Cudnn,
               "libcudnn.so.8: cannot open shared object file: No such file or directory"),
         ProbeStep::Cudnn, "CE341", k_fails, ProbeVerdict::Fails, "libcudnn.so.8", "cuDNN 8",
         "nvidia-cudnn-cu13<9"},
        {"NVRTC without its builtins",
         [](Bench& bench) {
             bench.climbs_all();
             bench.fails(ProbeStep::Nvrtc, "nvrtcCompileProgram", 7,
                         "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE");
             bench.rung(ProbeStep::Nvrtc).message =
                 "nvrtc: error: failed to open libnvrtc-builtins.so.13.0.";
         },
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
         [](Bench& bench) {
             bench.climbs_all();
             bench.fails(ProbeStep::Nvrtc, "nvrtcCompileProgram", 6, "NVRTC_ERROR_COMPILATION");
             bench.rung(ProbeStep::Nvrtc).message = "kernel.cu(1): error: what is this";
         },
         ProbeStep::Nvrtc, "CE345", k_fails, ProbeVerdict::Fails, "error: what is this", "", ""},
        {"an older libnvJitLink found first",
         loads(ProbeStep::Cublas, "libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, "
                                  "version libnvJitLink.so.12"),
         ProbeStep::Cublas, "CE347", k_fails, ProbeVerdict::Fails, "__nvJitLink",
         "older libnvJitLink", "unset LD_LIBRARY_PATH"},
        {"files of two versions that meet",
         loads(ProbeStep::Cudnn, "libcudnn_ops.so.9: undefined symbol: cudnnSomething"),
         ProbeStep::Cudnn, "CE348", k_fails, ProbeVerdict::Fails, "undefined symbol",
         "two versions", "--force-reinstall nvidia-cudnn"},
        {"a library for a newer glibc",
         loads(ProbeStep::Cublas, "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found "
                                  "(required by libcublas.so.13)"),
         ProbeStep::Cublas, "CE349", k_fails, ProbeVerdict::Fails, "GLIBC_2.38", "newer system",
         ""},
        {"a library that is cut short", loads(ProbeStep::Cudnn, "libcudnn.so.9: file too short"),
         ProbeStep::Cudnn, "CE350", k_fails, ProbeVerdict::Fails, "file too short", "damaged",
         "--force-reinstall"},
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
        {"NCCL that the system refuses, in a container",
         [](Bench& bench) {
             bench.climbs_all();
             bench.host.platform.container = "docker";
             bench.fails(ProbeStep::Nccl, "ncclCommInitAll", 2);
         },
         ProbeStep::Nccl, "CE357", k_fails, ProbeVerdict::Fails, "do not reach each other",
         "--shm-size", "NCCL_P2P_DISABLE=1"},
        {"a status that has no row keeps its name",
         answers(ProbeStep::Cudnn, "cudnnConvolutionForward", 5000,
                 "CUDNN_STATUS_EXECUTION_FAILED"),
         ProbeStep::Cudnn, "CE358", k_fails, ProbeVerdict::Fails, "CUDNN_STATUS_EXECUTION_FAILED",
         "", "--force-reinstall nvidia-cudnn"},
        {"a CUDA error inside a library's rung is CUDA's",
         answers(ProbeStep::Cudnn, "cudaDeviceSynchronize", 700, "cudaErrorIllegalAddress"),
         ProbeStep::Cudnn, "CE334", k_fails, ProbeVerdict::Fails,
         "error 700: a kernel of that library", "a library's kernel", "xid"},
    };
}

// --- building -----------------------------------------------------------------------------------

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

// --- the child ----------------------------------------------------------------------------------

std::vector<Case> ending_cases() {
    return {
        {"a child that hung is told with the step it hung at",
         [](Bench& bench) {
             bench.lost(ProbeStep::Driver, Ending::TimedOut, "no answer within 10000 ms, killed");
         },
         ProbeStep::Driver, "CE380", k_fails, ProbeVerdict::TimedOut,
         "hung at driver: no answer within 10000 ms, killed", "the driver hung", "nvidia-smi"},
        {"a child that hung between two steps hung at the next",
         [](Bench& bench) {
             bench.drop_after(ProbeStep::Gpu);
             bench.report.ending = Ending::TimedOut;
             bench.report.failure = "no answer within 10000 ms, killed";
         },
         ProbeStep::Runtime, "CE380", k_fails, ProbeVerdict::TimedOut, "hung at runtime",
         "libcudart", ""},
        {"a child that cannot be killed is stuck in the kernel",
         [](Bench& bench) {
             bench.lost(ProbeStep::Memory, Ending::TimedOut,
                        "no answer within 10000 ms, killed; it does not die (stuck in the kernel)");
         },
         ProbeStep::Memory, "CE384", k_fails, ProbeVerdict::TimedOut, "cannot be killed", "state D",
         "dmesg"},
        {"a crash is told with its step and signal",
         [](Bench& bench) {
             bench.lost(ProbeStep::Kernel, Ending::Crashed, "ended by signal 11");
             bench.report.signal = 11;
         },
         ProbeStep::Kernel, "CE381", k_fails, ProbeVerdict::Crashed,
         "crashed at kernel with SIGSEGV", "the driver broke", "dmesg"},
        {"a child that somebody killed",
         [](Bench& bench) {
             bench.lost(ProbeStep::Memory, Ending::Crashed, "ended by signal 9");
             bench.report.signal = 9;
         },
         ProbeStep::Memory, "CE381", k_fails, ProbeVerdict::Crashed, "SIGKILL", "want of memory",
         ""},
        {"a child that was not started",
         [](Bench& bench) {
             bench.report.rungs.clear();
             bench.report.ending = Ending::NotStarted;
             bench.report.failure = "cannot start cudaenv-probe: No such file or directory";
         },
         ProbeStep::Library, "CE382", k_fails, ProbeVerdict::Fails, "was not started",
         "installed beside", ""},
        {"a child of which nothing could be read",
         [](Bench& bench) {
             bench.report.rungs.clear();
             bench.report.ending = Ending::Garbled;
             bench.report.failure = "exit status 2: usage";
         },
         ProbeStep::Library, "CE383", k_fails, ProbeVerdict::Crashed, "no whole answer at library",
         "another version", ""},
        {"a driver that hangs at the end of the process is a warning",
         [](Bench& bench) { bench.report.failure = "no answer within 10000 ms, killed"; },
         ProbeStep::Kernel, "CE385", k_warns, ProbeVerdict::Warns, "did not let go",
         "hung or broke", "dmesg"},
    };
}

std::vector<Case> all_cases() {
    std::vector<Case> all;
    for (auto part :
         {driver_cases(), runtime_cases(), library_cases(), build_cases(), ending_cases()}) {
        std::move(part.begin(), part.end(), std::back_inserter(all));
    }
    return all;
}

} // namespace

std::span<const Case> cases() {
    static const std::vector<Case> all = all_cases();
    return all;
}

} // namespace cudaenv::testing
