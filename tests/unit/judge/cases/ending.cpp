// A child that was lost.
#include "tests/unit/judge/cases/rows.hpp"

namespace cudaenv::testing {

namespace {

// The whole ladder up to that step, at which a signal ended the child.
Change crashes(ProbeStep step, int signal, const char* words = "") {
    return [=](Bench& bench) {
        bench.climbs_all();
        bench.lost(step, Ending::Crashed, "ended by a signal");
        bench.report.signal = signal;
        bench.report.words = words;
    };
}

// The same, with the file that was opened last, and what else was known of it by then.
Change crashes_on(ProbeStep step, int signal, const char* path, const char* message = "") {
    return [=](Bench& bench) {
        crashes(step, signal)(bench);
        bench.rung(step).path = path;
        bench.rung(step).message = message;
    };
}

} // namespace

std::vector<Case> ending_cases() {
    return {
        {"a child that hung is reported with the step it hung at",
         [](Bench& bench) {
             bench.lost(ProbeStep::Driver, Ending::TimedOut, "no answer within 10000 ms, killed");
         },
         ProbeStep::Driver,
         "CE380",
         k_fails,
         ProbeVerdict::TimedOut,
         "",
         {{"step", "driver"},
          {"why", "no answer within 10000 ms, killed"},
          {"whose", "the driver"}}},
        {"a child that hung between two steps hung at the next",
         [](Bench& bench) {
             bench.drop_after(ProbeStep::Gpu);
             bench.report.ending = Ending::TimedOut;
             bench.report.failure = "no answer within 10000 ms, killed";
         },
         ProbeStep::Runtime,
         "CE380",
         k_fails,
         ProbeVerdict::TimedOut,
         "",
         {{"step", "runtime"},
          {"why", "no answer within 10000 ms, killed"},
          {"whose", "the environment's libcudart or the driver below it"}}},
        {"a child that cannot be killed is stuck in the kernel",
         [](Bench& bench) {
             bench.lost(
                 ProbeStep::Memory, Ending::TimedOut,
                 "no answer within 10000 ms, killed; it does not exit (stuck in the kernel)");
             bench.report.is_stuck = true;
         },
         ProbeStep::Memory,
         "CE384",
         k_fails,
         ProbeVerdict::TimedOut,
         "",
         {{"step", "memory"}}},
        {"a crash is reported with its step and signal",
         crashes(ProbeStep::Kernel, 11),
         ProbeStep::Kernel,
         "CE381",
         k_fails,
         ProbeVerdict::Crashed,
         "",
         {{"step", "kernel"}, {"whose", "the driver"}, {"signal", "SIGSEGV"}}},
        {"a child that somebody killed",
         crashes(ProbeStep::Memory, 9),
         ProbeStep::Memory,
         "CE381",
         k_fails,
         ProbeVerdict::Crashed,
         "killed",
         {{"step", "memory"}, {"signal", "SIGKILL"}}},
        {"a child that somebody asked to end",
         crashes(ProbeStep::Driver, 15),
         ProbeStep::Driver,
         "CE381",
         k_fails,
         ProbeVerdict::Crashed,
         "ended",
         {{"step", "driver"}, {"signal", "SIGTERM"}}},
        {"a child whose processor time is limited",
         crashes(ProbeStep::Ptx, 24),
         ProbeStep::Ptx,
         "CE381",
         k_fails,
         ProbeVerdict::Crashed,
         "cpu-time",
         {{"step", "ptx"}, {"signal", "SIGXCPU"}}},
        {"a child that broke before it opened anything is the preloaded code's",
         [](Bench& bench) {
             bench.report.rungs.clear();
             bench.report.ending = Ending::Crashed;
             bench.report.signal = 6;
             bench.context.preloads = "LD_PRELOAD";
         },
         ProbeStep::Library,
         "CE381",
         k_fails,
         ProbeVerdict::Crashed,
         "preload",
         {{"step", "library"}, {"signal", "SIGABRT"}, {"preloads", "LD_PRELOAD"}}},
        {"one that broke in a file that it had opened is not",
         [](Bench& bench) {
             crashes_on(ProbeStep::Library, 11, "/opt/a/libcuda.so.1")(bench);
             bench.context.preloads = "LD_PRELOAD";
         },
         ProbeStep::Library,
         "CE381",
         k_fails,
         ProbeVerdict::Crashed,
         "",
         {{"step", "library"},
          {"whose", "the driver"},
          {"signal", "SIGSEGV"},
          {"file", "/opt/a/libcuda.so.1"}}},
        {"a child that was not started",
         [](Bench& bench) {
             bench.report.rungs.clear();
             bench.report.ending = Ending::NotStarted;
             bench.report.failure = "cannot start cudaenv-probe: No such file or directory";
         },
         ProbeStep::Library,
         "CE382",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"why", "cannot start cudaenv-probe: No such file or directory"}}},
        {"a child of which nothing could be read",
         [](Bench& bench) {
             bench.report.rungs.clear();
             bench.report.ending = Ending::Garbled;
             bench.report.failure = "exit status 2: usage";
         },
         ProbeStep::Library,
         "CE383",
         k_fails,
         ProbeVerdict::Crashed,
         "",
         {{"step", "library"}, {"why", "exit status 2: usage"}}},
        {"cuDNN that aborts because one of its parts is missing is reported with its output and "
         "that part",
         crashes(ProbeStep::Cudnn, 6,
                 "Could not load library libcudnn_ops.so.9. Error: libcudnn_ops.so.9: cannot open "
                 "shared object file: No such file or directory"),
         ProbeStep::Cudnn,
         "CE381",
         k_fails,
         ProbeVerdict::Crashed,
         "part",
         {{"step", "cudnn"},
          {"signal", "SIGABRT"},
          {"words", "Could not load library libcudnn_ops.so.9. Error: libcudnn_ops.so.9: cannot "
                    "open shared object file: No such file or directory"},
          {"name", "cuDNN"},
          {"part", "libcudnn_ops.so.9"},
          {"reinstall", "reinstall it"},
          {"reinstall_command",
           "/home/me/env/bin/python -m pip install --force-reinstall nvidia-cudnn-cu13"}}},
        {"a crash in a library is reported with the file that was opened last",
         crashes_on(ProbeStep::Cublas, 11, "/home/me/env/lib/libcublas.so.13"),
         ProbeStep::Cublas,
         "CE381",
         k_fails,
         ProbeVerdict::Crashed,
         "",
         {{"step", "cublas"},
          {"whose", "that library or the driver below it"},
          {"signal", "SIGSEGV"},
          {"file", "/home/me/env/lib/libcublas.so.13"}}},
        {"a crash beside a library that is cut short is that one's",
         both(crashes_on(ProbeStep::Cublas, 7, "/home/me/env/lib/libcublas.so.13",
                         "has 4096 bytes of at least 90000"),
              because(ProbeStep::Cublas, RungReason::CutShort,
                      "/home/me/env/lib/libcublasLt.so.13")),
         ProbeStep::Cublas,
         "CE381",
         k_fails,
         ProbeVerdict::Crashed,
         "damaged",
         {{"step", "cublas"},
          {"signal", "SIGBUS"},
          {"fault", "/home/me/env/lib/libcublasLt.so.13 has 4096 bytes of at least 90000: it is "
                    "damaged, by an interrupted copy or installation"},
          {"reinstall", "reinstall it"},
          {"reinstall_command",
           "/home/me/env/bin/python -m pip install --force-reinstall nvidia-cublas"}}},
        {"SIGBUS without a file may be one that is cut short",
         crashes(ProbeStep::Kernel, 7),
         ProbeStep::Kernel,
         "CE381",
         k_fails,
         ProbeVerdict::Crashed,
         "bus",
         {{"step", "kernel"}, {"whose", "the driver"}, {"signal", "SIGBUS"}}},
        {"a libcuda of LD_LIBRARY_PATH that dies while it is loaded is taken out of it",
         [](Bench& bench) {
             bench.context.library_path = {"/opt/old"};
             crashes_on(ProbeStep::Library, 6, "/opt/old/libcuda.so.1")(bench);
         },
         ProbeStep::Library,
         "CE381",
         k_fails,
         ProbeVerdict::Crashed,
         "library-path",
         {{"step", "library"},
          {"signal", "SIGABRT"},
          {"cause", "the driver crashed; the probe runs in its own process, so nothing else is "
                    "affected; the last file it opened: /opt/old/libcuda.so.1"},
          {"entries", "/opt/old"},
          {"command", "unset LD_LIBRARY_PATH"}}},
        {"a libcuda of the system's that dies is not",
         [](Bench& bench) {
             bench.context.library_path = {"/opt/old"};
             crashes_on(ProbeStep::Library, 6, "/usr/lib64/libcuda.so.1")(bench);
         },
         ProbeStep::Library,
         "CE381",
         k_fails,
         ProbeVerdict::Crashed,
         "",
         {{"step", "library"},
          {"whose", "the driver"},
          {"signal", "SIGABRT"},
          {"file", "/usr/lib64/libcuda.so.1"}}},
        {"a child that hung is reported with what it wrote last",
         [](Bench& bench) {
             bench.lost(ProbeStep::Nccl, Ending::TimedOut, "no answer within 10000 ms, killed");
             bench.report.words = "waiting\nNCCL WARN Call to connect failed";
         },
         ProbeStep::Nccl,
         "CE380",
         k_fails,
         ProbeVerdict::TimedOut,
         "",
         {{"step", "nccl"},
          {"why", "no answer within 10000 ms, killed"},
          {"whose", "that library or the driver below it"},
          {"words", "waiting / NCCL WARN Call to connect failed"}}},
        {"a child that ended in the middle is reported with what it wrote last",
         [](Bench& bench) {
             bench.lost(ProbeStep::Kernel, Ending::Garbled, "exit status 3");
             bench.report.words = "fatal: no more";
         },
         ProbeStep::Kernel,
         "CE383",
         k_fails,
         ProbeVerdict::Crashed,
         "",
         {{"step", "kernel"}, {"why", "exit status 3"}, {"words", "fatal: no more"}}},
        {"a driver that hangs at the end of the process is a warning",
         [](Bench& bench) { bench.report.failure = "no answer within 10000 ms, killed"; },
         ProbeStep::Kernel,
         "CE385",
         k_warns,
         ProbeVerdict::Warns,
         "",
         {{"line", "machine code for sm_90, result correct"},
          {"why", "no answer within 10000 ms, killed"}}},
    };
}

} // namespace cudaenv::testing
