#include "solver/resolve/advice.hpp"

#include "base/text.hpp"
#include "solver/facts/probe_rungs.hpp"
#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/findings.hpp"
#include "solver/knowledge/recipes.hpp"
#include "solver/knowledge/toolkits.hpp"
#include "solver/resolve/command_line.hpp"
#include "solver/resolve/package_records.hpp"
#include "solver/resolve/source_builds.hpp"
#include "solver/specs/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace cudaenv::resolve {

namespace {

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
             {{"absent",
               host.driver_absent.empty() ? "this host's driver is unknown" : host.driver_absent},
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
    if (auto verdict = knowledge::driver_verdict(host, *outcome.cuda); !verdict.text.empty()) {
        outcome.runs.push_back({std::move(verdict.text), verdict.answer});
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
          {"cause",
           first.cause.empty() ? "it is unknown whether any CUDA program runs here" : first.cause},
          {"at", measured->at},
          {"probe", full ? "cudaenv probe --full" : "cudaenv probe"}},
         std::move(evidence));
}

const knowledge::TorchVariant* torch_build(const Attempt& attempt, const Records& records) {
    const auto* const torch = record_named(records, "torch");
    return torch == nullptr ? nullptr
                            : knowledge::torch_variant(torch->version, torch->build,
                                                       attempt.world->host().machine);
}

// Of two frameworks, a list of GPUs is one's alone: "torch", and those that publish none.
struct Frameworks {
    std::string listed; // "torch" where there are others beside it
    std::vector<std::string> without;
};
Frameworks frameworks_of(const Records& records) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 2> k_without_list = {
        {{"tensorflow", "TensorFlow"}, {"jax", "JAX"}}};
    Frameworks frameworks;
    for (const specs::PackageRecord* const record : records) {
        for (const auto& [name, shown] : k_without_list) {
            if (record->name == name) {
                frameworks.without.emplace_back(shown);
            }
        }
    }
    if (record_named(records, "torch") == nullptr || frameworks.without.empty()) {
        return {};
    }
    frameworks.listed = "torch";
    return frameworks;
}

// GPUs of one name and one verdict are said once.
struct JudgedGpus {
    std::vector<knowledge::NamedGpu> gpus;
    knowledge::GpuJudgement fit;

    [[nodiscard]] std::string counted(const std::string& text) const {
        return gpus.size() > 1 ? fmt::format("{} x {}", gpus.size(), text) : text;
    }
    [[nodiscard]] std::string name() const { return counted(gpus.front().name); }
    [[nodiscard]] std::string sm() const { return gpus.front().capability->sm(); }
};

