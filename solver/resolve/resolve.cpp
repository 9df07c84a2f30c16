#include "solver/resolve/resolve.hpp"

#include "base/text.hpp"
#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/findings.hpp"
#include "solver/knowledge/frameworks.hpp"
#include "solver/knowledge/packages.hpp"
#include "solver/knowledge/toolkits.hpp"
#include "solver/pins/pins.hpp"
#include "solver/resolve/advice.hpp"
#include "solver/resolve/attempt.hpp"
#include "solver/resolve/choices.hpp"
#include "solver/resolve/command_line.hpp"
#include "solver/resolve/conflict.hpp"
#include "solver/resolve/environment.hpp"
#include "solver/resolve/package_records.hpp"
#include "solver/specs/ask.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::resolve {

namespace {

struct Answer {
    Attempt attempt;
    Records records;
    WorldOptions world;
};

// The worlds to try, the one that asks most of the host first. The rule of preference: builds whose
// list of GPUs is known before those whose list is not; a CUDA that the driver runs in full before
// minor version compatibility; every GPU served before some; nvcc of the same minor before the same
// major. Conda's channels follow conda's own preference.
std::vector<WorldOptions> worlds_to_try(const Request& request, const facts::Host& host,
                                        bool catalogue) {
    const auto known_gpus = std::ranges::count_if(
        host.gpus, [](const auto& gpu) { return gpu.compute_capability.has_value(); });
    const bool some_gpus = known_gpus > 1 && !request.strict_host;
    const bool any_minor = request.purpose == pins::Purpose::Build && !request.strict_host;
    std::vector<bool> known_code = {false};
    std::vector<bool> full_driver = {false};
    if (catalogue && known_gpus > 0) {
        known_code = {true, false};
    }
    if (catalogue && host.driver) {
        full_driver = {true, false};
    }
    std::vector<WorldOptions> worlds;
    for (const bool known : known_code) {
        for (const bool full : full_driver) {
            for (const bool every_gpu : {true, false}) {
                for (const bool same_minor : {true, false}) {
                    if ((!every_gpu && !some_gpus) || (!same_minor && !any_minor)) {
                        continue;
                    }
                    WorldOptions world;
                    world.every_gpu = every_gpu;
                    world.nvcc_same_minor = same_minor;
                    world.full_driver = full;
                    world.known_code = known;
                    worlds.push_back(world);
                }
            }
        }
    }
    return worlds;
}

Result<std::optional<Answer>> answer_in(const WorldOptions& world, const Request& request,
                                        const facts::Host& host,
                                        std::span<const Channel* const> channels, Manager manager) {
    CUDAENV_TRY(Attempt attempt, make_attempt(request, host, channels, {world, manager}));
    if (auto records = attempt.solve()) {
        return Answer{std::move(attempt), *std::move(records), world};
    }
    return std::optional<Answer>();
}

Result<std::optional<Answer>> first_answer(const Request& request, const facts::Host& host,
                                           std::span<const Channel* const> channels) {
    for (const WorldOptions& world : worlds_to_try(request, host, false)) {
        CUDAENV_TRY(auto answer, answer_in(world, request, host, channels, Manager::Conda));
        if (answer) {
            return answer;
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
    package.asked = std::any_of(
        attempt.question.items.begin(), attempt.question.items.end(),
        [&](const Item& item) { return item.name == record.name && !item.in_environment; });
    if (!attempt.catalogue) {
        return package;
    }
    package.build.clear();
    if (attempt.manager == Manager::Conda) {
        package.channel = record.name == "python"  ? ""
                          : record.channel.empty() ? "pytorch"
                                                   : record.channel;
        if (record.name == "torch") {
            package.name = "pytorch";
        }
    } else if (record.name == "python") {
        package.manager = Manager::Conda;
    } else {
        package.channel = "PyPI";
    }
    return package;
}

bool is_built_here(const Request& request, const specs::PackageRecord& torch) {
    return std::ranges::any_of(request.environment.installed, [&](const Installed& one) {
        return one.is_built_torch() && one.version == torch.version && one.label == torch.build;
    });
}

// As far as the request or a chosen package decides it: 9.1.0.70 of "==9.1.0.70", 8.9 of "8.9.*".
std::optional<std::string> pinned_version(const specs::PackageRecord& record,
                                          const Answer& answer) {
    if (!answer.attempt.catalogue || chosen(record, answer.attempt).asked) {
        return record.version;
    }
    std::optional<std::string> pinned;
    for (const specs::PackageRecord* const other : answer.records) {
        for (const std::string& dependency : other->depends) {
            const auto spec = std::string_view(dependency);
            if (!spec.starts_with(record.name + ' ')) {
                continue;
            }
            const auto version = spec.substr(record.name.size() + 1);
            if (version == "==" + record.version) {
                return record.version;
            }
            if (version.ends_with(".*") && version.find_first_of("<>=!|,") == version.npos) {
                pinned = std::string(version.substr(0, version.size() - 2));
            }
        }
    }
    return pinned;
}

// The CUDA that pip installs where packages require a range of releases: the one that is there,
// else the newest of its major. std::nullopt: something decides it.
std::optional<DottedVersion> newest_cuda_of_pip(const Request& request, const Answer& answer,
                                                const DottedVersion& cuda) {
    const auto& items = answer.attempt.question.items;
    const bool decided =
        answer.attempt.manager != Manager::Pip ||
        std::ranges::find(items, "cuda", &Item::name) != items.end() ||
        std::ranges::any_of(answer.records, [](const auto* record) {
            return std::ranges::any_of(record->depends, [](const std::string& spec) {
                // "cuda 12.6.*", not "cuda 12.*" nor "cuda >=12.5,<13"
                return spec.starts_with("cuda ") && std::ranges::count(spec, '.') == 2 &&
                       spec.find_first_of("<>|,") == std::string::npos;
            });
        });
    const bool drawn = std::ranges::any_of(answer.records, [](const auto* record) {
        return draws_newest_cuda(*record) ||
               (record->name == "tensorflow" && record->build != "cpu");
    });
    if (decided || !drawn) {
        return std::nullopt;
    }
    const std::string major = std::to_string(cuda.major());
    for (const Installed& one : request.environment.installed) {
        if (one.name == "nvidia-cuda-runtime-cu" + major ||
            (one.name == "nvidia-cuda-runtime" && one.version.starts_with(major + '.'))) {
            const auto version = DottedVersion::parse(one.version);
            return version ? std::optional(DottedVersion::of(version->major_minor()))
                           : std::nullopt;
        }
    }
    std::optional<DottedVersion> newest;
    for (const DottedVersion& release : knowledge::cuda_releases()) {
        if (release.major() == cuda.major() && knowledge::has_runtime_wheels(release) &&
            (!newest || *newest < release)) {
            newest = release;
        }
    }
    return newest;
}

void describe_packages(const Request& request, const Answer& answer, Outcome& outcome) {
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
        if (is_virtual(record->name) || is_extra(record->name)) {
            continue;
        }
        if (record->name == "python") {
            outcome.python = record->version;
        }
        // A version that nothing pins is whatever pip finds newest on that day.
        if (record->name == "cudnn") {
            outcome.cudnn = pinned_version(*record, answer);
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
            const DottedVersion cuda = DottedVersion::of(record->version);
            outcome.cuda = newest_cuda_of_pip(request, answer, cuda).value_or(cuda);
            continue;
        }
        if ((record->name == "cudnn" || record->name == "nccl") &&
            !chosen(*record, answer.attempt).asked) {
            continue; // inside the build; named by `cudnn`
        }
        if (is_unlisted(*record)) {
            continue; // pip decides
        }
        if (wheel_of(*record, answer.records) != nullptr) {
            continue; // the wheel's own record is what is installed
        }
        ChosenPackage package = chosen(*record, answer.attempt);
        if (record->build == "source" && record->version == "0") {
            package.version = "from source"; // its repository has no releases: apex
        }
        package.asked = package.asked || is_wheel_of_asked(answer.attempt, *record, answer.records);
        const auto* const row = knowledge::find_framework(record->name);
        if (answer.attempt.manager == Manager::Pip && row != nullptr && row->table == "torch") {
            // Up to 1.x some wheels carry no label although their index is a CUDA one.
            const TorchSource source = torch_source(request, answer.attempt, answer.records);
            package.version = pip_version(source, answer.attempt, answer.records, *record);
            const bool from_index =
                source.index &&
                (source.label.empty() || package.version.find('+') != std::string::npos);
            package.channel = record->build == "source" ? row->repository
                              : from_index              ? source.index->url
                                                        : "PyPI";
            if (record == torch && is_built_here(request, *torch)) {
                package.channel.clear();
            }
        }
        package.framework = row != nullptr && row->role == "framework";
        outcome.packages.push_back(std::move(package));
        if (answer.attempt.manager == Manager::Conda && record->name == "torch") {
            if (const auto* variant = knowledge::torch_variant(record->version, record->build)) {
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
    if (torch != nullptr && !outcome.cudnn) {
        if (const auto* variant = knowledge::torch_variant(torch->version, torch->build)) {
            outcome.cudnn =
                answer.attempt.manager == Manager::Conda ? variant->conda_cudnn : variant->cudnn;
        }
    }
    outcome.commands = install_commands(request, answer.attempt, answer.records);
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
        if (is_virtual(record->name) || is_extra(record->name) || record->name == "cudnn" ||
            record->name == "nccl") {
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

// What of the answer was asked for first.
const specs::PackageRecord* first_asked(const Answer& answer) {
    for (const Item& item : answer.attempt.question.items) {
        const auto found =
            std::ranges::find(answer.records, item.name, &specs::PackageRecord::name);
        if (item.kind == Item::Kind::Spec && !item.in_environment &&
            found != answer.records.end() && item.name != "python" && item.name != "cuda") {
            return *found;
        }
    }
    return nullptr;
}

// What would be taken without the answer: a newer one for which less is asked of the host, else the
// version before it. Empty: nothing else is possible.
Result<std::string> next_best(const Request& request, const facts::Host& host,
                              const Answer& answer) {
    const auto* const chosen = first_asked(answer);
    if (chosen == nullptr) {
        return std::string();
    }
    const std::string shown = display(*chosen, answer.attempt);
    for (const WorldOptions& world : worlds_to_try(request, host, true)) {
        const bool asks_less = world.full_driver <= answer.world.full_driver &&
                               world.known_code <= answer.world.known_code &&
                               world.every_gpu <= answer.world.every_gpu;
        if (!asks_less) {
            continue;
        }
        CUDAENV_TRY(const auto other, answer_in(world, request, host, {}, answer.attempt.manager));
        const auto* const record = other ? first_asked(*other) : nullptr;
        if (record == nullptr || display(*record, other->attempt) == shown) {
            continue;
        }
        return display(*record, other->attempt) +
               (!world.known_code && answer.world.known_code ? ": its GPU list is not published"
                : !world.full_driver && answer.world.full_driver
                    ? ": the driver runs its CUDA by minor version compatibility only"
                    : ": not on every GPU here");
    }
    Request older = request;
    for (Wanted& wanted : older.specs) {
        const auto ask = specs::Ask::parse(wanted.text);
        const bool pinned = wanted.text.find_first_of("=<>~ ") != std::string::npos;
        if (ask && !pinned && shown.starts_with(ask->name() + ' ')) {
            wanted.text += '<' + chosen->version;
            CUDAENV_TRY(const auto other,
                        answer_in(answer.world, older, host, {}, answer.attempt.manager));
            const auto* const record = other ? first_asked(*other) : nullptr;
            return record == nullptr ? std::string()
                                     : display(*record, other->attempt) + ": the version before";
        }
    }
    return std::string();
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
    if (!outcome.choices.empty() && channels.empty()) {
        CUDAENV_TRY(outcome.choices.front().next, next_best(request, host, answer));
    }
    return {};
}

// conda-forge::pytorch.
bool names_channel(const Request& request) {
    return std::ranges::any_of(request.specs, [](const Wanted& wanted) {
        return wanted.text.find("::") != std::string::npos;
    });
}

// The managers whose builds may answer: the environment's own, else what was asked for.
std::vector<Manager> managers_of(const Request& request) {
    switch (request.manager) {
    case ManagerChoice::Conda:
        return {Manager::Conda};
    case ManagerChoice::Pip:
        return {Manager::Pip};
    case ManagerChoice::Auto:
        break;
    }
    const auto& environment = request.environment;
    if (names_channel(request)) {
        return {Manager::Conda};
    }
    if (environment.target.machine != "x86_64" &&
        environment.target.kind != knowledge::Target::Kind::Conda) {
        return {Manager::Pip}; // the pytorch channel is of x86-64
    }
    if (environment.target.kind == knowledge::Target::Kind::Venv) {
        return {Manager::Pip};
    }
    if (beside_conda(request).is_for_pip()) {
        return {Manager::Pip};
    }
    for (const Installed& installed : environment.installed) {
        if (installed.name == "torch" || installed.name == "tensorflow") {
            return {installed.manager}; // partners come from where it came from
        }
    }
    return environment.target.kind == knowledge::Target::Kind::Conda
               ? std::vector{Manager::Conda, Manager::Pip}
               : std::vector{Manager::Pip, Manager::Conda};
}

// The catalogue's answer from whichever manager has the newer one; std::nullopt: there is none.
Result<std::optional<Outcome>> answer_in_catalogue(const Request& request, const facts::Host& host,
                                                   Outcome outcome) {
    const auto managers = managers_of(request);
    const bool conda_first = managers.front() == Manager::Conda;
    std::optional<Answer> best;
    for (const WorldOptions& world : worlds_to_try(request, host, true)) {
        std::optional<Error> unknown; // what only one manager has (TensorFlow's wheels)
        for (const Manager manager : managers) {
            auto tried = answer_in(world, request, host, {}, manager);
            if (!tried && tried.error().code == "no-such-package" && managers.size() > 1) {
                if (unknown) {
                    return tl::unexpected(*std::move(unknown));
                }
                unknown = std::move(tried).error();
                continue;
            }
            CUDAENV_TRY(auto answer, std::move(tried));
            // In a conda environment conda's; else the newer one, and of two equal ones conda's,
            // which includes Python and toolkit, where a conda is here.
            if (answer &&
                (!best || (!conda_first && (first_version(*answer) > first_version(*best) ||
                                            (first_version(*answer) == first_version(*best) &&
                                             request.environment.target.has_conda))))) {
                best = std::move(answer);
            }
        }
        if (best) {
            break;
        }
    }
    if (!best) {
        return std::optional<Outcome>();
    }
    const Answer& answer = *best;
    describe_packages(request, answer, outcome);
    outcome.driver_assumed = answer.attempt.world->driver_assumed();
    outcome.unknown = answer.attempt.question.unknown;
    for (const specs::PackageRecord* const record : answer.records) {
        if (is_unlisted(*record)) {
            outcome.unknown.push_back(record->name);
        }
    }
    if (managers.size() > 1) {
        const Manager other =
            answer.attempt.manager == Manager::Conda ? Manager::Pip : Manager::Conda;
        const bool possible = other == Manager::Pip || request.environment.target.has_conda;
        if (auto same = possible ? same_from(request, host, answer, other) : std::nullopt) {
            outcome.alternatives.push_back(*std::move(same));
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
    options.world = worlds_to_try(request, host, true).back();
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
            auto error = bad_input("no-such-cuda",
                                   fmt::format("there is no CUDA {}", version->major_minor()),
                                   fmt::format("the nearest is {}", nearest->str()));
            error.value().path = pin.origin;
            return error;
        }
    }
    return {};
}

// Something that is asked for is compiled where it is installed.
bool is_compiled_here(const Request& request) {
    return std::ranges::any_of(request.specs, [](const Wanted& wanted) {
        const auto ask = specs::Ask::parse(wanted.text);
        const auto* const row = ask ? knowledge::find_framework(ask->name()) : nullptr;
        const auto* const project = ask ? knowledge::package_project(ask->name()) : nullptr;
        return row != nullptr && row->from_source &&
               (project == nullptr || project->wheels.empty());
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
        if (torch.label == "cpu" && host.driver && !request.cpu) {
            Request with_cuda = request;
            with_cuda.specs = {{"torch", {}}};
            const auto newest = knowledge::newest_cuda_in_full(host);
            const auto* const variant = newest ? knowledge::newest_torch_for(*newest) : nullptr;
            if (variant != nullptr) {
                with_cuda.pins = {{"cuda", variant->cuda.major_minor(), {}}};
            }
            outcome.warnings.push_back(
                knowledge::finding("CE216", {},
                                   {{"version", torch.version + '+' + torch.label},
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
    if (!answered->cuda && std::ranges::any_of(answered->packages, &ChosenPackage::framework)) {
        answered->runs.push_back({"CPU build: no GPU is used", knowledge::Answer::Yes});
    }
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
        return bad_input("nothing-asked", "nothing was asked for",
                         "name what is wanted, as in: cudaenv resolve torch --cuda 12.4");
    }
    if (request.cpu) {
        for (const pins::Pin& pin : request.pins) {
            if (pin.name == "cuda" && pin.origin == "--cuda") {
                return bad_input("cpu-and-cuda", "--cpu and --cuda were given together",
                                 "leave one of them out");
            }
        }
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
                         fmt::format("{} has conda's torch: there conda installs {}, and pip {}",
                                     request.environment.shown, join(sides.of_conda, ", "),
                                     join(sides.of_pip, ", ")),
                         "ask for conda's first, then for pip's");
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
    CUDAENV_TRY(auto answer, first_answer(request, host, channels));
    if (answer) {
        describe_packages(request, *answer, outcome);
        outcome.driver_assumed = answer->attempt.world->driver_assumed();
        advise(request, answer->attempt, answer->records, outcome);
        if (request.tell_choices) {
            CUDAENV_TRY_VOID(tell_choices(request, host, channels, *answer, outcome));
        }
        return outcome;
    }
    AttemptOptions options;
    options.world = worlds_to_try(request, host, false).back();
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
