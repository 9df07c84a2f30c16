// A child that was lost.
#include "tests/unit/probe/cases/rows.hpp"

namespace cudaenv::testing {

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

} // namespace cudaenv::testing
