// What the rungs of the probe mean: which is right, which warns, which fails, why, and what to do.
// Pure.
//
// Law: "driver >= runtime" is three checks (below the family's floor; below the toolkit's own
// minimum, where machine code runs and newer PTX does not; no code for the GPU), and each failure
// of the driver API that users meet has its own code, cause and fix (docs/findings.md, CE3xx). What
// was not reached is skipped, never right. A rung that was begun and not ended is a failure of that
// rung.
#pragma once

#include "base/dotted_version.hpp"
#include "solver/facts/environment.hpp"
#include "solver/facts/finding.hpp"
#include "solver/facts/host.hpp"
#include "solver/facts/probe.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::judge {

enum class StepStatus { Ok, Warns, Fails, Skipped };

// One line of the ladder.
struct JudgedStep {
    std::string name; // facts::word_of
    StepStatus status = StepStatus::Ok;
    std::string code;           // CE301; empty where there is nothing to report
    std::string situation;      // the case of it in data/findings.json
    facts::Arguments arguments; // the values in its sentences
    std::string detail;         // one line: what was seen, or the finding's title
    std::string cause;          // of a finding; else empty
    std::string output; // of a failed build: the end of the compiler's output, at most 4 KiB
    std::optional<facts::Fix> fix;
    double took_ms = 0;
    std::optional<int> gpu;
    // It fails by what the environment has; driver and GPU did their part.
    bool machine_is_right = false;
    // It fails, and no file would show that it was repaired: the GPU's own state, the fabric
    // manager, permissions, limits, the paths between GPUs. Not what passes by its verdict.
    bool of_the_moment = false;
    // It fails because another process has the GPU, its memory, MPS or the machine's memory:
    // nothing is broken.
    bool in_use = false;
};

enum class ProbeVerdict {
    Ok,
    Warns,
    Fails,
    NoDriver,
    NoGpu,
    DriverBroken,
    Busy,
    Crashed,
    TimedOut
};
// "ok", "warns", "fails", "no-driver", "no-gpu", "driver-broken", "busy", "crashed", "timeout".
std::string_view name_of(ProbeVerdict verdict);

struct ProbeVersion {
    DottedVersion version;
    std::string path;
};

struct ProbeOutcome {
    ProbeVerdict verdict = ProbeVerdict::Ok;
    std::string summary; // one line: "driver 13.0 >= runtime 13.0, and CUDA works on the GPU"
    std::vector<JudgedStep> steps;
    // Rungs that were asked for and not tried on some GPU, though there was something to try: it is
    // busy, exclusive, left alone or broken, or the child was lost. Each once, in the ladder's
    // order. With one of them the answer is incomplete: it does not replace what another probe
    // found.
    std::vector<std::string> not_looked_at;
    std::optional<DottedVersion> driver_cuda; // measured
    std::optional<ProbeVersion> runtime;
    std::optional<ProbeVersion> cudnn;
    std::optional<ProbeVersion> nvcc; // of --build
};

// What the judgement rests on besides the rungs themselves.
struct ProbeContext {
    // The kernel module's version, the driver's place, GPUs as the machine shows them; not its
    // CUDA.
    const facts::Host* host = nullptr;
    const facts::EnvironmentFacts* environment = nullptr; // none: no environment is active
    std::string environment_name;                         // "apex"; empty as above
    bool environment_is_active = true;     // in the caller's shell: pip and conda there are its own
    std::vector<std::string> library_path; // entries of LD_LIBRARY_PATH
    // CUDA_VISIBLE_DEVICES; none: unset. Set and empty it hides every GPU.
    std::optional<std::string> visible_devices;
    // A GPU's device file (/dev/nvidia0, WSL's /dev/dxg) was there before the probe ran; none:
    // unknown.
    std::optional<bool> device_files;
    // Device files, and libraries to try, which exist and are closed to this user.
    std::vector<facts::ClosedFile> closed_devices;
    std::vector<facts::ClosedFile> closed_libraries;
    // Libraries in a toolkit of another CUDA major, which the environment's loader does not search:
    // they were not tried.
    std::map<facts::ProbeStep, std::string> passed_over;
    bool full = false; // the whole ladder was asked for
    // "LD_PRELOAD", where it is set and not empty, or LD_AUDIT: what it names runs in every
    // program.
    std::string preloads;
};

ProbeOutcome judge_probe(const facts::ProbeReport& report, const ProbeContext& context);

} // namespace cudaenv::judge
