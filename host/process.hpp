// Children with a deadline. Law: run_all returns within the deadline (and a moment), whatever the
// children do; each leads a session of its own, without a terminal; its process group is killed at
// its end, whether that is its own or the deadline's; one that cannot die (stuck in the kernel, as
// with a broken driver) is left behind: only a thread waits for it, which reaps it where it
// dies after all.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudaenv::host {

struct ChildCommand {
    std::vector<std::string> arguments;   // [0] is the program's path; no search
    std::vector<std::string> environment; // "NAME=value"
    // What it has written on its standard output since the last call, on the caller's thread while
    // it runs. Without one the output is only in the outcome.
    std::function<void(std::string_view)> on_output = {};
};

struct ChildOutcome {
    bool started = false;
    bool timed_out = false;
    int exit_status = -1;  // -1: did not end by itself
    int signal = 0;        // that ended it; 0: none did, or its own deadline's
    bool is_stuck = false; // killed, and it does not end: stuck in the kernel
    std::string output;    // at most 1 MiB of standard output
    std::string error;     // at most 64 KiB of standard error
    std::string failure;   // why there is no answer, in a few words; empty on exit status 0
};

class ProcessRunner {
public:
    virtual ~ProcessRunner() = default;
    // All at once; outcomes in the commands' order. Standard input is /dev/null.
    virtual std::vector<ChildOutcome> run_all(std::span<const ChildCommand> commands,
                                              std::chrono::milliseconds deadline) = 0;

    ChildOutcome run(const ChildCommand& command, std::chrono::milliseconds deadline) {
        return std::move(run_all({&command, 1}, deadline).front());
    }
};

// For whoever reads at a prompt: nothing is started.
class NoProcesses final : public ProcessRunner {
public:
    std::vector<ChildOutcome> run_all(std::span<const ChildCommand> commands,
                                      std::chrono::milliseconds) override {
        ChildOutcome outcome;
        outcome.failure = "not asked: no program is started for a prompt";
        return std::vector<ChildOutcome>(commands.size(), outcome);
    }
};

class ChildProcessRunner final : public ProcessRunner {
public:
    // With `stop_event`, a descriptor that outlives this: once it is readable, children that run
    // are killed as at their deadline. `grace`: how long a killed child may take to be gone before
    // it is left behind.
    explicit ChildProcessRunner(int stop_event = -1,
                                std::chrono::milliseconds grace = std::chrono::milliseconds(200))
        : m_stop_event(stop_event), m_grace(grace) {}

    std::vector<ChildOutcome> run_all(std::span<const ChildCommand> commands,
                                      std::chrono::milliseconds deadline) override;

private:
    int m_stop_event;
    std::chrono::milliseconds m_grace;
};

} // namespace cudaenv::host
