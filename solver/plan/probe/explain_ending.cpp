// A child that did not answer to the end: hung, crashed, broken off, not started.
#include "solver/plan/probe/packages.hpp"
#include "solver/plan/probe/scene.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::plan::probe {

namespace {

constexpr int k_bus_error = 7;

std::string signal_name(int signal) {
    switch (signal) {
    case 4:
        return "SIGILL";
    case 6:
        return "SIGABRT";
    case k_bus_error:
        return "SIGBUS";
    case 8:
        return "SIGFPE";
    case 9:
        return "SIGKILL";
    case 11:
        return "SIGSEGV";
    case 15:
        return "SIGTERM";
    case 1:
        return "SIGHUP";
    case 2:
        return "SIGINT";
    case 31:
        return "SIGSYS";
    case 24:
        return "SIGXCPU";
    default:
        return fmt::format("signal {}", signal);
    }
}

// Whose code ran when the child was lost.
std::string whose_code(facts::ProbeStep step) {
    if (step == facts::ProbeStep::Runtime) {
        return "the environment's libcudart or the driver below it";
    }
    if (facts::probed_library(step) != nullptr) {
        return "that library or the driver below it";
    }
    return step >= facts::ProbeStep::Build ? "the compiler or what it built" : "the driver";
}

Finding ending_itself(const Scene& scene, facts::ProbeStep step) {
    using Ending = facts::ProbeReport::Ending;
    const facts::ProbeReport& report = *scene.report;
    const auto word = facts::k_probe_steps.at(static_cast<std::size_t>(step));
    switch (report.ending) {
    case Ending::TimedOut:
        if (contains(report.failure, "does not die")) {
            return failure(
                "CE384", fmt::format("hung at {} and cannot be killed: stuck in the kernel", word),
                "the kernel module does not come back (state D); its GPU may have fallen off "
                "the bus",
                StepFix{"look for Xid and NVRM lines; usually only a reboot helps",
                        "sudo dmesg | grep -iE 'xid|nvrm|hung' | tail"},
                ProbeVerdict::TimedOut);
        }
        return failure(
            "CE380", fmt::format("hung at {}: {}", word, one_line(report.failure, 60)),
            fmt::format("{} hung: a GPU that is lost or overloaded, or a driver that waits",
                        whose_code(step)),
            StepFix{"look at the load and for Xid lines, then try again",
                    "nvidia-smi; sudo dmesg | grep -iE 'xid|nvrm' | tail"},
            ProbeVerdict::TimedOut);
    case Ending::Crashed: {
        Finding finding = failure(
            "CE381",
            fmt::format("crashed at {} with {}", word,
                        report.signal ? signal_name(*report.signal) : "a signal"),
            fmt::format("{} broke; the probe runs in a process of its own, nothing else is hurt",
                        whose_code(step)),
            StepFix{"look at what the kernel says, and whether driver and libraries are whole",
                    "sudo dmesg | tail"},
            ProbeVerdict::Crashed);
        if (report.signal == 9) {
            finding.cause = "somebody killed it: the kernel for want of memory, or a job limit";
        } else if (report.signal == 15 || report.signal == 1 || report.signal == 2) {
            finding.cause = "somebody ended it: a person, a job limit, or the machine going down";
            finding.fix = StepFix{"once more, where that was not meant", "cudaenv probe"};
        } else if (report.signal == 24) {
            finding.cause = "its processor time is limited, and was used up";
            finding.fix = StepFix{"a higher limit", "ulimit -t unlimited"};
        } else if (report.signal == k_bus_error) {
            finding.cause = fmt::format("{} broke, or a file that was mapped is cut short or its "
                                        "disk failed",
                                        whose_code(step));
        } else if (report.signal == 31) {
            finding.cause = "a sandbox (seccomp) forbids a system call that the driver makes";
        } else if (report.signal == 4) {
            finding.cause =
                fmt::format("{} was built for another CPU, or is damaged", whose_code(step));
        }
        return finding;
    }
    case Ending::NotStarted:
        return failure("CE382", "cudaenv-probe was not started: " + one_line(report.failure, 56),
                       "the probe is a program of its own, installed beside cudaenvd",
                       StepFix{"install cudaenv anew", {}});
    case Ending::Finished:
    case Ending::Garbled:
        break;
    }
    return failure(
        "CE383",
        fmt::format("cudaenv-probe gave no whole answer at {}: {}", word,
                    report.failure.empty() ? "its end is missing" : one_line(report.failure, 44)),
        "it ended in the middle, or is of another version than cudaenvd",
        StepFix{"once more; where it stays, install cudaenv anew", {}}, ProbeVerdict::Crashed);
}

// "libcudnn_ops.so.9" of the words that a library says of a part that it does not get.
std::string missing_part(std::string_view words) {
    if (!contains(words, "oad") && !contains(words, "cannot open")) {
        return {};
    }
    const auto end = words.find(".so");
    const auto begin = end == std::string_view::npos ? end : words.rfind("lib", end);
    const auto part = begin == std::string_view::npos ? std::string_view() : words.substr(begin);
    std::string_view name = part.substr(0, part.find_first_of(" ,;:'\"{}()"));
    name = name.substr(0, name.find_last_not_of('.') + 1); // the sentence's
    return contains(name, ".so") ? one_line(name, 40) : std::string();
}

// What was open when the child was lost; null where nothing is known of it.
const facts::ProbeRung* unfinished(const Scene& scene, facts::ProbeStep step) {
    const auto& rungs = scene.report->rungs;
    const auto found = std::find_if(rungs.begin(), rungs.end(), [&](const auto& rung) {
        return rung.step == step && rung.result == facts::ProbeResult::Unfinished;
    });
    return found == rungs.end() ? nullptr : &*found;
}

// Before any file was opened nothing ran but the probe itself, and what its user has every program
// load first.
bool is_preloaded_code(const Scene& scene, facts::ProbeStep step, const facts::ProbeRung* open) {
    using Ending = facts::ProbeReport::Ending;
    const Ending ending = scene.report->ending;
    const bool was_ended = ending == Ending::Crashed && scene.report->signal == 9;
    return step == facts::ProbeStep::Library && (open == nullptr || open->path.empty()) &&
           !scene.context->preloads.empty() && ending != Ending::NotStarted && !was_ended;
}

// The file that it was lost on: the one that was opened last, and one of those that are loaded
// with it which is not whole.
void name_file(const Scene& scene, const facts::ProbeRung& rung, Finding& finding) {
    const bool is_library = facts::probed_library(rung.step) != nullptr;
    if (const std::string fault = rung.message.starts_with(k_cut_short) ? fault_of_file(rung) : "";
        !fault.empty()) {
        finding.cause = fault;
        if (is_library) {
            finding.fix = bring_anew(scene, rung, "install it anew and whole");
        }
    } else if (!rung.path.empty()) {
        finding.cause += "; the last file that it opened: " + one_line(rung.path, 120);
    }
    // A libcuda that dies while it is loaded and comes from there is mostly not the driver's own.
    if (!is_library && finding.verdict == ProbeVerdict::Crashed && !scene.on_wsl()) {
        if (auto fix =
                fix_by_library_path(scene, rung.path, ", so that the driver's own is found")) {
            finding.fix = std::move(*fix);
        }
    }
}

} // namespace