void advise_gpus(const Attempt& attempt, const Records& records, Outcome& outcome) {
    using knowledge::GpuFit;
    const facts::Host& host = attempt.world->host();
    if (!outcome.cuda) {
        return;
    }
    const auto* const variant = torch_build(attempt, records);
    const knowledge::Architectures* code = nullptr;
    if (variant != nullptr) {
        const bool from_conda =
            attempt.manager == Manager::Conda || record_named(records, "torch")->channel == "conda";
        const auto& list = from_conda ? variant->conda_architectures : variant->wheel_architectures;
        code = list ? &*list : nullptr;
    }
    std::vector<JudgedGpus> judged;
    std::vector<knowledge::NamedGpu> served;
    for (const knowledge::NamedGpu& gpu : knowledge::gpus_of(host)) {
        if (!gpu.capability) {
            warn(outcome, "CE207", {{"gpu", gpu.name}});
            continue;
        }
        const auto fit = knowledge::build_serves(*outcome.cuda, code, *gpu.capability, host);
        if (fit.runs() != knowledge::Answer::No) {
            served.push_back(gpu);
        }
        const auto same = std::ranges::find_if(judged, [&](const JudgedGpus& other) {
            return other.gpus.front().name == gpu.name &&
                   other.gpus.front().capability == gpu.capability;
        });
        if (same != judged.end()) {
            same->gpus.push_back(gpu);
        } else {
            judged.push_back({{gpu}, fit});
        }
    }
    for (const JudgedGpus& gpus : judged) {
        if (const auto first = knowledge::driver_before_gpu(host, *gpus.gpus.front().capability)) {
            warn(outcome, "CE231",
                 {{"driver", host.driver->version->str()},
                  {"gpu", gpus.name()},
                  {"first", std::to_string(first->driver.major())},
                  {"how", knowledge::driver_recipe(*first, host).text}},
                 {{first->source, 0, first->driver.str()}});
        }
    }
    const Frameworks frameworks = frameworks_of(records);
    const std::string build = frameworks.listed.empty() ? "the build" : frameworks.listed;
    for (const JudgedGpus& gpus : judged) {
        const std::string sm = gpus.sm();
        switch (gpus.fit.fit) {
        case GpuFit::MachineCode:
            outcome.runs.push_back({gpus.counted(sm) + " in " + build, knowledge::Answer::Yes});
            break;
        case GpuFit::Ptx:
            outcome.runs.push_back({gpus.counted(sm) + " by PTX", knowledge::Answer::Unknown});
            warn(outcome, "CE206", {{"gpu", gpus.name()}, {"sm", sm}}, {{gpus.fit.source, 0, {}}});
            break;
        case GpuFit::Unknown:
            // CUDA alone has no build of its own: its libraries serve the GPU or do not.
            if (variant == nullptr &&
                knowledge::toolkit_serves(*outcome.cuda, *gpus.gpus.front().capability).runs() ==
                    knowledge::Answer::Yes) {
                outcome.runs.push_back({fmt::format("CUDA {} supports {}",
                                                    outcome.cuda->major_minor(), gpus.counted(sm)),
                                        knowledge::Answer::Yes});
                break;
            }
            outcome.runs.push_back(
                {gpus.counted(sm) + ": unknown, this build's GPU list is not published",
                 knowledge::Answer::Unknown});
            warn(outcome, "CE214", {{"gpu", gpus.name()}, {"sm", sm}});
            break;
        case GpuFit::NoCode:
        case GpuFit::TooNew:
        case GpuFit::TooOld:
            warn(
                outcome, "CE204",
                {{"gpu", gpus.name()}, {"sm", sm}, {"visible", knowledge::visible_devices(served)}},
                {{gpus.fit.source, 0, {}}});
            break;
        }
    }
    for (const std::string& name : frameworks.without) {
        if (!judged.empty()) {
            outcome.runs.push_back(
                {name + "'s GPU list is not published", knowledge::Answer::Unknown});
        }
    }
}

// What is compiled here although nothing else is asked for than to run it.
void advise_source_builds(const SourceBuilds& builds, Outcome& outcome) {
    for (const SourceBuild& one : builds.packages) {
        if (one.build != nullptr && !one.build->note.empty() && builds.torch) {
            warn(outcome, "CE224",
                 {{"name", one.name}, {"torch", builds.torch->str()}, {"why", one.build->note}},
                 {{one.build->source, 0, {}}});
        }
    }
    if (!builds.cuda) {
        return;
    }
    std::vector<std::string> names;
    for (const SourceBuild& one : builds.packages) {
        if (one.project->needs("nvcc")) {
            names.push_back(one.name);
        }
    }
    const std::string cuda = builds.cuda->major_minor();
    const auto to_get = [&](const knowledge::Recipe& recipe) {
        return facts::Arguments{{"name", join(names, ", ")},
                                {"count", std::to_string(names.size())},
                                {"cuda", cuda},
                                {"how", recipe.text},
                                {"recipe", recipe.command}};
    };
    if (builds.other_minor) {
        facts::Arguments arguments = to_get(*builds.nvcc);
        arguments.emplace_back("exact", builds.exact);
        arguments.emplace_back("nvcc", builds.other_minor->version->str());
        warn(outcome, "CE222", std::move(arguments),
             {{builds.other_minor->path, 0, builds.other_minor->version->str()},
              {builds.exact_source, 0, {}}});
    } else if (builds.nvcc) {
        outcome.missing.push_back(knowledge::finding("CE221", {}, to_get(*builds.nvcc)));
    }
    if (builds.compiler) {
        outcome.missing.push_back(knowledge::finding("CE223", {}, to_get(*builds.compiler)));
    }
}

