// The driver's library.
#include "tests/unit/judge/cases/rows.hpp"

namespace cudaenv::testing {

std::vector<Case> library_cases() {
    return {
        {"a stub that LD_LIBRARY_PATH finds is no driver to put on the loader's path",
         [](Bench& bench) {
             bench.context.library_path = {"/opt/cuda/stubs"};
             bench.loads_libcuda("/opt/cuda/stubs/libcuda.so");
             bench.rung(ProbeStep::Library).found_by = "linker-name";
             bench.fails(ProbeStep::Driver, "cuInit", 34, "CUDA_ERROR_STUB_LIBRARY");
         },
         ProbeStep::Driver,
         "CE303",
         k_fails,
         ProbeVerdict::DriverBroken,
         "library-path",
         {{"entries", "/opt/cuda/stubs"}, {"command", "unset LD_LIBRARY_PATH"}}},
        {"without libcuda there is no driver",
         [](Bench& bench) {
             bench.host.driver.reset();
             bench.rung(ProbeStep::Library).path.clear();
             bench.refuses(ProbeStep::Library, "dlopen",
                           "libcuda.so.1: cannot open shared object file: No such file or "
                           "directory");
         },
         ProbeStep::Library,
         "CE301",
         k_fails,
         ProbeVerdict::NoDriver,
         "debian",
         {}},
        {"a container without the driver's libraries is reported which capability it lacks",
         [](Bench& bench) {
             bench.host.platform.container = "docker";
             bench.rung(ProbeStep::Library).path.clear();
             bench.refuses(ProbeStep::Library, "dlopen",
                           "libcuda.so.1: cannot open shared object file: No such file or "
                           "directory");
         },
         ProbeStep::Library,
         "CE301",
         k_fails,
         ProbeVerdict::NoDriver,
         "container-libraries",
         {{"module", "580.159.04"}}},
        {"a libcuda that does not load is broken, not absent",
         does_not_load(ProbeStep::Library, "/usr/lib/libcuda.so.1: file too short"),
         ProbeStep::Library,
         "CE302",
         k_fails,
         ProbeVerdict::DriverBroken,
         "",
         {{"said", "libcuda.so.1: file too short"},
          {"fault", "/usr/lib/libcuda.so.1 is damaged: it is empty or truncated"}}},
        {"a broken libcuda that LD_LIBRARY_PATH brings is named, with what takes it out",
         both(library_path({"/opt/cuda/lib64", "/opt/old/"}),
              does_not_load(ProbeStep::Library, "/opt/old/libcuda.so.1: file too short",
                            "/opt/old/libcuda.so.1")),
         ProbeStep::Library,
         "CE302",
         k_fails,
         ProbeVerdict::DriverBroken,
         "library-path",
         {{"said", "libcuda.so.1: file too short"},
          {"fault", "/opt/old/libcuda.so.1 is damaged: it is empty or truncated"},
          {"entries", "/opt/old/"},
          {"command", "export LD_LIBRARY_PATH=/opt/cuda/lib64"}}},
        {"a link to nothing is a broken driver, not an absent one",
         both(library_path({"/opt/old"}),
              both(does_not_load(
                       ProbeStep::Library,
                       "/opt/old/libcuda.so.1 leads to nothing: it is a link to libcuda.so.535.1",
                       "/opt/old/libcuda.so.1"),
                   because(ProbeStep::Library, RungReason::BrokenLink, "/opt/old/libcuda.so.1"))),
         ProbeStep::Library,
         "CE302",
         k_fails,
         ProbeVerdict::DriverBroken,
         "library-path",
         {{"said", "libcuda.so.1 leads to nothing: it is a link to libcuda.so.535.1"},
          {"fault", "/opt/old/libcuda.so.1 leads to nothing: it is a link to libcuda.so.535.1"},
          {"entries", "/opt/old"},
          {"command", "unset LD_LIBRARY_PATH"}}},
        {"a link to nothing in the system's directories is the driver's installation",
         both(does_not_load(
                  ProbeStep::Library,
                  "/usr/lib64/libcuda.so.1 leads to nothing: it is a link to libcuda.so.535.1",
                  "/usr/lib64/libcuda.so.1"),
              because(ProbeStep::Library, RungReason::BrokenLink, "/usr/lib64/libcuda.so.1")),
         ProbeStep::Library,
         "CE302",
         k_fails,
         ProbeVerdict::DriverBroken,
         "",
         {{"said", "libcuda.so.1 leads to nothing: it is a link to libcuda.so.535.1"},
          {"fault", "/usr/lib64/libcuda.so.1 leads to nothing: it is a link to libcuda.so.535.1"}}},
        {"a directory of libcuda's name is reported as one",
         both(library_path({"/opt/old"}),
              does_not_load(ProbeStep::Library,
                            "libcuda.so.1: cannot read file data: Is a directory",
                            "/opt/old/libcuda.so.1")),
         ProbeStep::Library,
         "CE302",
         k_fails,
         ProbeVerdict::DriverBroken,
         "library-path",
         {{"said", "libcuda.so.1: cannot read file data: Is a directory"},
          {"fault", "/opt/old/libcuda.so.1 is a directory"},
          {"entries", "/opt/old"},
          {"command", "unset LD_LIBRARY_PATH"}}},
        {"a libcuda that is cut short is not opened, and reported with its sizes",
         both(library_path({"/opt/old"}),
              both(does_not_load(ProbeStep::Library, "has 4096 bytes of at least 29000000",
                                 "/opt/old/libcuda.so.1"),
                   because(ProbeStep::Library, RungReason::CutShort, "/opt/old/libcuda.so.1"))),
         ProbeStep::Library,
         "CE302",
         k_fails,
         ProbeVerdict::DriverBroken,
         "library-path",
         {{"said", "libcuda.so.1 is cut short"},
          {"fault", "/opt/old/libcuda.so.1 has 4096 bytes of at least 29000000: it is damaged, by "
                    "an interrupted copy or installation"},
          {"entries", "/opt/old"},
          {"command", "unset LD_LIBRARY_PATH"}}},
        {"a libcuda of another architecture is reported as that",
         both(library_path({"/opt/old"}),
              does_not_load(ProbeStep::Library,
                            "/opt/old/libcuda.so.1: wrong ELF class: ELFCLASS32",
                            "/opt/old/libcuda.so.1")),
         ProbeStep::Library,
         "CE302",
         k_fails,
         ProbeVerdict::DriverBroken,
         "library-path",
         {{"said", "libcuda.so.1: wrong ELF class: ELFCLASS32"},
          {"fault", "/opt/old/libcuda.so.1 is of another architecture"},
          {"entries", "/opt/old"},
          {"command", "unset LD_LIBRARY_PATH"}}},
        {"a broken link that the loader passed over takes nothing from a driver that works",
         [](Bench& bench) {
             bench.rung(ProbeStep::Library).message =
                 "/opt/old/libcuda.so.1 leads to nothing: passed over";
         },
         ProbeStep::Library,
         "",
         StepStatus::Ok,
         ProbeVerdict::Ok,
         "",
         {{"line", "libcuda.so.580.159.04; /opt/old/libcuda.so.1 leads to nothing: passed over"}}},
        {"a libcuda that may not be read is not absent, though the loader says so",
         [](Bench& bench) {
             bench.rung(ProbeStep::Library).path.clear();
             bench.context.closed_libraries.push_back(
                 {"/usr/lib64/libcuda.so.1", "root", "vglusers", 0640, false});
             bench.refuses(ProbeStep::Library, "dlopen",
                           "libcuda.so.1: cannot open shared object file: No such file or "
                           "directory");
         },
         ProbeStep::Library,
         "CE302",
         k_fails,
         ProbeVerdict::DriverBroken,
         "closed",
         {{"path", "/usr/lib64/libcuda.so.1"},
          {"file", "libcuda.so.1"},
          {"whose", "it is root's, group vglusers, mode 0640"},
          {"open", "ask to join group vglusers, then log in again"},
          {"open_command", "sudo usermod -aG vglusers \"$USER\""}}},
        {"a libcuda that may lie in a closed directory is reported with who may open that",
         both(
             [](Bench& bench) {
                 bench.context.closed_libraries.push_back(
                     {"/opt/nvidia/lib", "root", "vglusers", 0750, false, true});
             },
             does_not_load(ProbeStep::Library,
                           "libcuda.so.1: cannot open shared object file: No such file or "
                           "directory")),
         ProbeStep::Library,
         "CE301",
         k_fails,
         ProbeVerdict::NoDriver,
         "libraries",
         {{"module", "580.159.04"}, {"debian", "yes"}}},
        {"a library that libcuda needs is not libcuda's own absence",
         does_not_load(ProbeStep::Library,
                       "libnvidia-gpucomp.so.1: cannot open shared object file: No such file "
                       "or directory"),
         ProbeStep::Library,
         "CE302",
         k_fails,
         ProbeVerdict::DriverBroken,
         "",
         {{"said", "libnvidia-gpucomp.so.1 is not found"}}},
        {"a libcuda that only WSL's directory has is not found by programs",
         [](Bench& bench) {
             bench.host.driver.reset();
             bench.host.platform.wsl = true;
             bench.loads_libcuda("/usr/lib/wsl/drivers/nvdm.inf_amd64_1/libcuda.so.1.1");
             bench.rung(ProbeStep::Library).found_by = "wsl";
         },
         ProbeStep::Library,
         "CE300",
         k_warns,
         ProbeVerdict::Warns,
         "other-directory",
         {{"directory", "/usr/lib/wsl/lib"}, {"place", "/usr/lib/wsl/lib"}}},
        {"a libcuda that has the linker's name only is not found by programs",
         [](Bench& bench) { bench.rung(ProbeStep::Library).found_by = "linker-name"; },
         ProbeStep::Library,
         "CE300",
         k_warns,
         ProbeVerdict::Warns,
         "linker-name",
         {{"directory", "/usr/lib/x86_64-linux-gnu"}}},
        {"a libcuda that the loader found has no warning",
         [](Bench& bench) { bench.rung(ProbeStep::Library).found_by = "loader"; },
         ProbeStep::Library,
         "",
         StepStatus::Ok,
         ProbeVerdict::Ok,
         "",
         {{"line", "libcuda.so.580.159.04"}}},
        {"a newer libcuda that works all the same is a warning",
         [](Bench& bench) {
             bench.loads_libcuda("/usr/lib/x86_64-linux-gnu/libcuda.so.590.44.01");
         },
         ProbeStep::Library,
         "CE305",
         k_warns,
         ProbeVerdict::Warns,
         "",
         {{"libcuda", "libcuda 590.44.01"}, {"module", "580.159.04"}}},
    };
}

} // namespace cudaenv::testing
