#include "solver/plan/advice.hpp"

#include "base/text.hpp"
#include "solver/plan/probe/full_rungs.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::plan {

namespace {

using Records = std::vector<const specs::PackageRecord*>;

void warn(Outcome& outcome, const char* code, Severity severity, std::string title,
          std::string cause, std::optional<Fix> fix = std::nullopt,
          std::vector<Evidence> evidence = {}) {
    outcome.warnings.push_back(
        {code, severity, std::move(title), std::move(evidence), std::move(cause), std::move(fix)});
}

const knowledge::Architectures* device_code(const Attempt& attempt, const Records& records) {
    for (const specs::PackageRecord* const record : records) {
        if (record->name != "torch") {
            continue;
        }
        if (const auto* variant = torch_variant(record->version, record->build)) {
            const auto& code = attempt.manager == Manager::Conda ? variant->conda_architectures
                                                                 : variant->wheel_architectures;
            return code ? &*code : nullptr;
        }
    }
    return nullptr;
}

std::string gpu_text(const facts::Gpu& gpu) {
    return gpu.name.empty() ? fmt::format("GPU {}", gpu.index) : gpu.name;
}

void advise_driver(const Attempt& attempt, Outcome& outcome) {
    const facts::Host& host = attempt.world->host();
    if (!outcome.cuda) {
        return;
    }
    const DottedVersion& cuda = *outcome.cuda;
    const auto floor = cuda.major() >= 11 ? knowledge::family_floor(cuda.major())
                                          : knowledge::toolkit_minimum_driver(cuda);
    const auto full = knowledge::toolkit_minimum_driver(cuda);
    if (attempt.world->driver_assumed()) {
        warn(outcome, "CE201", Severity::Warning,
             "no driver is known here; one that is good enough was assumed",
             fmt::format("{}; CUDA {} needs driver {} or newer where it will run",
                         host.driver_absent.empty() ? "nothing is known of this host's driver"
                                                    : host.driver_absent,
                         cuda.major_minor(), floor ? floor->driver.str() : "for it"),
             Fix{"name the machine it is for with --driver VERSION or --host FILE", {}},
             floor ? std::vector<Evidence>{{floor->source, 0, floor->driver.str()}}
                   : std::vector<Evidence>{});
        return;
    }
    if (!host.driver) {
        return;
    }
    const facts::Driver& driver = *host.driver;
    const std::string here = driver.version ? "driver " + driver.version->str() : "the driver";
    if (driver.cuda) {
        outcome.notes.push_back(fmt::format("{} gives CUDA {}{}", here, driver.cuda->str(),
                                            driver.measured ? " (measured)" : ""));
    }
    if (driver.cuda && *driver.cuda < cuda) {
        warn(outcome, "CE202", Severity::Warning,
             fmt::format("{} gives CUDA {}, this is CUDA {}: machine code runs, PTX does not", here,
                         driver.cuda->str(), cuda.major_minor()),
             fmt::format(
                 "minor version compatibility covers compiled code only; code that is compiled "
                 "at run time (PTX, NVRTC, torch.compile) fails with error 222{}",
                 full ? fmt::format("; CUDA {} in full needs driver {}", cuda.major_minor(),
                                    full->driver.str())
                      : ""),
             std::nullopt, {{driver.source, 0, here}});
    } else if (!driver.measured && driver.version && full && *driver.version < full->driver) {
        warn(outcome, "CE203", Severity::Warning,
             fmt::format("{} is older than {}, the minimum of CUDA {} itself", here,
                         full->driver.str(), cuda.major_minor()),
             "it is new enough for the family, so that compiled code runs", std::nullopt,
             {{full->source, 0, full->driver.str()}});
    }
}

// What ran here, or did not, is told even where every table says that it fits.
void advise_measured(const Attempt& attempt, Outcome& outcome) {
    const auto& measured = attempt.world->host().measured;
    if (!outcome.cuda || !measured || measured->failed.empty()) {
        return;
    }
    std::vector<Evidence> evidence;
    for (const facts::FailedRung& rung : measured->failed) {
        evidence.push_back({"cudaenv probe", 0,
                            fmt::format("{}: {}{}", rung.step, rung.detail,
                                        rung.code.empty() ? "" : " (" + rung.code + ')')});
    }
    const facts::FailedRung& first = measured->failed.front();
    warn(outcome, "CE211", Severity::Warning,
         fmt::format("the probe failed here at {}{}: {}", first.step,
                     first.code.empty() ? "" : " (" + first.code + ')', first.detail),
         (first.cause.empty() ? "no CUDA program is known to run here" : first.cause) +
             (measured->at.empty() ? "" : "; measured at " + measured->at),
         Fix{"every rung, with what to do about it",
             // One that looks less far would not meet it, nor take it back.
             std::ranges::any_of(measured->failed, is_beyond_quick, &facts::FailedRung::step)
                 ? "cudaenv probe --full"
                 : "cudaenv probe"},
         std::move(evidence));
}

void advise_gpus(const Attempt& attempt, const Records& records, Outcome& outcome) {
    const facts::Host& host = attempt.world->host();
    const auto* const code = device_code(attempt, records);
    if (code == nullptr) {
        return;
    }
    const bool ptx =
        !host.driver || !host.driver->cuda || !outcome.cuda || *host.driver->cuda >= *outcome.cuda;
    std::vector<std::string> served;
    for (const facts::Gpu& gpu : host.gpus) {
        if (!gpu.compute_capability) {
            warn(outcome, "CE207", Severity::Warning,
                 fmt::format("the compute capability of {} is unknown", gpu_text(gpu)),
                 "whether these builds have code for it could not be checked");
            continue;
        }
        const ComputeCapability capability = *gpu.compute_capability;
        if (knowledge::serves_with_sass(*code, capability)) {
            served.push_back(std::to_string(gpu.index));
            outcome.notes.push_back(fmt::format("{} in the build", capability.sm()));
        } else if (ptx && knowledge::serves_with_ptx(*code, capability)) {
            served.push_back(std::to_string(gpu.index));
            warn(outcome, "CE206", Severity::Warning,
                 fmt::format("{} ({}) is served by PTX only", gpu_text(gpu), capability.sm()),
                 "the first start compiles every kernel and takes minutes", std::nullopt,
                 {{code->source, 0, {}}});
        }
    }
    for (const facts::Gpu& gpu : host.gpus) {
        const bool is_served =
            std::find(served.begin(), served.end(), std::to_string(gpu.index)) != served.end();
        if (gpu.compute_capability && !is_served) {
            warn(outcome, "CE204", Severity::Warning,
                 fmt::format("no code for {} ({}) in this build", gpu_text(gpu),
                             gpu.compute_capability->sm()),
                 "programs that touch that GPU fail with \"no kernel image is available\"",
                 Fix{"show it only the GPUs that are served",
                     "export CUDA_VISIBLE_DEVICES=" + join(served, ",")},
                 {{code->source, 0, {}}});
        }
    }
    if (code->derived) {
        outcome.notes.emplace_back(k_gpu_list_unknown);
    }
}

void advise_build(const Request& request, const Attempt& attempt, Outcome& outcome) {
    const facts::Host& host = attempt.world->host();
    if (!outcome.cuda) {
        return;
    }
    if (outcome.toolkit && outcome.toolkit->version) {
        if (outcome.toolkit->version->major_minor() != outcome.cuda->major_minor()) {
            warn(outcome, "CE205", Severity::Warning,
                 fmt::format("nvcc {} builds for CUDA {}: the same major, another minor",
                             outcome.toolkit->version->str(), outcome.cuda->major_minor()),
                 "torch accepts it from CUDA 11 on and warns", std::nullopt,
                 {{outcome.toolkit->path, 0, outcome.toolkit->version->str()}});
        }
        return;
    }
    if (request.purpose == Purpose::Build) {
        return;
    }
    const bool here =
        std::any_of(host.toolkits.begin(), host.toolkits.end(), [&](const auto& toolkit) {
            return toolkit.nvcc && toolkit.problem.empty() && toolkit.version &&
                   toolkit.version->major_minor() == outcome.cuda->major_minor();
        });
    if (!here) {
        const std::string version = outcome.cuda->major_minor();
        Fix fix{
            fmt::format("NVIDIA's runfile with --toolkit --toolkitpath=$HOME/cuda-{} needs no root",
                        version),
            {}};
        if (*outcome.cuda >= DottedVersion::of("11.3")) {
            fix = {"into the environment, without root",
                   fmt::format("conda install -c nvidia/label/cuda-{}.0 cuda-nvcc", version)};
        }
        outcome.missing.push_back(
            {"CE210",
             Severity::Note,
             fmt::format("no nvcc {} here: extensions cannot be built", version),
             {},
             "it is needed only to compile, not to run",
             std::move(fix)});
    }
}

} // namespace