void advise_build(const Request& request, const Attempt& attempt, const Records& records,
                  Outcome& outcome) {
    const facts::Host& host = attempt.world->host();
    const SourceBuilds builds = source_builds(request, attempt, records);
    advise_source_builds(builds, outcome);
    if (!outcome.cuda) {
        return;
    }
    if (builds.other_minor) {
        outcome.toolkit.reset(); // the build refuses it
        outcome.host_compiler.reset();
    }
    const auto& toolkit = outcome.toolkit ? outcome.toolkit : builds.toolkit;
    if (toolkit && toolkit->version) {
        if (toolkit->version->major_minor() != outcome.cuda->major_minor() && !builds.other_minor) {
            warn(outcome, "CE205",
                 {{"nvcc", toolkit->version->str()}, {"cuda", outcome.cuda->major_minor()}},
                 {{toolkit->path, 0, toolkit->version->str()}});
        }
        return;
    }
    if (request.purpose == pins::Purpose::Build || builds.nvcc || attempt.question.nvcc_asked) {
        return;
    }
    if (knowledge::toolkit_to_build(host, *outcome.cuda) == nullptr) {
        const auto recipe = knowledge::nvcc_recipe(*outcome.cuda, request.environment.target);
        outcome.missing.push_back(knowledge::finding("CE210", {},
                                                     {{"cuda", outcome.cuda->major_minor()},
                                                      {"how", recipe.text},
                                                      {"recipe", recipe.command}}));
    }
}

// TensorFlow before 2.14 loads CUDA and cuDNN from the loader's path, wherever they are installed.
void advise_tensorflow(const Request& request, const Attempt& attempt, const Records& records,
                       Outcome& outcome) {
    using Kind = knowledge::Target::Kind;
    const auto* const release = tensorflow_without_libraries(attempt, records);
    if (release == nullptr) {
        return;
    }
    const knowledge::Target& target = request.environment.target;
    const bool beside = target.kind == Kind::Venv || target.conda == "pixi";
    outcome.warnings.push_back(knowledge::finding(
        "CE230",
        !target.has_conda ? "missing"
        : beside          ? "beside"
                          : "together",
        {{"version", release->tensorflow.str()},
         {"cuda", release->cuda->major_minor()},
         {"cudnn", release->cudnn ? release->cudnn->major_minor() : std::string()},
         {"conda", target.conda}}));
    outcome.warnings.back().evidence = {{release->source, 0, {}}};
}

void advise_older_release(const Attempt& attempt, const specs::PackageRecord& record,
                          Outcome& outcome) {
    const auto releases = knowledge::package_releases(record.name);
    const auto* const chosen = knowledge::package_release(record.name, record.version);
    if (chosen == nullptr || !releases.back().least_gpu) {
        return;
    }
    const ComputeCapability floor = *releases.back().least_gpu;
    for (const knowledge::NamedGpu& gpu : knowledge::gpus_of(attempt.world->host())) {
        if (gpu.capability && *gpu.capability < floor &&
            (!chosen->least_gpu || *chosen->least_gpu <= *gpu.capability)) {
            warn(outcome, "CE229",
                 {{"name", record.name},
                  {"version", record.version},
                  {"newest", releases.back().version},
                  {"gpu", gpu.name},
                  {"sm", gpu.capability->sm()},
                  {"floor", floor.sm()}},
                 {{releases.back().least_gpu_source, 0, {}}});
            return;
        }
    }
}

// cuDNN drops GPUs in minor releases, and pip takes the newest that a range allows.
void advise_cudnn(const Attempt& attempt, const Records& records, Outcome& outcome) {
    const std::string pin = attempt.catalogue ? cudnn_pin(attempt, records) : std::string();
    const auto split_at = pin.find("==");
    if (split_at == std::string::npos) {
        return;
    }
    const auto releases = knowledge::package_releases(pin.substr(0, split_at));
    const auto floor = knowledge::cudnn_floor(releases.back().version);
    for (const knowledge::NamedGpu& gpu : knowledge::gpus_of(attempt.world->host())) {
        if (floor && gpu.capability && *gpu.capability < floor->least_gpu) {
            warn(outcome, "CE226",
                 {{"gpu", gpu.name},
                  {"sm", gpu.capability->sm()},
                  {"newest", releases.back().version},
                  {"cudnn", pin.substr(split_at + 2)},
                  {"pin", pin}},
                 {{floor->source, 0, {}}});
            return;
        }
    }
}

