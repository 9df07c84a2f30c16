// A child that did not answer until the end: hung, crashed, broken off, not started.
#include "base/ranges.hpp"
#include "kernels/judge/scene.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::judge {

namespace {

// A signal, and the case of CE381 that it is.
struct Signal {
    int number;
    std::string_view name;
    std::string_view situation;
};
constexpr int k_killed = 9;
constexpr auto k_signals = std::to_array<Signal>({{1, "SIGHUP", "ended"},
                                                  {2, "SIGINT", "ended"},
                                                  {4, "SIGILL", "illegal"},
                                                  {6, "SIGABRT", ""},
                                                  {7, "SIGBUS", "bus"},
                                                  {8, "SIGFPE", ""},
                                                  {k_killed, "SIGKILL", "killed"},
                                                  {11, "SIGSEGV", ""},
                                                  {15, "SIGTERM", "ended"},
                                                  {24, "SIGXCPU", "cpu-time"},
                                                  {31, "SIGSYS", "sandbox"}});

const Signal* signal_of(const facts::ProbeReport& report) {
    return find_pointer(k_signals, report.signal.value_or(0), &Signal::number);
}

// Whose code ran when the child was lost.
std::string whose_code(facts::ProbeStep step) {
    if (step == facts::ProbeStep::Runtime) {
        return "the environment's libcudart or the driver below it";
    }
    if (facts::probed_library(step) != nullptr) {
        return "that library or the driver below it";
    }
    return facts::is_built(step) ? "the compiler or the built program" : "the driver";
}

// "libcudnn_ops.so.9" of a library's words for a part that it cannot load.
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
    return find_pointer_if(rungs, [&](const auto& rung) {
        return rung.step == step && rung.result == facts::ProbeResult::Unfinished;
    });
}

// Before any file was opened only the probe itself ran, and what LD_PRELOAD or LD_AUDIT loads into
// every program.
bool is_preloaded_code(const Scene& scene, facts::ProbeStep step, const facts::ProbeRung* open) {
    using Ending = facts::ProbeReport::Ending;
    const Ending ending = scene.report->ending;
    const bool was_ended = ending == Ending::Crashed && scene.report->signal == k_killed;
    return step == facts::ProbeStep::Library && (open == nullptr || open->path.empty()) &&
           !scene.context->preloads.empty() && ending != Ending::NotStarted && !was_ended;
}

// The code of an ending.
std::string_view code_of(const facts::ProbeReport& report) {
    using Ending = facts::ProbeReport::Ending;
    switch (report.ending) {
    case Ending::TimedOut:
        return report.is_stuck ? "CE384" : "CE380";
    case Ending::Crashed:
        return "CE381";
    case Ending::NotStarted:
        return "CE382";
    case Ending::Finished:
    case Ending::Garbled:
        break;
    }
    return "CE383";
}

} // namespace

Finding explain_ending(const Scene& scene, facts::ProbeStep step) {
    const facts::ProbeReport& report = *scene.report;
    const std::string_view code = code_of(report);
    const facts::ProbeRung* const open = unfinished(scene, step);
    const facts::ProbeRung rung = open != nullptr ? *open : [&] {
        facts::ProbeRung unknown;
        unknown.step = step;
        return unknown;
    }();
    const auto* const library = facts::probed_library(step);
    const auto* const signal = signal_of(report);
    const std::string words = last_words(report);
    const std::string fault =
        rung.reason == facts::RungReason::CutShort ? fault_of_file(rung) : std::string();
    Arguments arguments{{"step", std::string(facts::word_of(step))},
                        {"why", report.failure.empty()
                                    ? "its end is missing"
                                    : one_line(report.failure, code == "CE383" ? 44 : 56)},
                        {"whose", whose_code(step)},
                        {"signal", signal != nullptr ? std::string(signal->name)
                                   : report.signal   ? "signal " + std::to_string(*report.signal)
                                                     : std::string("a signal")},
                        {"file", one_line(rung.path, 120)},
                        {"fault", fault},
                        {"words", words},
                        {"preloads", scene.context->preloads},
                        {"name", library != nullptr ? std::string(library->name) : std::string()},
                        {"part", missing_part(words)}};
    const std::string situation(report.ending == facts::ProbeReport::Ending::Crashed &&
                                        signal != nullptr
                                    ? signal->situation
                                    : "");
    const Finding itself = found(code, situation, arguments);
    if (is_preloaded_code(scene, step, open)) {
        return found(code, "preload", std::move(arguments));
    }
    const bool has_crashed = itself.verdict == ProbeVerdict::Crashed;
    // cuDNN opens its parts when it first needs them, and aborts where one does not exist.
    if (library != nullptr && has_crashed && !missing_part(words).empty()) {
        return found(code, "part", std::move(arguments) + reinstalled(scene, rung));
    }
    // A libcuda that dies while it is loaded and comes from there is rarely the driver's own.
    if (library == nullptr && has_crashed && !scene.on_wsl() && open != nullptr) {
        if (const Arguments out = out_of_library_path(scene, rung.path); !out.empty()) {
            return found(code, "library-path",
                         std::move(arguments) + Arguments{{"cause", itself.text.cause}} + out);
        }
    }
    if (!fault.empty()) {
        return found(code, library != nullptr ? "damaged" : "damaged-driver",
                     std::move(arguments) + reinstalled(scene, rung));
    }
    return itself;
}

Finding explain_farewell(const Scene& scene, const std::string& line) {
    return found("CE385", "",
                 {{"line", line},
                  {"why", one_line(scene.report->failure, 60)},
                  {"words", last_words(*scene.report)}});
}

} // namespace cudaenv::judge