void advise(const Request& request, const Attempt& attempt, const Records& records,
            Outcome& outcome) {
    advise_driver(attempt, outcome);
    advise_measured(attempt, outcome);
    advise_gpus(attempt, records, outcome);
    advise_build(request, attempt, outcome);
    const bool cpu_build = std::any_of(records.begin(), records.end(), [&](const auto* record) {
        // conda-forge says cpu_generic_py312_h1, pytorch's own channel py3.12_cpu_0.
        return attempt.catalogue
                   ? (record->name == "torch" || record->name == "tensorflow") &&
                         record->build == "cpu"
                   : (record->name == "pytorch" || record->name == "tensorflow") &&
                         record->build.find("cpu") != std::string::npos && !outcome.cuda;
    });
    if (cpu_build && !attempt.question.cpu_asked) {
        const facts::Host& host = attempt.world->host();
        warn(outcome, "CE208", Severity::Note,
             fmt::format("this is a CPU build: no CUDA was asked for and no {} is here",
                         host.driver ? "GPU" : "driver"),
             host.driver ? host.gpus_absent : host.driver_absent,
             Fix{"for a machine with a GPU, name its CUDA", "cudaenv resolve torch --cuda 12.6"});
    }
    for (const std::string& unreadable : attempt.universe->unreadable()) {
        warn(outcome, "CE209", Severity::Note,
             "a record of a channel could not be read and was left out", unreadable);
    }
}

} // namespace cudaenv::plan
