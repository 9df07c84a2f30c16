#include "solver/resolve/resolve.hpp"

#include "base/text.hpp"
#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/findings.hpp"
#include "solver/knowledge/frameworks.hpp"
#include "solver/knowledge/packages.hpp"
#include "solver/knowledge/toolkits.hpp"
#include "solver/pins/pins.hpp"
#include "solver/resolve/advice.hpp"
#include "solver/resolve/answer.hpp"
#include "solver/resolve/choices.hpp"
#include "solver/resolve/command_line.hpp"
#include "solver/resolve/conflict.hpp"
#include "solver/resolve/description.hpp"
#include "solver/resolve/environment.hpp"
#include "solver/resolve/package_records.hpp"
#include "solver/specs/ask.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::resolve {

namespace {

// The same versions from the other manager, as its commands; none where it has them not.
std::optional<Alternative> same_from(const Request& request, const facts::Host& host,
                                     const Answer& answer, Manager manager) {
    Request same = request;
    same.manager = manager == Manager::Conda ? ManagerChoice::Conda : ManagerChoice::Pip;
    for (const specs::PackageRecord* const record : answer.records) {
        if (is_virtual(record->name) || is_extra(record->name) || is_library(record->name) ||
            !library_of(record->name).empty()) {
            continue;
        }
        std::string text = record->name + " ==" + record->version;
        if (record->name.starts_with("torch") && !record->build.empty()) {
            text += ' ' + record->build;
        }
        same.specs.push_back({std::move(text), "the answer"});
    }
    same.pins.clear();
    auto attempt = make_attempt(same, host, {}, {answer.world, manager});
    if (!attempt) {
        return std::nullopt;
    }
    const auto records = attempt->solve();
    if (!records) {
        return std::nullopt;
    }
    // Whether Python belongs in the command is what the user asked, not what this question repeats.
    attempt->question = answer.attempt.question;
    Alternative alternative{manager, install_commands(request, *attempt, *records)};
    return alternative.commands.empty() ? std::nullopt : std::optional(std::move(alternative));
}

// What an answer says, whichever channels it is of.
Result<void> present(const Request& request, const facts::Host& host,
                     std::span<const Channel* const> channels, const Answer& answer,
                     Outcome& outcome) {
    describe_packages(request, answer.attempt, answer.records, outcome);
    outcome.driver_assumed = answer.attempt.world->driver_assumed();
    advise(request, answer.attempt, answer.records, outcome);
    if (request.tell_choices) {
        CUDAENV_TRY(outcome.choices, choices_of(request, host, channels, answer));
    }
    return {};
}

// std::nullopt if no world has an answer.
Result<std::optional<Outcome>> answer_in_catalogue(const Request& request, const facts::Host& host,
                                                   Outcome outcome) {
    CUDAENV_TRY(const auto answer, answer_of_catalogue(request, host));
    if (!answer) {
        return std::optional<Outcome>();
    }
    CUDAENV_TRY_VOID(present(request, host, {}, *answer, outcome));
    outcome.unknown = answer->attempt.question.unknown;
    for (const specs::PackageRecord* const record : answer->records) {
        if (is_unlisted(*record)) {
            outcome.unknown.push_back(record->name);
        }
    }
    if (managers_of(request).size() > 1) {
        const Manager other =
            answer->attempt.manager == Manager::Conda ? Manager::Pip : Manager::Conda;
        const bool possible = other == Manager::Pip || request.environment.target.has_conda;
        if (auto same = possible ? same_from(request, host, *answer, other) : std::nullopt) {
            outcome.alternatives.push_back(*std::move(same));
        }
    }
    return std::optional<Outcome>(std::move(outcome));
}

// "torch 1.12.1+cu113, torchvision 0.13.1+cu113 on CUDA 11.3"
std::string summary(const Outcome& outcome) {
    std::string text;
    for (const ChosenPackage& package : outcome.packages) {
        if (package.asked && package.name != "python") {
            text += (text.empty() ? "" : ", ") + package.name + ' ' + package.version;
        }
    }
    if (outcome.cuda) {
        text += (text.empty() ? "CUDA " : " on CUDA ") + outcome.cuda->major_minor();
    }
    const bool unknown = std::ranges::any_of(outcome.runs, [](const Verdict& verdict) {
        return verdict.text.find("GPU list") != std::string::npos;
    });
    return unknown ? text + "; its GPU list is not published" : text;
}

// A fix that is a question asked differently is told by that question's own answer: two managers
// have different builds, and what is read has to be what the pasted command gives.
Result<Conflict> told_by_answers(ExplainedConflict explained, const facts::Host& host) {
    Conflict conflict;
    conflict.reasons = std::move(explained.reasons);
    for (ProposedFix& proposed : explained.fixes) {
        if (proposed.asked) {
            CUDAENV_TRY(const auto outcome, answer_in_catalogue(*proposed.asked, host, {}));
            if (!outcome) {
                continue;
            }
            if (const std::string found = summary(*outcome); !found.empty()) {
                proposed.fix.text = proposed.lead + found;
            }
        }
        conflict.fixes.push_back(std::move(proposed.fix));
    }
    return conflict;
}

// The attempt that an explanation looks at: everything within reach.
Result<Attempt> whole_attempt(const Request& request, const facts::Host& host) {
    AttemptOptions options;
    options.world = worlds_to_try(request, host, Vocabulary::Catalogue).back();
    options.world.known_code = true; // a build that may not serve the GPU mends nothing
    options.narrowing = Narrowing::None;
    const auto managers = managers_of(request);
    options.manager = managers.front();
    auto attempt = make_attempt(request, host, {}, options);
    if (!attempt && attempt.error().code == "no-such-package" && managers.size() > 1) {
        options.manager = managers.back();
        attempt = make_attempt(request, host, {}, options);
    }
    return attempt;
}

Result<std::string> first_reason(const Request& request, const facts::Host& host) {
    CUDAENV_TRY(const Attempt attempt, whole_attempt(request, host));
    const auto reasons = conflict_reasons(attempt, request);
    return reasons.empty() ? std::string() : reasons.front().text;
}

Result<Outcome> explained_in_catalogue(const Request& request, const facts::Host& host,
                                       Outcome outcome) {
    CUDAENV_TRY(const Attempt attempt, whole_attempt(request, host));
    outcome.driver_assumed = attempt.world->driver_assumed();
    CUDAENV_TRY(outcome.conflict, told_by_answers(explain_conflict(attempt, request), host));
    return outcome;
}

// Below CUDA 13.2 a Jetson runs builds made for it alone (torch/cuda/__init__.py of torch 2.15).
bool is_on_jetson(const Request& request, const facts::Host& host) {
    const bool frameworks = std::ranges::any_of(request.specs, [](const Wanted& wanted) {
        const auto end = wanted.text.find_first_of("=<>!~ [@;+");
        return knowledge::find_framework(
                   to_lower_ascii(std::string_view(wanted.text).substr(0, end))) != nullptr;
    });
    return frameworks && host.platform.jetson &&
           (!host.driver || !host.driver->cuda || *host.driver->cuda < DottedVersion::of("13.2"));
}

Conflict jetson_conflict(const facts::Host& host) {
    const std::string cuda =
        host.driver && host.driver->cuda ? " (CUDA " + host.driver->cuda->str() + ')' : "";
    return {
        {{"this is a Jetson" + cuda +
              "; before CUDA 13.2 the usual wheels do not run on it: it needs builds for its "
              "JetPack",
          {"torch 2.15 torch/cuda/__init__.py: SBSA binaries run on Jetson from CUDA 13.2 on"}}},
        {{"NVIDIA's wheels and containers for JetPack: "
          "https://docs.nvidia.com/deeplearning/frameworks/install-pytorch-jetson-platform",
          {},
          2}}};
}

Result<void> check_cuda_exists(const Request& request) {
    for (const pins::Pin& pin : request.pins) {
        const auto constraint =
            pin.name == "cuda" ? pins::PinConstraint::parse(pin.constraint) : bad_input("", "", "");
        const auto version = constraint ? constraint->single() : std::nullopt;
        const auto nearest = version ? knowledge::nearest_cuda_release(*version) : std::nullopt;
        if (nearest) {
            return bad_input("no-such-cuda",
                             fmt::format("there is no CUDA {}", version->major_minor()),
                             fmt::format("the nearest is {}", nearest->str()), pin.origin);
        }
    }
    return {};
}

// Something that is asked for is compiled where it is installed.
bool is_compiled_here(const Request& request) {
    return std::ranges::any_of(request.specs, [](const Wanted& wanted) {
        const auto ask = specs::Ask::parse(wanted.text);
        return ask && knowledge::is_compiled(ask->name()) &&
               knowledge::package_project(ask->name())->wheels.empty();
    });
}

// What the environment's torch means for the answer: a CPU build beside a GPU, a build of one's
// own.
void remark_on_torch(const Request& request, const facts::Host& host, Outcome& outcome) {
    for (const Kept& kept : request.kept) {
        const Installed& torch = kept.installed;
        if (torch.name != "torch" || kept.stays != Stays::Build) {
            continue;
        }
        const auto build = knowledge::build_by_label(torch.version + '+' + torch.label);
        if ((torch.label == "cpu" || torch.is_for_other_gpu()) && host.driver && !request.cpu) {
            Request with_cuda = request;
            with_cuda.specs = {{"torch", {}}};
            const auto newest = knowledge::newest_cuda_in_full(host);
            const auto* const variant = newest ? knowledge::newest_torch_for(*newest) : nullptr;
            if (variant != nullptr) {
                with_cuda.pins = {{"cuda", variant->cuda.major_minor(), {}}};
            }
            outcome.warnings.push_back(knowledge::finding(
                "CE216", build.other_gpu() ? "other-gpu" : "",
                {{"version", torch.version + '+' + torch.label},
                 {"build",
                  build.other_gpu() ? knowledge::other_gpu_text(build.kind) : std::string()},
                 {"resolve", resolve_command(with_cuda, {})}}));
        } else if (torch.is_built_torch()) {
            const auto partner =
                std::ranges::find_if(outcome.packages, [](const ChosenPackage& package) {
                    return package.asked &&
                           (package.name == "torchvision" || package.name == "torchaudio");
                });
            if (partner != outcome.packages.end()) {
                outcome.warnings.push_back(knowledge::finding(
                    "CE217", {},
                    {{"version", torch.version + '+' + torch.label}, {"partner", partner->name}}));
            }
        }
    }
}

Result<void> note_newer_release(const Request& request, const facts::Host& host, Outcome& outcome) {
    CUDAENV_TRY(const auto newer, newer_by_minor_compatibility(request, host, outcome));
    if (newer) {
        outcome.warnings.push_back(knowledge::finding("CE233", {},
                                                      {{"name", newer->name},
                                                       {"version", newer->version},
                                                       {"cuda", newer->cuda.major_minor()},
                                                       {"driver", knowledge::driver_text(host)}}));
    }
    return {};
}

Result<Outcome> resolve_in_catalogue(Request request, const facts::Host& host, Outcome outcome) {
    CUDAENV_TRY_VOID(take_python(request));
    // Pins alone: what they name is what is asked for.
    const bool pins_alone = request.specs.empty();
    for (const pins::Pin& pin : request.pins) {
        if (pins_alone && pin.name != "python") {
            request.specs.push_back({pin.name, pin.origin});
        }
    }
    const bool cuda_alone =
        pins_alone && request.specs.size() == 1 && request.specs.front().text == "cuda";
    const Asking asking{
        [&](const Request& asked) { return answer_in_catalogue(asked, host, outcome); },
        [&](const Request& asked) { return first_reason(asked, host); }};
    std::optional<Outcome> answered;
    if (request.purpose == pins::Purpose::Run && is_compiled_here(request)) {
        // The CUDA whose nvcc is here goes first.
        Request building = request;
        building.purpose = pins::Purpose::Build;
        CUDAENV_TRY(answered, answer_in_environment(building, asking));
        if (answered && !answered->changes.empty()) {
            // What is installed stays: an nvcc for it can be had.
            CUDAENV_TRY(auto with_nvcc, answer_in_environment(request, asking));
            if (with_nvcc && with_nvcc->changes.empty()) {
                answered = std::move(with_nvcc);
                building.kept = std::move(request.kept);
            }
        }
        if (answered) {
            request.kept = std::move(building.kept);
        }
    }
    if (!answered) {
        CUDAENV_TRY(answered, answer_in_environment(request, asking));
    }
    if (!answered) {
        return explained_in_catalogue(request, host, std::move(outcome));
    }
    remark_on_torch(request, host, *answered);
    const auto here = std::ranges::find_if(host.toolkits, [&](const facts::Toolkit& toolkit) {
        return answered->cuda && knowledge::can_compile(toolkit) &&
               knowledge::nvcc_match(*toolkit.version, *answered->cuda) ==
                   knowledge::NvccMatch::Same;
    });
    if (cuda_alone && here != host.toolkits.end()) {
        answered->toolkit = *here; // a machine that has that CUDA needs nothing
        answered->commands.clear();
        answered->alternatives.clear();
    }
    const auto other = std::ranges::find_if(request.kept, [](const Kept& kept) {
        return kept.installed.is_for_other_gpu() && kept.stays == Stays::Build;
    });
    if (other != request.kept.end()) {
        const auto build = knowledge::build_by_label('+' + other->installed.label);
        answered->runs.push_back(
            {"torch is " + knowledge::other_gpu_text(build.kind),
             host.driver ? knowledge::Answer::No : knowledge::Answer::Unknown});
    } else if (!answered->cuda &&
               std::ranges::any_of(answered->packages, &ChosenPackage::framework)) {
        answered->runs.push_back({"CPU build: no GPU is used", knowledge::Answer::Yes});
    }
    CUDAENV_TRY_VOID(note_newer_release(request, host, *answered));
    const auto& target = request.environment.target;
    if (request.manager == ManagerChoice::Conda && !target.has_conda &&
        !answered->commands.empty()) {
        answered->missing.push_back(knowledge::finding("CE218", {}, {{"machine", target.machine}}));
    }
    if (answered->packages.empty() && !answered->cuda && !answered->unknown.empty()) {
        return bad_input("no-such-package",
                         fmt::format("cudaenv does not know {} yet", join(answered->unknown, ", ")),
                         "it knows torch, TensorFlow, JAX and what runs on them; -c CHANNEL solves "
                         "over a channel");
    }
    return *std::move(answered);
}

} // namespace

