#include "solver/resolve/advice.hpp"

#include "base/text.hpp"
#include "solver/facts/probe_rungs.hpp"
#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/findings.hpp"
#include "solver/knowledge/recipes.hpp"
#include "solver/knowledge/toolkits.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::resolve {

namespace {

using knowledge::Answer;

void warn(Outcome& outcome, std::string_view code, facts::Arguments arguments,
          std::vector<facts::Evidence> evidence = {}) {
    outcome.warnings.push_back(knowledge::finding(code, {}, std::move(arguments)));
    outcome.warnings.back().evidence = std::move(evidence);
}

void advise_driver(const Attempt& attempt, Outcome& outcome) {
    using knowledge::DriverFit;
    const facts::Host& host = attempt.world->host();
    if (!outcome.cuda) {
        return;
    }
    const std::string cuda = outcome.cuda->major_minor();
    const auto judged = knowledge::driver_fit(host, *outcome.cuda);
    const auto bound_text = [](const std::optional<knowledge::DriverBound>& bound) {
        return bound ? bound->driver.str() : std::string();
    };
    if (attempt.world->driver_assumed()) {
        warn(outcome, "CE201",
             {{"absent", host.driver_absent.empty() ? "nothing is known of this host's driver"
                                                    : host.driver_absent},
              {"cuda", cuda},
              {"floor", bound_text(judged.floor)}},
             judged.floor
                 ? std::vector<facts::Evidence>{{judged.floor->source, 0, bound_text(judged.floor)}}
                 : std::vector<facts::Evidence>{});
        return;
    }
    if (!host.driver) {
        return;
    }
    if (std::string text = knowledge::driver_text(host); !text.empty()) {
        outcome.runs.push_back(
            {std::move(text), judged.fit == DriverFit::Full ? Answer::Yes : Answer::Unknown});
    }
    if (judged.fit == DriverFit::MachineCode) {
        warn(outcome, "CE202",
             {{"driver", judged.driver},
              {"given", judged.gives ? judged.gives->str() : "an older release"},
              {"cuda", cuda},
              {"full", bound_text(judged.minimum)}},
             {{judged.source, 0, judged.driver}});
    } else if (judged.fit == DriverFit::BelowMinimum) {
        warn(outcome, "CE203",
             {{"driver", judged.driver}, {"cuda", cuda}, {"full", bound_text(judged.minimum)}},
             {{judged.minimum->source, 0, bound_text(judged.minimum)}});
    }
}

// What ran here, or did not, counts even where every table says that it fits.
void advise_measured(const Attempt& attempt, Outcome& outcome) {
    const auto& measured = attempt.world->host().measured;
    if (!outcome.cuda || !measured || measured->failed.empty()) {
        return;
    }
    std::vector<facts::Evidence> evidence;
    for (const facts::FailedRung& rung : measured->failed) {
        evidence.push_back({"cudaenv probe", 0,
                            fmt::format("{}: {}{}", rung.step, rung.detail,
                                        rung.code.empty() ? "" : " (" + rung.code + ')')});
    }
    const facts::FailedRung& first = measured->failed.front();
    // A probe that looks less far would not meet it, nor take it back.
    const bool full =
        std::ranges::any_of(measured->failed, facts::is_beyond_quick, &facts::FailedRung::step);
    warn(outcome, "CE211",
         {{"step", first.step},
          {"number", first.code},
          {"detail", first.detail},
          {"cause", first.cause.empty() ? "no CUDA program is known to run here" : first.cause},
          {"at", measured->at},
          {"probe", full ? "cudaenv probe --full" : "cudaenv probe"}},
         std::move(evidence));
}

const knowledge::TorchVariant* torch_build(const Attempt& attempt, const Records& records) {
    for (const specs::PackageRecord* const record : records) {
        if (record->name == "torch") {
            return knowledge::torch_variant(record->version, record->build,
                                            attempt.world->host().machine);
        }
    }
    return nullptr;
}

void advise_gpus(const Attempt& attempt, const Records& records, Outcome& outcome) {
    using knowledge::GpuFit;
    const facts::Host& host = attempt.world->host();
    if (!outcome.cuda) {
        return;
    }
    const auto* const variant = torch_build(attempt, records);
    const knowledge::Architectures* code = nullptr;
    if (variant != nullptr) {
        const auto& list = attempt.manager == Manager::Conda ? variant->conda_architectures
                                                             : variant->wheel_architectures;
        code = list ? &*list : nullptr;
    }
    struct Judged {
        knowledge::NamedGpu gpu;
        knowledge::GpuJudgement fit;
    };
    std::vector<Judged> judged;
    std::vector<std::string> served;
    for (const knowledge::NamedGpu& gpu : knowledge::gpus_of(host)) {
        if (!gpu.capability) {
            warn(outcome, "CE207", {{"gpu", gpu.name}});
            continue;
        }
        judged.push_back(
            {gpu, knowledge::build_serves(*outcome.cuda, code, *gpu.capability, host)});
        if (judged.back().fit.runs() != Answer::No) {
            served.push_back(std::to_string(gpu.index));
        }
    }
    for (const auto& [gpu, fit] : judged) {
        const std::string sm = gpu.capability->sm();
        switch (fit.fit) {
        case GpuFit::MachineCode:
            outcome.runs.push_back({sm + " in the build", Answer::Yes});
            break;
        case GpuFit::Ptx:
            outcome.runs.push_back({sm + " by PTX", Answer::Unknown});
            warn(outcome, "CE206", {{"gpu", gpu.name}, {"sm", sm}}, {{fit.source, 0, {}}});
            break;
        case GpuFit::Unknown:
            // CUDA alone has no build of its own: its libraries serve the GPU or do not.
            if (variant == nullptr &&
                knowledge::toolkit_serves(*outcome.cuda, *gpu.capability).runs() == Answer::Yes) {
                outcome.runs.push_back(
                    {fmt::format("CUDA {} serves {}", outcome.cuda->major_minor(), sm),
                     Answer::Yes});
                break;
            }
            outcome.runs.push_back(
                {sm + ": unknown, this build's GPU list is not published", Answer::Unknown});
            warn(outcome, "CE214", {{"gpu", gpu.name}, {"sm", sm}});
            break;
        case GpuFit::NoCode:
        case GpuFit::TooNew:
        case GpuFit::TooOld:
            warn(outcome, "CE204", {{"gpu", gpu.name}, {"sm", sm}, {"served", join(served, ",")}},
                 {{fit.source, 0, {}}});
            break;
        }
    }
}

void advise_build(const Request& request, const Attempt& attempt, Outcome& outcome) {
    const facts::Host& host = attempt.world->host();
    if (!outcome.cuda) {
        return;
    }
    const auto other_minor = [&](const facts::Toolkit& toolkit) {
        warn(outcome, "CE205",
             {{"nvcc", toolkit.version->str()}, {"cuda", outcome.cuda->major_minor()}},
             {{toolkit.path, 0, toolkit.version->str()}});
    };
    if (outcome.toolkit && outcome.toolkit->version) {
        if (outcome.toolkit->version->major_minor() != outcome.cuda->major_minor()) {
            other_minor(*outcome.toolkit);
        }
        return;
    }
    if (request.purpose == pins::Purpose::Build) {
        return;
    }
    const auto usable = [&](const facts::Toolkit& toolkit) {
        return knowledge::can_compile(toolkit) &&
               knowledge::nvcc_match(*toolkit.version, *outcome.cuda) != knowledge::NvccMatch::None;
    };
    if (!std::ranges::any_of(host.toolkits, usable)) {
        const auto recipe = knowledge::nvcc_recipe(*outcome.cuda, request.environment.target);
        outcome.missing.push_back(knowledge::finding("CE210", {},
                                                     {{"cuda", outcome.cuda->major_minor()},
                                                      {"how", recipe.text},
                                                      {"recipe", recipe.command}}));
    }
}

void advise_cpu(const Attempt& attempt, const Records& records, Outcome& outcome) {
    const bool cpu_build = std::ranges::any_of(records, [&](const auto* record) {
        // conda-forge says cpu_generic_py312_h1, pytorch's own channel py3.12_cpu_0.
        return attempt.catalogue
                   ? (record->name == "torch" || record->name == "tensorflow") &&
                         record->build == "cpu"
                   : (record->name == "pytorch" || record->name == "tensorflow") &&
                         record->build.find("cpu") != std::string::npos && !outcome.cuda;
    });
    if (!cpu_build || attempt.question.cpu_asked) {
        return;
    }
    const facts::Host& host = attempt.world->host();
    const bool driver = host.driver.has_value();
    warn(outcome, "CE208",
         {{"missing", driver ? "GPU" : "driver"},
          {"why", driver ? host.gpus_absent : host.driver_absent},
          {"name", "torch"},
          {"cuda", "12.6"}});
    outcome.warnings.back().severity = facts::Severity::Note;
}

} // namespace

void advise(const Request& request, const Attempt& attempt, const Records& records,
            Outcome& outcome) {
    const facts::Host& host = attempt.world->host();
    const auto* const torch = attempt.catalogue ? torch_build(attempt, records) : nullptr;
    const bool elsewhere =
        torch != nullptr && outcome.cuda && !host.machine.empty() && host.machine != "x86_64";
    // No list of conda's builds for other processors was read.
    const bool listed = elsewhere && !torch->processor_unknown && attempt.manager == Manager::Pip;
    if (elsewhere && !listed) {
        warn(outcome, "CE213", {{"machine", host.machine}});
    }
    advise_driver(attempt, outcome);
    advise_measured(attempt, outcome);
    advise_gpus(attempt, records, outcome);
    if (listed) {
        outcome.runs.push_back({"CUDA build for " + host.machine, Answer::Yes});
    }
    advise_build(request, attempt, outcome);
    advise_cpu(attempt, records, outcome);
    for (const std::string& unreadable : attempt.universe->unreadable()) {
        warn(outcome, "CE209", {{"what", unreadable}});
    }
}

} // namespace cudaenv::resolve