// Wheels without CUDA's libraries, of a release whose extras do not install them either.
void advise_absent_libraries(const Request& request, const Attempt& attempt, const Records& records,
                             Outcome& outcome) {
    const auto& installed = request.environment.installed;
    if (std::ranges::any_of(installed, [](const Installed& one) {
            return one.name == "cudatoolkit" || one.name == "libcublas" ||
                   one.name.starts_with("nvidia-cublas");
        })) {
        return;
    }
    for (const specs::PackageRecord* const record : records) {
        const auto* const project = knowledge::package_project(record->name);
        if (!outcome.cuda || project == nullptr ||
            !needs_libraries(*record, *project, records, attempt.world->host())) {
            continue;
        }
        const auto recipe = knowledge::nvcc_recipe(*outcome.cuda, request.environment.target);
        outcome.missing.push_back(knowledge::finding("CE232", project->without_extras,
                                                     {{"name", record->name},
                                                      {"version", record->version},
                                                      {"cuda", outcome.cuda->major_minor()},
                                                      {"note", project->note},
                                                      {"how", recipe.text},
                                                      {"recipe", recipe.command}}));
        outcome.missing.back().evidence = {{project->source, 0, {}}};
    }
}

// A wheel with another name than the requested one; libraries that an extra takes from
// this machine; a release that is older because newer ones do not serve a GPU here.
void advise_packages(const Request& request, const Attempt& attempt, const Records& records,
                     Outcome& outcome) {
    if (!attempt.catalogue || attempt.manager != Manager::Pip) {
        return;
    }
    for (const Item& item : attempt.question.items) {
        const auto* const record = record_named(records, item.name);
        const auto* const project = knowledge::package_project(item.name);
        if (record == nullptr || item.in_environment) {
            continue;
        }
        const auto* const wheel = wheel_of(*record, records);
        if (wheel != nullptr && library_of(item.name).empty()) {
            warn(outcome, "CE227", {{"name", item.name}, {"wheel", wheel->name}},
                 {{project->source, 0, {}}});
        }
        for (const std::string& extra : item.extras) {
            if (project == nullptr) {
                break;
            }
            for (const auto& [name, libraries] : project->machine_libraries) {
                if (name == specs::normalize_project_name(extra)) {
                    warn(outcome, "CE228",
                         {{"name", item.name}, {"extra", extra}, {"libraries", libraries}},
                         {{project->source, 0, {}}});
                }
            }
        }
        advise_older_release(attempt, *record, outcome);
    }
    advise_absent_libraries(request, attempt, records, outcome);
}

// Wheels for manylinux are built against glibc.
void advise_libc(const Attempt& attempt, Outcome& outcome) {
    const facts::Host& host = attempt.world->host();
    if (!attempt.catalogue || attempt.manager != Manager::Pip || outcome.packages.empty() ||
        host.glibc) {
        return;
    }
    const bool musl = knowledge::has_glibc(host) == knowledge::Answer::No;
    outcome.warnings.push_back(knowledge::finding("CE225", musl ? "musl" : "unknown",
                                                  {{"distribution", host.distribution}}));
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
        outcome.runs.push_back({"CUDA build for " + host.machine, knowledge::Answer::Yes});
    }
    advise_build(request, attempt, records, outcome);
    advise_tensorflow(request, attempt, records, outcome);
    advise_cudnn(attempt, records, outcome);
    advise_packages(request, attempt, records, outcome);
    advise_libc(attempt, outcome);
    advise_cpu(attempt, records, outcome);
    for (const std::string& unreadable : attempt.universe->unreadable()) {
        warn(outcome, "CE209", {{"what", unreadable}});
    }
}

} // namespace cudaenv::resolve