Finding explain_ending(const Scene& scene, facts::ProbeStep step) {
    Finding finding = ending_itself(scene, step);
    const facts::ProbeRung* const open = unfinished(scene, step);
    if (open != nullptr) {
        name_file(scene, *open, finding);
    }
    if (const std::string& name = scene.context->preloads; is_preloaded_code(scene, step, open)) {
        finding.cause = fmt::format("{} is set: what it names runs in every program, and nothing "
                                    "of the driver's was open yet",
                                    name);
        finding.fix = StepFix{"without it", "unset " + name};
    }
    const std::string words = last_words(*scene.report);
    if (words.empty()) {
        return finding;
    }
    const auto* const library = facts::probed_library(step);
    if (const std::string part = missing_part(words);
        library != nullptr && !part.empty() && finding.verdict == ProbeVerdict::Crashed) {
        // cuDNN opens its parts when it first needs them, and aborts where one is not there.
        facts::ProbeRung rung = open != nullptr ? *open : facts::ProbeRung();
        rung.step = step;
        finding.cause = fmt::format("{} did not get {} and ended the process", library->name, part);
        finding.fix = bring_anew(scene, rung, "install it anew and whole, of one version");
    }
    finding.cause += "; its last words: " + words;
    return finding;
}

} // namespace cudaenv::plan::probe
