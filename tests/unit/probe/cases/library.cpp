// The driver's library.
#include "tests/unit/probe/cases/rows.hpp"

namespace cudaenv::testing {

std::vector<Case> library_cases() {
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
         does_not_load(ProbeStep::Library, "/usr/lib/libcuda.so.1: file too short"),
         ProbeStep::Library, "CE302", k_fails, ProbeVerdict::DriverBroken,
         "libcuda does not load: libcuda.so.1: file too short", "damaged", ""},
        {"a broken libcuda that LD_LIBRARY_PATH brings is named, with what takes it out",
         both(library_path({"/opt/cuda/lib64", "/opt/old/"}),
              does_not_load(ProbeStep::Library, "/opt/old/libcuda.so.1: file too short",
                            "/opt/old/libcuda.so.1")),
         ProbeStep::Library, "CE302", k_fails, ProbeVerdict::DriverBroken,
         "libcuda does not load: libcuda.so.1: file too short",
         "/opt/old/libcuda.so.1 is damaged: it is empty or cut short",
         "export LD_LIBRARY_PATH=/opt/cuda/lib64"},
        {"a link to nothing is a broken driver, not an absent one",
         both(library_path({"/opt/old"}),
              does_not_load(
                  ProbeStep::Library,
                  "/opt/old/libcuda.so.1 leads to nothing: it is a link to libcuda.so.535.1",
                  "/opt/old/libcuda.so.1")),
         ProbeStep::Library, "CE302", k_fails, ProbeVerdict::DriverBroken,
         "libcuda does not load: libcuda.so.1 leads to nothing",
         "/opt/old/libcuda.so.1 leads to nothing: it is a link to libcuda.so.535.1",
         "unset LD_LIBRARY_PATH"},
        {"a link to nothing in the system's directories is the driver's installation",
         does_not_load(ProbeStep::Library,
                       "/usr/lib64/libcuda.so.1 leads to nothing: it is a link to libcuda.so.535.1",
                       "/usr/lib64/libcuda.so.1"),
         ProbeStep::Library, "CE302", k_fails, ProbeVerdict::DriverBroken, "leads to nothing",
         "/usr/lib64/libcuda.so.1 leads to nothing", ""},
        {"a directory of libcuda's name is told as one",
         both(library_path({"/opt/old"}),
              does_not_load(ProbeStep::Library,
                            "libcuda.so.1: cannot read file data: Is a directory",
                            "/opt/old/libcuda.so.1")),
         ProbeStep::Library, "CE302", k_fails, ProbeVerdict::DriverBroken, "Is a directory",
         "/opt/old/libcuda.so.1 is a directory", "unset LD_LIBRARY_PATH"},
        {"a libcuda that is cut short is not opened, and told with its sizes",
         both(library_path({"/opt/old"}),
              does_not_load(ProbeStep::Library,
                            "cut short: /opt/old/libcuda.so.1 has 4096 bytes of at least 29000000",
                            "/opt/old/libcuda.so.1")),
         ProbeStep::Library, "CE302", k_fails, ProbeVerdict::DriverBroken,
         "libcuda does not load: libcuda.so.1 is cut short",
         "/opt/old/libcuda.so.1 has 4096 bytes of at least 29000000: it is damaged",
         "unset LD_LIBRARY_PATH"},
        {"a libcuda of another architecture is told as that",
         both(library_path({"/opt/old"}),
              does_not_load(ProbeStep::Library,
                            "/opt/old/libcuda.so.1: wrong ELF class: ELFCLASS32",
                            "/opt/old/libcuda.so.1")),
         ProbeStep::Library, "CE302", k_fails, ProbeVerdict::DriverBroken, "wrong ELF class",
         "/opt/old/libcuda.so.1 is of another architecture", "unset LD_LIBRARY_PATH"},
        {"a broken link that the loader passed over takes nothing from a driver that works",
         [](Bench& bench) {
             bench.rung(ProbeStep::Library).message =
                 "/opt/old/libcuda.so.1 leads to nothing: passed over";
         },
         ProbeStep::Library, "", StepStatus::Ok, ProbeVerdict::Ok,
         "libcuda.so.580.159.04; /opt/old/libcuda.so.1 leads to nothing: passed over", "", nullptr},
        {"a libcuda that may not be read is not absent, though the loader says so",
         [](Bench& bench) {
             bench.rung(ProbeStep::Library).path.clear();
             bench.context.closed_libraries.push_back(
                 {"/usr/lib64/libcuda.so.1", "root", "vglusers", 0640, false});
             bench.refuses(ProbeStep::Library, "dlopen",
                           "libcuda.so.1: cannot open shared object file: No such file or "
                           "directory");
         },
         ProbeStep::Library, "CE302", k_fails, ProbeVerdict::DriverBroken,
         "libcuda does not load: you may not read libcuda.so.1",
         "/usr/lib64/libcuda.so.1 is there, but it is root's, group vglusers, mode 0640",
         "sudo usermod -aG vglusers"},
        {"a libcuda that may lie in a closed directory is told with who may open that",
         both(
             [](Bench& bench) {
                 bench.context.closed_libraries.push_back(
                     {"/opt/nvidia/lib", "root", "vglusers", 0750, false, true});
             },
             does_not_load(ProbeStep::Library,
                           "libcuda.so.1: cannot open shared object file: No such file or "
                           "directory")),
         ProbeStep::Library, "CE301", k_fails, ProbeVerdict::NoDriver,
         "no libcuda.so.1 beside kernel module 580.159.04",
         "or it lies in /opt/nvidia/lib, which you may not search: it is root's, group vglusers, "
         "mode 0750",
         "sudo usermod -aG vglusers"},
        {"a library that libcuda needs is not libcuda's own absence",
         does_not_load(ProbeStep::Library,
                       "libnvidia-gpucomp.so.1: cannot open shared object file: No such file "
                       "or directory"),
         ProbeStep::Library, "CE302", k_fails, ProbeVerdict::DriverBroken, "libnvidia-gpucomp",
         "misses a library", ""},
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
        {"a newer libcuda that works all the same is a warning",
         [](Bench& bench) {
             bench.loads_libcuda("/usr/lib/x86_64-linux-gnu/libcuda.so.590.44.01");
         },
         ProbeStep::Library, "CE305", k_warns, ProbeVerdict::Warns,
         "libcuda 590.44.01, kernel module 580.159.04", "upgraded", "sudo reboot"},
    };
}

} // namespace cudaenv::testing