Result<Outcome> resolve(const Request& request, const facts::Host& host,
                        std::span<const Channel* const> channels) {
    Outcome outcome;
    for (const Wanted& wanted : request.specs) {
        outcome.request.push_back(redact_secrets(wanted.text));
    }
    for (const pins::Pin& pin : request.pins) {
        const bool bare = pin.constraint.find_first_of("=<>!~") != 0;
        outcome.request.push_back(pin.name + (bare ? "=" : "") + pin.constraint);
    }
    if (request.specs.empty() && request.pins.empty()) {
        return bad_input("nothing-asked", "nothing was requested",
                         "name a package, as in: cudaenv resolve torch --cuda 12.4");
    }
    const bool cuda_option = std::ranges::any_of(request.pins, [](const pins::Pin& pin) {
        return pin.name == "cuda" && pin.origin == "--cuda";
    });
    if (request.cpu && cuda_option) {
        return bad_input("cpu-and-cuda", "--cpu and --cuda were given together",
                         "leave one of them out");
    }
    CUDAENV_TRY_VOID(check_cuda_exists(request));
    if (names_channel(request) &&
        request.environment.target.kind == knowledge::Target::Kind::Venv) {
        return bad_input("channel-and-venv",
                         fmt::format("a conda channel is named, and {} is a venv: conda does not "
                                     "install in it",
                                     request.environment.shown),
                         "leave out the channel, or name a conda environment");
    }
    if (const auto sides = beside_conda(request);
        channels.empty() && request.manager == ManagerChoice::Auto && !sides.of_conda.empty() &&
        !sides.of_pip.empty()) {
        return bad_input("two-managers",
                         fmt::format("{} has conda's torch: conda installs {} there, and pip {}",
                                     request.environment.shown, join(sides.of_conda, ", "),
                                     join(sides.of_pip, ", ")),
                         "request conda's packages first, then pip's");
    }
    if (is_on_jetson(request, host)) {
        outcome.conflict = jetson_conflict(host);
        return outcome;
    }
    if (channels.empty()) {
        return resolve_in_catalogue(request, host, std::move(outcome));
    }
    if (request.manager == ManagerChoice::Pip) {
        return bad_input("channel-and-pip", "conda channels were given together with --manager pip",
                         "leave out -c, or use --manager conda");
    }
    CUDAENV_TRY(const auto answer, answer_of_channels(request, host, channels));
    if (answer) {
        CUDAENV_TRY_VOID(present(request, host, channels, *answer, outcome));
        return outcome;
    }
    AttemptOptions options;
    options.world = worlds_to_try(request, host, Vocabulary::Conda).back();
    options.narrowing = Narrowing::None;
    CUDAENV_TRY(const Attempt attempt, make_attempt(request, host, channels, options));
    outcome.driver_assumed = attempt.world->driver_assumed();
    ExplainedConflict explained = explain_conflict(attempt, request);
    outcome.conflict = Conflict{std::move(explained.reasons), {}};
    for (ProposedFix& proposed : explained.fixes) {
        outcome.conflict->fixes.push_back(std::move(proposed.fix));
    }
    return outcome;
}

} // namespace cudaenv::resolve
