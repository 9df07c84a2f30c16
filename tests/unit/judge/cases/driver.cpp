// cuInit and what the driver says of itself.
#include "tests/unit/judge/cases/rows.hpp"

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
         ProbeStep::Driver,
         "CE303",
         k_fails,
         ProbeVerdict::DriverBroken,
         "library-path",
         {{"seen", "cuInit: error 34"},
          {"entries", "/usr/local/cuda-13.0/lib64/stubs"},
          {"command", "export LD_LIBRARY_PATH=/opt/lib"}}},
        {"a stub where no kernel module is loaded hides no driver",
         [](Bench& bench) {
             bench.host.driver.reset();
             bench.fails(ProbeStep::Driver, "cuInit", 34);
             bench.rung(ProbeStep::Driver).cuda.reset();
         },
         ProbeStep::Driver,
         "CE303",
         k_fails,
         ProbeVerdict::NoDriver,
         "loader-path",
         {{"seen", "cuInit: error 34"}, {"directory", "/usr/lib/x86_64-linux-gnu"}}},
        {"a library below stubs is a stub whatever it answers",
         both(library_path({"/opt/cuda/lib64/stubs"}),
              libcuda_answers("/opt/cuda/lib64/stubs/libcuda.so", 999)),
         ProbeStep::Driver,
         "CE303",
         k_fails,
         ProbeVerdict::DriverBroken,
         "library-path",
         {{"seen", "cuInit: error 999"},
          {"entries", "/opt/cuda/lib64/stubs"},
          {"command", "unset LD_LIBRARY_PATH"}}},
        {"803 from a compat directory names the entry to remove",
         both(library_path({"/usr/local/cuda/compat", "/opt/lib"}),
              libcuda_answers("/usr/local/cuda-13.0/compat/libcuda.so.580.95.05", 803,
                              "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH")),
         ProbeStep::Driver,
         "CE304",
         k_fails,
         ProbeVerdict::DriverBroken,
         "",
         {{"seen", "cuInit: error 803"},
          {"libcuda", "libcuda 580.95.05"},
          {"module", "580.159.04"},
          {"entries", "/usr/local/cuda/compat"},
          {"command", "export LD_LIBRARY_PATH=/opt/lib"},
          {"place", "LD_LIBRARY_PATH"}}},
        {"803 from a compat directory of the loader's configuration ends with ldconfig",
         libcuda_answers("/usr/local/cuda-13.0/compat/libcuda.so.580.95.05", 803),
         ProbeStep::Driver,
         "CE304",
         k_fails,
         ProbeVerdict::DriverBroken,
         "",
         {{"seen", "cuInit: error 803"},
          {"libcuda", "libcuda 580.95.05"},
          {"module", "580.159.04"},
          {"entries", "/usr/local/cuda-13.0/compat"},
          {"place", "/etc/ld.so.conf.d, then run ldconfig"},
          {"command", "sudo ldconfig"}}},
        {"803 with a newer libcuda wants a reboot",
         libcuda_answers("/usr/lib/x86_64-linux-gnu/libcuda.so.590.44.01", 803),
         ProbeStep::Driver,
         "CE305",
         k_fails,
         ProbeVerdict::DriverBroken,
         "",
         {{"seen", "cuInit: error 803"},
          {"libcuda", "libcuda 590.44.01"},
          {"module", "580.159.04"}}},
        {"804 with a newer libcuda is the same unrebooted upgrade",
         libcuda_answers("/usr/lib/x86_64-linux-gnu/libcuda.so.590.44.01", 804),
         ProbeStep::Driver,
         "CE305",
         k_fails,
         ProbeVerdict::DriverBroken,
         "",
         {{"seen", "cuInit: error 804"},
          {"libcuda", "libcuda 590.44.01"},
          {"module", "580.159.04"}}},
        {"803 with an older libcuda is one that was left over",
         libcuda_answers("/usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01", 803),
         ProbeStep::Driver,
         "CE306",
         k_fails,
         ProbeVerdict::DriverBroken,
         "",
         {{"seen", "cuInit: error 803"},
          {"libcuda", "libcuda 550.163.01"},
          {"module", "580.159.04"}}},
        {"a left over libcuda on LD_LIBRARY_PATH is named with its directory",
         both(library_path({"/home/me/old"}),
              libcuda_answers("/home/me/old/libcuda.so.550.163.01", 803)),
         ProbeStep::Driver,
         "CE306",
         k_fails,
         ProbeVerdict::DriverBroken,
         "library-path",
         {{"seen", "cuInit: error 803"},
          {"libcuda", "libcuda 550.163.01"},
          {"module", "580.159.04"},
          {"entries", "/home/me/old"},
          {"command", "unset LD_LIBRARY_PATH"},
          {"place", "LD_LIBRARY_PATH"}}},
        {"804 from a compat directory says whom it serves",
         both(library_path({"/usr/local/cuda-13.0/compat/"}),
              libcuda_answers("/usr/local/cuda-13.0/compat/libcuda.so.590.44.01", 804,
                              "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE")),
         ProbeStep::Driver,
         "CE307",
         k_fails,
         ProbeVerdict::DriverBroken,
         "compat",
         {{"seen", "cuInit: error 804"},
          {"libcuda", "libcuda 590.44.01"},
          {"module", "580.159.04"},
          {"entries", "/usr/local/cuda-13.0/compat/"},
          {"command", "unset LD_LIBRARY_PATH"},
          {"place", "LD_LIBRARY_PATH"}}},
        {"804 without a version to compare names both causes",
         libcuda_answers("/usr/lib/libcuda.so.1", 804),
         ProbeStep::Driver,
         "CE307",
         k_fails,
         ProbeVerdict::DriverBroken,
         "",
         {{"seen", "cuInit: error 804"}, {"libcuda", "libcuda.so.1"}, {"module", "580.159.04"}}},
        {"an empty CUDA_VISIBLE_DEVICES hides every GPU",
         [](Bench& bench) {
             bench.context.visible_devices = "";
             no_device(bench);
         },
         ProbeStep::Driver,
         "CE308",
         k_fails,
         ProbeVerdict::NoGpu,
         "",
         {{"seen", "cuInit: error 100"}}},
        {"CUDA_VISIBLE_DEVICES=-1 hides every GPU",
         [](Bench& bench) {
             bench.context.visible_devices = "-1";
             no_device(bench);
         },
         ProbeStep::Driver,
         "CE308",
         k_fails,
         ProbeVerdict::NoGpu,
         "",
         {{"seen", "cuInit: error 100"}, {"value", "-1"}}},
        {"a container without device files was started without GPUs",
         [](Bench& bench) {
             bench.host.platform.container = "docker";
             bench.context.device_files = false;
             no_device(bench);
         },
         ProbeStep::Driver,
         "CE309",
         k_fails,
         ProbeVerdict::NoGpu,
         "",
         {{"seen", "cuInit: error 100"}}},
        {"a GPU without a kernel module wants the module",
         [](Bench& bench) {
             bench.host.driver.reset();
             bench.context.device_files = false;
             no_device(bench);
         },
         ProbeStep::Driver,
         "CE310",
         k_fails,
         ProbeVerdict::NoGpu,
         "module",
         {{"seen", "cuInit: error 100"}}},
        {"a module without device files wants them made",
         [](Bench& bench) {
             bench.context.device_files = false;
             no_device(bench);
         },
         ProbeStep::Driver,
         "CE310",
         k_fails,
         ProbeVerdict::NoGpu,
         "device-files",
         {{"seen", "cuInit: error 100"}}},
        {"WSL without /dev/dxg speaks of Windows, not of kernel modules",
         [](Bench& bench) {
             bench.host.driver.reset();
             bench.host.gpus.clear();
             bench.host.platform.wsl = true;
             bench.context.device_files = false;
             no_device(bench);
         },
         ProbeStep::Driver,
         "CE310",
         k_fails,
         ProbeVerdict::NoGpu,
         "wsl",
         {{"seen", "cuInit: error 100"}}},
        {"WSL with /dev/dxg and no GPU asks Windows",
         [](Bench& bench) {
             bench.host.driver.reset();
             bench.host.gpus.clear();
             bench.host.platform.wsl = true;
             no_device(bench);
         },
         ProbeStep::Driver,
         "CE311",
         k_fails,
         ProbeVerdict::NoGpu,
         "wsl",
         {{"seen", "cuInit: error 100"}}},
        {"a GPU that is there for all but the driver may have fallen off the bus",
         no_device,
         ProbeStep::Driver,
         "CE310",
         k_fails,
         ProbeVerdict::NoGpu,
         "lost",
         {{"seen", "cuInit: error 100"}}},
        {"libcuda alone, as in a package that was unpacked, is no GPU",
         [](Bench& bench) {
             bench.host.driver.reset();
             bench.host.gpus.clear();
             bench.context.device_files = false;
             no_device(bench);
         },
         ProbeStep::Driver,
         "CE311",
         k_fails,
         ProbeVerdict::NoGpu,
         "",
         {{"seen", "cuInit: error 100"}}},
        {"CUDA_VISIBLE_DEVICES beyond the last GPU is reported with their number",
         [](Bench& bench) {
             bench.context.visible_devices = "3,0";
             no_device(bench);
         },
         ProbeStep::Driver,
         "CE312",
         k_fails,
         ProbeVerdict::NoGpu,
         "variable",
         {{"seen", "cuInit: error 100"}, {"value", "3,0"}, {"gpus", "1"}}},
        {"CUDA_VISIBLE_DEVICES with a foreign UUID names no GPU",
         [](Bench& bench) {
             bench.context.visible_devices = "GPU-00000000-dead";
             no_device(bench);
         },
         ProbeStep::Driver,
         "CE312",
         k_fails,
         ProbeVerdict::NoGpu,
         "variable",
         {{"seen", "cuInit: error 100"}, {"value", "GPU-00000000-dead"}, {"gpus", "1"}}},
        {"101 is a GPU that is not there",
         [](Bench& bench) {
             bench.context.visible_devices = "0";
             bench.fails(ProbeStep::Driver, "cuInit", 101, "CUDA_ERROR_INVALID_DEVICE");
         },
         ProbeStep::Driver,
         "CE312",
         k_fails,
         ProbeVerdict::NoGpu,
         "",
         {{"seen", "cuInit: error 101"}, {"value", "set"}}},
        {"802 wants the fabric manager of the driver's version",
         cu_init(802, "CUDA_ERROR_SYSTEM_NOT_READY"),
         ProbeStep::Driver,
         "CE313",
         k_fails,
         ProbeVerdict::DriverBroken,
         "",
         {{"seen", "cuInit: error 802"}, {"module", "580.159.04"}}},
        {"999 is a driver that does not start",
         cu_init(999, "CUDA_ERROR_UNKNOWN"),
         ProbeStep::Driver,
         "CE314",
         k_fails,
         ProbeVerdict::DriverBroken,
         "start",
         {{"seen", "cuInit: error 999"}}},
        {"an unknown number of cuInit is a broken driver too",
         cu_init(4711),
         ProbeStep::Driver,
         "CE314",
         k_fails,
         ProbeVerdict::DriverBroken,
         "start",
         {{"seen", "cuInit: error 4711"}}},
        {"an impossible CUDA version is not believed",
         [](Bench& bench) { bench.rung(ProbeStep::Driver).cuda = DottedVersion::of("2147483.6"); },
         ProbeStep::Driver,
         "CE315",
         k_fails,
         ProbeVerdict::DriverBroken,
         "",
         {{"seen", "the driver gives CUDA \"2147483.6\", which does not exist"},
          {"libcuda", "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04"}}},
        {"a version of zero is not believed either",
         [](Bench& bench) { bench.rung(ProbeStep::Driver).cuda = DottedVersion::of("0.0"); },
         ProbeStep::Driver,
         "CE315",
         k_fails,
         ProbeVerdict::DriverBroken,
         "",
         {{"seen", "the driver gives CUDA \"0.0\", which does not exist"},
          {"libcuda", "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04"}}},
        {"a driver that says no version at all",
         [](Bench& bench) { bench.rung(ProbeStep::Driver).cuda.reset(); },
         ProbeStep::Driver,
         "CE315",
         k_fails,
         ProbeVerdict::DriverBroken,
         "",
         {{"seen", "the driver does not say which CUDA it gives"},
          {"libcuda", "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04"}}},
        {"an impossible count of GPUs is the driver's fault",
         [](Bench& bench) {
             bench.drop_after(ProbeStep::Driver);
             bench.rung(ProbeStep::Driver).result = ProbeResult::Wrong;
             bench.rung(ProbeStep::Driver).devices.reset();
             bench.rung(ProbeStep::Driver).message = "the driver counts 1819043144 devices";
         },
         ProbeStep::Driver,
         "CE315",
         k_fails,
         ProbeVerdict::DriverBroken,
         "",
         {{"seen", "the driver counts 1819043144 devices"},
          {"libcuda", "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04"}}},
        {"MIG without an instance",
         [](Bench& bench) {
             bench.host.gpus.front().mig = true;
             no_device(bench);
         },
         ProbeStep::Driver,
         "CE318",
         k_fails,
         ProbeVerdict::NoGpu,
         "",
         {{"seen", "cuInit: error 100"}}},
        {"MIG on every GPU is reported in a container too, where NVML sees them",
         [](Bench& bench) {
             bench.host.platform.container = "docker";
             bench.context.device_files = false;
             bench.host.gpus.front().mig = true;
             no_device(bench);
         },
         ProbeStep::Driver,
         "CE318",
         k_fails,
         ProbeVerdict::NoGpu,
         "",
         {{"seen", "cuInit: error 100"}}},
        {"MIG on one of two GPUs does not hide the other",
         [](Bench& bench) {
             bench.host.gpus.push_back(bench.host.gpus.front());
             bench.host.gpus.back().mig = true;
             no_device(bench);
         },
         ProbeStep::Driver,
         "CE310",
         k_fails,
         ProbeVerdict::NoGpu,
         "lost",
         {{"seen", "cuInit: error 100"}}},
        {"MIG on the GPU that CUDA_VISIBLE_DEVICES names hides it",
         [](Bench& bench) {
             bench.host.gpus.push_back(bench.host.gpus.front());
             bench.host.gpus.back().mig = true;
             bench.context.visible_devices = "1";
             no_device(bench);
         },
         ProbeStep::Driver,
         "CE318",
         k_fails,
         ProbeVerdict::NoGpu,
         "",
         {{"seen", "cuInit: error 100"}}},
        {"100 where the device files are closed is reported with their group, and is not their "
         "absence",
         [](Bench& bench) {
             for (const char* file : {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0"}) {
                 bench.context.closed_devices.push_back({file, "root", "video", 0660, false});
             }
             no_device(bench);
         },
         ProbeStep::Driver,
         "CE339",
         k_fails,
         ProbeVerdict::DriverBroken,
         "closed",
         {{"seen", "cuInit: error 100"},
          {"files", "/dev/nvidiactl, /dev/nvidia-uvm and 1 more"},
          {"path", "/dev/nvidiactl"},
          {"whose", "it is root's, group video, mode 0660"},
          {"open", "ask to join group video, then log in again"},
          {"open_command", "sudo usermod -aG video \"$USER\""}}},
        {"999 where a device file is closed to all but root wants it opened",
         [](Bench& bench) {
             bench.context.closed_devices.push_back(
                 {"/dev/nvidia-uvm", "root", "root", 0660, false});
             bench.fails(ProbeStep::Driver, "cuInit", 999, "CUDA_ERROR_UNKNOWN");
         },
         ProbeStep::Driver,
         "CE339",
         k_fails,
         ProbeVerdict::DriverBroken,
         "closed",
         {{"seen", "cuInit: error 999"},
          {"files", "/dev/nvidia-uvm"},
          {"path", "/dev/nvidia-uvm"},
          {"whose", "it is root's, group root, mode 0660"},
          {"open", "ask root, or the administrator, for permission"},
          {"open_command", "sudo chmod a+rw /dev/nvidia-uvm"}}},
        {"a container's user gets a device file's group from docker",
         [](Bench& bench) {
             bench.host.platform.container = "docker";
             bench.context.closed_devices.push_back({"/dev/nvidia0", "root", "video", 0660, false});
             no_device(bench);
         },
         ProbeStep::Driver,
         "CE339",
         k_fails,
         ProbeVerdict::DriverBroken,
         "closed",
         {{"seen", "cuInit: error 100"},
          {"files", "/dev/nvidia0"},
          {"path", "/dev/nvidia0"},
          {"whose", "it is root's, group video, mode 0660"},
          {"open", "start the container with that group, as with docker run --group-add video"}}},
        {"304 of cuInit is a driver that may not",
         cu_init(304, "CUDA_ERROR_OPERATING_SYSTEM"),
         ProbeStep::Driver,
         "CE339",
         k_fails,
         ProbeVerdict::DriverBroken,
         "refused",
         {{"seen", "cuInit: error 304"}}},
        {"3 of cuInit is a driver that is not initialised",
         cu_init(3),
         ProbeStep::Driver,
         "CE338",
         k_fails,
         ProbeVerdict::DriverBroken,
         "not-initialised",
         {{"seen", "cuInit: error 3"}}},
        {"803 without any version to compare still says what is wrong",
         [](Bench& bench) {
             bench.host.driver.reset();
             bench.loads_libcuda("/usr/lib/libcuda.so.1");
             bench.fails(ProbeStep::Driver, "cuInit", 803);
         },
         ProbeStep::Driver,
         "CE306",
         k_fails,
         ProbeVerdict::DriverBroken,
         "",
         {{"seen", "cuInit: error 803"}, {"libcuda", "libcuda.so.1"}}},
    };
}

} // namespace cudaenv::testing
