#include "solver/plan/resolve.hpp"

#include "base/text.hpp"
#include "solver/plan/advice.hpp"
#include "solver/plan/attempt.hpp"
#include "solver/plan/choices.hpp"
#include "solver/plan/command_line.hpp"
#include "solver/plan/conflict.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::plan {

namespace {

using Records = std::vector<const specs::PackageRecord*>;

struct Answer {
    Attempt attempt;
    Records records;
    WorldOptions world;
};

// The worlds to try, the one that asks most of the host first: every GPU served before some, nvcc
// of the same minor before the same major.
std::vector<WorldOptions> worlds_to_try(const Request& request, const facts::Host& host) {
    std::vector<WorldOptions> worlds;
    const auto known_gpus = std::count_if(host.gpus.begin(), host.gpus.end(), [](const auto& gpu) {
        return gpu.compute_capability.has_value();
    });
    const bool some_gpus = known_gpus > 1 && !request.strict_host;
    const bool any_minor = request.purpose == Purpose::Build && !request.strict_host;
    for (const bool every_gpu : {true, false}) {
        for (const bool same_minor : {true, false}) {
            if ((!every_gpu && !some_gpus) || (!same_minor && !any_minor)) {
                continue;
            }
            WorldOptions world;
            world.every_gpu = every_gpu;
            world.nvcc_same_minor = same_minor;
            worlds.push_back(world);
        }
    }
    return worlds;
}

Result<std::optional<Answer>> first_answer(const Request& request, const facts::Host& host,
                                           std::span<const Channel* const> channels,
                                           Manager manager) {
    for (const WorldOptions& world : worlds_to_try(request, host)) {
        CUDAENV_TRY(Attempt attempt, make_attempt(request, host, channels, {world, manager}));
        if (auto records = attempt.solve()) {
            return Answer{std::move(attempt), *std::move(records), world};
        }
    }
    return std::optional<Answer>();
}

// What the record is called where it would be installed from.
ChosenPackage chosen(const specs::PackageRecord& record, const Attempt& attempt) {
    ChosenPackage package;
    package.name = record.name;
    package.version = record.version;
    package.build = record.build;
    package.manager = attempt.manager;
    package.channel = record.channel;
    package.url = record.url;
    package.sha256 = record.sha256;
    package.asked = std::any_of(attempt.question.items.begin(), attempt.question.items.end(),
                                [&](const Item& item) { return item.name == record.name; });
    if (!attempt.catalogue) {
        return package;
    }
    package.build.clear();
    const knowledge::TorchVariant* const variant =
        record.name == "torch" || record.name == "torchvision" || record.name == "torchaudio"
            ? torch_variant(record.version, record.build)
            : nullptr;
    if (attempt.manager == Manager::Conda) {
        package.channel = record.name == "python" ? "" : "pytorch";
        if (record.name == "torch") {
            package.name = "pytorch";
        }
    } else if (record.name == "python") {
        package.manager = Manager::Conda;
    } else if (!record.build.empty() && record.name.starts_with("torch")) {
        package.build = record.build;
        if (variant != nullptr) {
            package.channel = variant->wheel_is_default ? "PyPI" : variant->wheel_index;
        }
    } else {
        package.channel = "PyPI";
    }
    return package;
}

void describe_packages(const Answer& answer, Outcome& outcome) {
    const auto* torch = static_cast<const specs::PackageRecord*>(nullptr);
    for (const specs::PackageRecord* const record : answer.records) {
        if (record->name == "torch") {
            torch = record;
        }
    }
    for (const specs::PackageRecord* const record : answer.records) {
        if (const auto* toolkit = answer.attempt.world->toolkit_of(*record)) {
            outcome.toolkit = *toolkit;
        }
        if (const auto* compiler = answer.attempt.world->compiler_of(*record)) {
            outcome.host_compiler = *compiler;
        }
        if (is_virtual(record->name)) {
            continue;
        }
        if (record->name == "python") {
            outcome.python = record->version;
        }
        if (record->name == "cudnn") {
            outcome.cudnn = record->version;
        }
        if (!answer.attempt.catalogue) {
            if (const auto cuda = runtime_of(*record)) {
                if (!outcome.cuda || record->name == "cuda-version") {
                    outcome.cuda = cuda;
                }
            }
            outcome.packages.push_back(chosen(*record, answer.attempt));
            continue;
        }
        if (record->name == "cuda") {
            outcome.cuda = DottedVersion::of(record->version);
            continue;
        }
        if (record->name == "cudnn") {
            continue; // inside the build; named by `cudnn`
        }
        ChosenPackage package = chosen(*record, answer.attempt);
        // Up to 1.x some wheels carry no label although their index is a CUDA one.
        if (answer.attempt.manager == Manager::Pip && torch != nullptr &&
            record->name.starts_with("torch")) {
            const auto* const variant = torch_variant(torch->version, torch->build);
            if (variant != nullptr && !variant->wheel_is_default) {
                package.channel = variant->wheel_index;
                if (variant->wheel_has_local_label) {
                    package.version += '+' + variant->tag;
                }
            } else if (variant == nullptr) {
                package.channel = "https://download.pytorch.org/whl/cpu";
            } else {
                package.channel = "PyPI";
            }
            package.build.clear();
        }
        outcome.packages.push_back(std::move(package));
        if (answer.attempt.manager == Manager::Conda && record->name == "torch") {
            if (const auto* variant = torch_variant(record->version, record->build)) {
                ChosenPackage toolkit;
                // "cudatoolkit=11.3", or a bare metapackage such as cuda90, whose only version
                // is 1.0.
                const std::size_t equals = variant->conda_pin.find('=');
                toolkit.name = variant->conda_pin.substr(0, equals);
                toolkit.version =
                    equals == std::string::npos ? "1.0" : variant->conda_pin.substr(equals + 1);
                toolkit.channel =
                    variant->conda_channels.empty() ? "pytorch" : variant->conda_channels.back();
                outcome.packages.push_back(std::move(toolkit));
            }
        }
    }
    std::sort(outcome.packages.begin(), outcome.packages.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    outcome.commands = install_commands(answer.attempt, answer.records);
}

// The version of what was asked first: what two managers' answers are compared by.
specs::Version first_version(const Answer& answer) {
    for (const Item& item : answer.attempt.question.items) {
        for (const specs::PackageRecord* const record : answer.records) {
            if (record->name == item.name && item.name != "python" && item.name != "cuda") {
                if (auto version = specs::Version::parse(record->version)) {
                    return *std::move(version);
                }
            }
        }
    }
    return *specs::Version::parse("0");
}

// The same versions from the other manager, as its commands; none where it has them not.
std::optional<Alternative> same_from(const Request& request, const facts::Host& host,
                                     const Answer& answer, Manager manager) {
    Request same = request;
    same.manager = manager == Manager::Conda ? ManagerChoice::Conda : ManagerChoice::Pip;
    for (const specs::PackageRecord* const record : answer.records) {
        if (is_virtual(record->name) || record->name == "cudnn") {
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
    Alternative alternative{manager, install_commands(*attempt, *records)};
    return alternative.commands.empty() ? std::nullopt : std::optional(std::move(alternative));
}

// `explain`: why these versions. Costs an unnarrowed universe and a solve for each package held
// back.
Result<void> tell_choices(const Request& request, const facts::Host& host,
                          std::span<const Channel* const> channels, const Answer& answer,
                          Outcome& outcome) {
    AttemptOptions options;
    options.world = answer.world;
    options.manager = answer.attempt.manager;
    options.narrowing = Narrowing::None;
    CUDAENV_TRY(const Attempt whole, make_attempt(request, host, channels, options));
    outcome.choices =
        choices_of(request, answer.attempt, answer.records, whole,
                   [&](const Request& changed) { return resolve(changed, host, channels); });
    return {};
}

// The catalogue's answer from whichever manager has the newer one; std::nullopt: there is none.
Result<std::optional<Outcome>> answer_in_catalogue(const Request& request, const facts::Host& host,
                                                   Outcome outcome) {
    std::optional<Answer> conda;
    std::optional<Answer> pip;
    if (request.manager != ManagerChoice::Conda) {
        CUDAENV_TRY(pip, first_answer(request, host, {}, Manager::Pip));
    }
    if (request.manager != ManagerChoice::Pip) {
        auto answer = first_answer(request, host, {}, Manager::Conda);
        // What only pip has (TensorFlow's wheels) is no mistake as long as pip was allowed.
        if (!answer &&
            (answer.error().code != "no-such-package" || request.manager == ManagerChoice::Conda)) {
            return tl::unexpected(std::move(answer).error());
        }
        if (answer) {
            conda = *std::move(answer);
        }
    }
    if (!conda && !pip) {
        return std::optional<Outcome>();
    }
    // The newer answer; of two equal ones conda's, which brings Python and toolkit along.
    const bool use_conda = conda && (!pip || first_version(*conda) >= first_version(*pip));
    Answer& answer = use_conda ? *conda : *pip;
    describe_packages(answer, outcome);
    outcome.driver_assumed = answer.attempt.world->driver_assumed();
    if (request.manager == ManagerChoice::Auto) {
        if (auto other =
                same_from(request, host, answer, use_conda ? Manager::Pip : Manager::Conda)) {
            outcome.alternatives.push_back(*std::move(other));
        }
    }
    advise(request, answer.attempt, answer.records, outcome);
    if (request.tell_choices) {
        CUDAENV_TRY_VOID(tell_choices(request, host, {}, answer, outcome));
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
        text += " on CUDA " + outcome.cuda->major_minor();
    }
    const bool guessed =
        std::any_of(outcome.notes.begin(), outcome.notes.end(),
                    [](const std::string& note) { return note == k_gpu_list_unknown; });
    return guessed ? text + "; which GPUs that build has code for is not known" : text;
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

Result<Outcome> resolve_in_catalogue(const Request& request, const facts::Host& host,
                                     Outcome outcome) {
    CUDAENV_TRY(auto answered, answer_in_catalogue(request, host, outcome));
    if (answered) {
        return *std::move(answered);
    }
    AttemptOptions options;
    options.world = worlds_to_try(request, host).back();
    options.manager = request.manager == ManagerChoice::Conda ? Manager::Conda : Manager::Pip;
    options.narrowing = Narrowing::None;
    CUDAENV_TRY(const Attempt attempt, make_attempt(request, host, {}, options));
    outcome.driver_assumed = attempt.world->driver_assumed();
    CUDAENV_TRY(outcome.conflict, told_by_answers(explain_conflict(attempt, request), host));
    return outcome;
}

} // namespace

Result<Outcome> resolve(const Request& request, const facts::Host& host,
                        std::span<const Channel* const> channels) {
    Outcome outcome;
    for (const Wanted& wanted : request.specs) {
        outcome.request.push_back(redact_secrets(wanted.text));
    }
    for (const Pin& pin : request.pins) {
        const bool bare = pin.constraint.find_first_of("=<>!~") != 0;
        outcome.request.push_back(pin.name + (bare ? "=" : "") + pin.constraint);
    }
    if (request.specs.empty() && request.pins.empty()) {
        return bad_input("nothing-asked", "nothing was asked for",
                         "name what is wanted, as in: cudaenv resolve torch --cuda 12.4");
    }
    if (request.cpu) {
        for (const Pin& pin : request.pins) {
            if (pin.name == "cuda" && pin.origin == "--cuda") {
                return bad_input("cpu-and-cuda", "--cpu and --cuda were given together",
                                 "leave one of them out");
            }
        }
    }
    if (channels.empty()) {
        return resolve_in_catalogue(request, host, std::move(outcome));
    }
    if (request.manager == ManagerChoice::Pip) {
        return bad_input("channel-and-pip", "conda channels were given together with --manager pip",
                         "leave out -c, or use --manager conda");
    }
    CUDAENV_TRY(auto answer, first_answer(request, host, channels, Manager::Conda));
    if (answer) {
        describe_packages(*answer, outcome);
        outcome.driver_assumed = answer->attempt.world->driver_assumed();
        advise(request, answer->attempt, answer->records, outcome);
        if (request.tell_choices) {
            CUDAENV_TRY_VOID(tell_choices(request, host, channels, *answer, outcome));
        }
        return outcome;
    }
    AttemptOptions options;
    options.world = worlds_to_try(request, host).back();
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

} // namespace cudaenv::plan
