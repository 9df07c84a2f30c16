// cuInit and what the driver says of itself.
#include "tests/unit/probe/cases/rows.hpp"

namespace cudaenv::testing {

namespace {

void no_device(Bench& bench) {
    bench.fails(ProbeStep::Driver, "cuInit", 100, "CUDA_ERROR_NO_DEVICE");
    bench.rung(ProbeStep::Driver).devices.reset();
}

} // namespace

std::vector<Case> driver_cases() {
    return {
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
         both(library_path({"/opt/cuda/lib64/stubs"}),
              libcuda_answers("/opt/cuda/lib64/stubs/libcuda.so", 999)),
         ProbeStep::Driver, "CE303", k_fails, ProbeVerdict::DriverBroken, "stub", "",
         "unset LD_LIBRARY_PATH"},
        {"803 from a compat directory names the entry to remove",
         both(library_path({"/usr/local/cuda/compat", "/opt/lib"}),
              libcuda_answers("/usr/local/cuda-13.0/compat/libcuda.so.580.95.05", 803,
                              "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH")),
         ProbeStep::Driver, "CE304", k_fails, ProbeVerdict::DriverBroken,
         "libcuda 580.95.05, kernel module 580.159.04", "cuda-compat's",
         "export LD_LIBRARY_PATH=/opt/lib"},
        {"803 from a compat directory of the loader's configuration ends with ldconfig",
         libcuda_answers("/usr/local/cuda-13.0/compat/libcuda.so.580.95.05", 803),
         ProbeStep::Driver, "CE304", k_fails, ProbeVerdict::DriverBroken, "580.95.05", "",
         "sudo ldconfig"},
        {"803 with a newer libcuda wants a reboot",
         libcuda_answers("/usr/lib/x86_64-linux-gnu/libcuda.so.590.44.01", 803), ProbeStep::Driver,
         "CE305", k_fails, ProbeVerdict::DriverBroken,
         "libcuda 590.44.01, kernel module 580.159.04", "upgraded", "sudo reboot"},
        {"804 with a newer libcuda is the same unrebooted upgrade",
         libcuda_answers("/usr/lib/x86_64-linux-gnu/libcuda.so.590.44.01", 804), ProbeStep::Driver,
         "CE305", k_fails, ProbeVerdict::DriverBroken, "590.44.01", "upgraded", "sudo reboot"},
        {"803 with an older libcuda is one that was left over",
         libcuda_answers("/usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01", 803), ProbeStep::Driver,
         "CE306", k_fails, ProbeVerdict::DriverBroken,
         "libcuda 550.163.01, kernel module 580.159.04", "the driver was downgraded",
         "cat /proc/driver/nvidia/version"},
        {"a left over libcuda on LD_LIBRARY_PATH is named with its directory",
         both(library_path({"/home/me/old"}),
              libcuda_answers("/home/me/old/libcuda.so.550.163.01", 803)),
         ProbeStep::Driver, "CE306", k_fails, ProbeVerdict::DriverBroken, "550.163.01", "",
         "unset LD_LIBRARY_PATH"},
        {"804 from a compat directory says whom it serves",
         both(library_path({"/usr/local/cuda-13.0/compat/"}),
              libcuda_answers("/usr/local/cuda-13.0/compat/libcuda.so.590.44.01", 804,
                              "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE")),
         ProbeStep::Driver, "CE307", k_fails, ProbeVerdict::DriverBroken, "590.44.01",
         "data-center GPUs only", "unset LD_LIBRARY_PATH"},
        {"804 without a version to compare names both causes",
         libcuda_answers("/usr/lib/libcuda.so.1", 804), ProbeStep::Driver, "CE307", k_fails,
         ProbeVerdict::DriverBroken, "libcuda.so.1, kernel module 580.159.04",
         "or an upgrade without reboot", ""},
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
         cu_init(802, "CUDA_ERROR_SYSTEM_NOT_READY"), ProbeStep::Driver, "CE313", k_fails,
         ProbeVerdict::DriverBroken, "NVSwitch is not set up", "fabric manager",
         "nvidia-fabricmanager"},
        {"999 is a driver that does not start", cu_init(999, "CUDA_ERROR_UNKNOWN"),
         ProbeStep::Driver, "CE314", k_fails, ProbeVerdict::DriverBroken,
         "the driver does not start", "nvidia_uvm", "sudo modprobe nvidia_uvm"},
        {"a number of cuInit that nobody knows is a broken driver too", cu_init(4711),
         ProbeStep::Driver, "CE314", k_fails, ProbeVerdict::DriverBroken, "cuInit: error 4711", "",
         "dmesg"},
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
        {"MIG without an instance",
         [](Bench& bench) {
             bench.host.gpus.front().mig = true;
             no_device(bench);
         },
         ProbeStep::Driver, "CE318", k_fails, ProbeVerdict::NoGpu, "MIG is on", "instances",
         "nvidia-smi mig"},
        {"MIG on every GPU is told in a container too, where NVML sees them",
         [](Bench& bench) {
             bench.host.platform.container = "docker";
             bench.context.device_files = false;
             bench.host.gpus.front().mig = true;
             no_device(bench);
         },
         ProbeStep::Driver, "CE318", k_fails, ProbeVerdict::NoGpu, "MIG is on", "instances",
         "nvidia-smi mig"},
        {"MIG on one of two GPUs does not hide the other",
         [](Bench& bench) {
             bench.host.gpus.push_back(bench.host.gpus.front());
             bench.host.gpus.back().mig = true;
             no_device(bench);
         },
         ProbeStep::Driver, "CE310", k_fails, ProbeVerdict::NoGpu, "does not reach the GPU", "",
         ""},
        {"MIG on the GPU that CUDA_VISIBLE_DEVICES names hides it",
         [](Bench& bench) {
             bench.host.gpus.push_back(bench.host.gpus.front());
             bench.host.gpus.back().mig = true;
             bench.context.visible_devices = "1";
             no_device(bench);
         },
         ProbeStep::Driver, "CE318", k_fails, ProbeVerdict::NoGpu, "MIG is on", "instances", ""},
        {"100 where the device files are closed is told with their group, and is not their absence",
         [](Bench& bench) {
             for (const char* file : {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0"}) {
                 bench.context.closed_devices.push_back({file, "root", "video", 0660, false});
             }
             no_device(bench);
         },
         ProbeStep::Driver, "CE339", k_fails, ProbeVerdict::DriverBroken,
         "you may not open /dev/nvidiactl, /dev/nvidia-uvm and 1 more",
         "/dev/nvidiactl is there, but it is root's, group video, mode 0660",
         "sudo usermod -aG video \"$USER\""},
        {"999 where a device file is closed to all but root wants it opened",
         [](Bench& bench) {
             bench.context.closed_devices.push_back(
                 {"/dev/nvidia-uvm", "root", "root", 0660, false});
             bench.fails(ProbeStep::Driver, "cuInit", 999, "CUDA_ERROR_UNKNOWN");
         },
         ProbeStep::Driver, "CE339", k_fails, ProbeVerdict::DriverBroken,
         "you may not open /dev/nvidia-uvm", "mode 0660", "sudo chmod a+rw /dev/nvidia-uvm"},
        {"a container's user gets a device file's group from docker",
         [](Bench& bench) {
             bench.host.platform.container = "docker";
             bench.context.closed_devices.push_back({"/dev/nvidia0", "root", "video", 0660, false});
             no_device(bench);
         },
         ProbeStep::Driver, "CE339", k_fails, ProbeVerdict::DriverBroken,
         "you may not open /dev/nvidia0", "group video", ""},
        {"304 of cuInit is a driver that may not", cu_init(304, "CUDA_ERROR_OPERATING_SYSTEM"),
         ProbeStep::Driver, "CE339", k_fails, ProbeVerdict::DriverBroken, "the kernel refused",
         "seccomp", "ls -l /dev/nvidia*"},
        {"3 of cuInit is a driver that is not initialised", cu_init(3), ProbeStep::Driver, "CE338",
         k_fails, ProbeVerdict::DriverBroken, "not initialised", "", "dmesg"},
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

} // namespace cudaenv::testing
