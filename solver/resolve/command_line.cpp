#include "solver/resolve/command_line.hpp"

#include "base/ranges.hpp"
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/frameworks.hpp"
#include "solver/knowledge/packages.hpp"
#include "solver/knowledge/recipes.hpp"
#include "solver/resolve/package_records.hpp"
#include "solver/resolve/source_builds.hpp"
#include "solver/specs/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace cudaenv::resolve {

namespace {

bool is_kept(const Attempt& attempt, const specs::PackageRecord& record) {
    return std::ranges::any_of(attempt.question.items, [&](const Item& item) {
        return item.kept && item.name == record.name;
    });
}

// A torch that is installed now and compiled against NumPy 1, where the request does not name
// NumPy.
bool needs_numpy_1(const Attempt& attempt, const specs::PackageRecord& torch) {
    return !is_kept(attempt, torch) &&
           knowledge::release_numbers(torch.version) < DottedVersion::of("2.3") &&
           !is_asked(attempt, "numpy");
}

// The environment that commands act on; without one they create it first.
struct Destination {
    knowledge::Target target;
    std::vector<std::string> first; // what creates it
};

std::string python_of(const Records& records) {
    const auto* const python = record_named(records, "python");
    return python == nullptr ? std::string() : python->version;
}

Destination pip_destination(const Request& request, const Records& records) {
    Destination destination{request.environment.target, {}};
    if (!request.environment.exists()) {
        const std::string python = python_of(records);
        // venv came with Python 3.3.
        destination.first = {python.starts_with('2')
                                 ? "virtualenv -p python" + python + " .venv"
                                 : "python" + (python.empty() ? "3" : python) + " -m venv .venv"};
        destination.target.kind = knowledge::Target::Kind::Venv;
        destination.target.prefix = ".venv";
    }
    return destination;
}

knowledge::Target conda_destination(const Request& request, const Records& records) {
    knowledge::Target target = request.environment.target;
    for (const char* const name : {"torch", "tensorflow"}) {
        if (record_named(records, name) != nullptr) {
            target.create_name = name;
            break;
        }
    }
    return target;
}

// The user's own words, where the installer is to choose: which patches of cuDNN conda has is not
// known here.
std::string as_asked(const Attempt& attempt, std::string_view name) {
    const auto& items = attempt.question.items;
    const auto item = std::ranges::find(items, name, &Item::name);
    return item == items.end() ? std::string(name) : item->text;
}

std::vector<std::string> conda_catalogue_commands(const Request& request, const Attempt& attempt,
                                                  const Records& records) {
    const knowledge::Target target = conda_destination(request, records);
    std::vector<std::string> specs;
    std::vector<std::string> channels;
    const auto add_channel = [&](const std::string& channel) {
        if (std::ranges::find(channels, channel) == channels.end()) {
            channels.push_back(channel);
        }
    };
    const std::string python = python_of(records);
    if (!request.environment.exists() && !python.empty()) {
        specs.push_back("python=" + python);
    }
    const auto add_libraries = [&] {
        for (const std::string_view library : k_libraries) {
            if (record_named(records, library) != nullptr && is_asked(attempt, library)) {
                specs.push_back(as_asked(attempt, library));
            }
        }
    };
    const auto& unknown = attempt.question.unknown;
    if (const auto* const torch = record_named(records, "torch"); torch != nullptr) {
        const auto* const build = knowledge::torch_variant(torch->version, torch->build);
        const bool forge = build != nullptr && !build->conda_channels.empty() &&
                           build->conda_channels.front() == "conda-forge";
        const bool forge_cpu = build == nullptr && torch->channel == "conda-forge";
        if (!is_kept(attempt, *torch)) {
            // conda-forge's pytorch-gpu holds pytorch to a CUDA build, pytorch-cpu to another.
            specs.push_back((forge       ? "pytorch-gpu=="
                             : forge_cpu ? "pytorch-cpu=="
                                         : "pytorch==") +
                            torch->version);
        } else if (forge_cpu) {
            specs.push_back("pytorch=" + torch->version + "=cpu*");
        }
        for (const char* const partner : {"torchvision", "torchaudio"}) {
            const auto* const record = record_named(records, partner);
            if (record != nullptr && !is_kept(attempt, *record)) {
                specs.push_back(fmt::format("{}=={}", partner, record->version));
            }
        }
        if (const auto* variant = knowledge::torch_variant(torch->version, torch->build)) {
            specs.push_back(variant->conda_pin);
            for (const std::string& channel : variant->conda_channels) {
                add_channel(channel);
            }
        } else if (forge_cpu) {
            add_channel("conda-forge");
        } else {
            specs.emplace_back("cpuonly");
        }
        if (channels.empty()) {
            add_channel("pytorch");
        }
        add_libraries();
        if (needs_numpy_1(attempt, *torch)) {
            specs.emplace_back("numpy<2");
        }
        if (!forge && !forge_cpu && !is_kept(attempt, *torch)) {
            specs.emplace_back(knowledge::k_mkl_of_pytorch_channel);
        }
        specs.insert(specs.end(), unknown.begin(), unknown.end());
        const auto* const cuda = record_named(records, "cuda");
        std::vector<std::string> commands = {knowledge::conda_install(target, specs, channels)};
        if (attempt.question.nvcc_asked && cuda != nullptr) {
            knowledge::Target inside = target;
            if (!request.environment.exists()) {
                inside.kind = knowledge::Target::Kind::Conda;
                inside.active = true;
                commands.push_back(target.conda + " activate " + target.create_name);
            } else if (is_kept(attempt, *torch) && specs.size() == 1) {
                commands.clear(); // the pin of what is there already
            }
            commands.push_back(
                knowledge::nvcc_recipe(DottedVersion::of(cuda->version), inside).command);
        }
        return commands;
    }
    if (const auto* const cuda = record_named(records, "cuda")) {
        add_libraries();
        specs.insert(specs.end(), unknown.begin(), unknown.end());
        const DottedVersion release = DottedVersion::of(cuda->version);
        const auto recipe = attempt.question.nvcc_asked
                                ? knowledge::conda_nvcc_recipe(release, target, specs)
                                : knowledge::runtime_recipe(release, target, specs);
        if (recipe.command.empty()) {
            return {};
        }
        return {recipe.command};
    }
    add_libraries();
    if (record_named(records, "cudnn") != nullptr || record_named(records, "nccl") != nullptr) {
        add_channel("conda-forge");
    }
    specs.insert(specs.end(), unknown.begin(), unknown.end());
    return specs.empty() ? std::vector<std::string>()
                         : std::vector{knowledge::conda_install(target, specs, channels)};
}

// Requirements that one command installs, and from where.
struct PipGroup {
    std::vector<std::string> requirements;
    std::optional<knowledge::PipIndex> index;
    std::vector<std::string> options;
};

const knowledge::TorchVariant* wheels_of(const Attempt& attempt,
                                         const specs::PackageRecord& torch) {
    return knowledge::torch_variant(torch.version, torch.build, attempt.world->host().machine);
}

// pip takes an installed torch of the same version for what is asked, whatever its label.
bool replaces_same_version(const Request& request, const specs::PackageRecord& torch) {
    return std::ranges::any_of(request.environment.installed, [&](const Installed& one) {
        return one.name == torch.name && one.version == torch.version && one.label != torch.build;
    });
}

// torch and its partners, of one release and one index; each partner of a torch that was built here
// is compiled against it.
std::vector<PipGroup> torch_groups(const Request& request, const Attempt& attempt,
                                   const Records& records) {
    const auto* const torch = record_named(records, "torch");
    if (torch == nullptr) {
        return {};
    }
    PipGroup group;
    std::vector<PipGroup> groups;
    const TorchSource source = torch_source(request, attempt, records);
    for (const char* const name : {"torch", "torchvision", "torchaudio"}) {
        const auto* const record = record_named(records, name);
        if (record == nullptr || is_kept(attempt, *record)) {
            continue;
        }
        const auto* const row = knowledge::find_framework(name);
        if (record->build == "source" && row != nullptr) {
            groups.push_back({{fmt::format("git+https://{}@v{}", row->repository, record->version)},
                              {},
                              {"--no-build-isolation", "--no-deps"}});
            continue;
        }
        group.requirements.push_back(fmt::format("{}{}=={}", name,
                                                 extras_of(attempt, records, name),
                                                 pip_version(source, attempt, records, *record)));
    }
    if (group.requirements.empty()) {
        return groups;
    }
    if (needs_numpy_1(attempt, *torch)) {
        group.requirements.emplace_back("numpy<2");
    }
    group.index = source.index;
    groups.insert(groups.begin(), std::move(group));
    return groups;
}

const knowledge::TensorflowRelease* tensorflow_release(const specs::PackageRecord& record) {
    const auto releases = knowledge::tensorflow_releases();
    return find_pointer_if(
        releases, [&](const auto& release) { return release.tensorflow.str() == record.version; });
}

// conda has not each cuDNN; a newer one of the same major serves.
std::string cudnn_spec(const DottedVersion& cudnn) {
    return fmt::format("cudnn>={},<{}", cudnn.major_minor(), cudnn.major() + 1);
}

// CUDA and cuDNN from conda, for wheels that contain neither: in one environment with Python and
// the wheels where there is no environment yet, else beside them.
void add_conda_libraries(const Request& request, const Records& records,
                         const knowledge::TensorflowRelease& release, Destination& destination,
                         std::vector<std::string>& before) {
    const knowledge::Target target = conda_destination(request, records);
    if (!target.has_conda) {
        return;
    }
    std::vector<std::string> specs;
    if (release.cudnn) {
        specs.push_back(cudnn_spec(*release.cudnn));
    }
    const bool together = !request.environment.exists() && target.conda != "pixi";
    if (together) {
        specs.push_back("python=" + python_of(records));
        specs.emplace_back("pip");
    }
    std::string command = knowledge::runtime_recipe(*release.cuda, target, specs).command;
    if (!together) {
        before.push_back(std::move(command));
        return;
    }
    destination.first = {std::move(command), target.conda + " activate " + target.create_name};
    destination.target.kind = knowledge::Target::Kind::Conda;
    destination.target.active = true;
    destination.target.prefix.clear();
}

// After everything that they are compiled against.
void add_source_builds(const SourceBuilds& builds, const knowledge::Target& target,
                       std::vector<std::string>& commands) {
    for (const SourceBuild& one : builds.wheels) {
        commands.push_back(
            knowledge::pip_install(target, std::array{one.requirement}, std::nullopt, one.options));
    }
    if (!builds.tools.empty()) {
        commands.push_back(knowledge::pip_install(target, builds.tools));
    }
    for (const SourceBuild& one : builds.packages) {
        std::string command;
        for (const std::string& variable : one.variables) {
            command += variable + ' ';
        }
        commands.push_back(command + knowledge::pip_install(target, std::array{one.requirement},
                                                            std::nullopt, one.options));
    }
}

// What METADATA omits, so that pip would not hold to it: "transformers<4.54.0" of vllm 0.9.
std::vector<std::string> unstated_of(const Attempt& attempt, const Records& records,
                                     const specs::PackageRecord& record) {
    std::vector<std::string> unstated;
    const auto* const release = knowledge::package_release(record.name, record.version);
    if (release == nullptr) {
        return unstated;
    }
    for (const std::string& text : release->unstated) {
        const auto requirement = specs::Requirement::parse(text);
        const std::string name = requirement ? requirement->normalized_name() : std::string();
        if (requirement && knowledge::find_framework(name) == nullptr && !is_asked(attempt, name) &&
            record_named(records, name) == nullptr) {
            unstated.push_back(text);
        }
    }
    return unstated;
}

void add_unstated(const Attempt& attempt, const Records& records,
                  const specs::PackageRecord& record, std::vector<std::string>& requirements) {
    for (const std::string& text : unstated_of(attempt, records, record)) {
        add_once(requirements, text);
    }
}

// Where builds are that an extra of the answer requires and the index lacks.
void add_own_page(const Records& records, const specs::PackageRecord& package,
                  std::vector<std::string>& options) {
    const auto* const release = knowledge::package_release(package.name, package.version);
    for (const specs::PackageRecord* const record : records) {
        const std::string prefix = extra_name(package.name, "");
        const auto* const extra = release != nullptr && record->name.starts_with(prefix)
                                      ? release->extra(record->name.substr(prefix.size()))
                                      : nullptr;
        if (extra == nullptr) {
            continue;
        }
        for (const std::string& text : extra->requirements) {
            if (const auto pin = local_pin(text)) {
                options = {"-f", knowledge::package_project(pin->first)->elsewhere};
            }
        }
    }
}

// CUDA is asked for, and nothing that brings it: its libraries at most.
bool are_libraries_alone(const Question& question) {
    bool cuda = false;
    for (const Item& item : question.items) {
        if (item.kind == Item::Kind::Pin || item.kept || item.name == "python") {
            continue;
        }
        cuda = cuda || item.name == "cuda";
        if (item.name != "cuda" && !is_library(item.name) && library_of(item.name).empty()) {
            return false;
        }
    }
    return cuda;
}

std::vector<std::string> pip_catalogue_commands(const Request& request, const Attempt& attempt,
                                                const Records& records) {
    Destination destination = pip_destination(request, records);
    std::vector<std::string> before;
    auto groups = torch_groups(request, attempt, records);
    PipGroup others;
    const auto* const tensorflow = record_named(records, "tensorflow");
    if (tensorflow != nullptr && !is_kept(attempt, *tensorflow)) {
        const auto* const row = tensorflow_release(*tensorflow);
        const bool cuda = tensorflow->build != "cpu";
        const bool extra = cuda && row != nullptr && row->and_cuda_extra;
        const std::string package =
            cuda && row != nullptr && !row->package.empty() ? row->package : "tensorflow";
        others.requirements.push_back(
            fmt::format("{}{}=={}", package, extra ? "[and-cuda]" : "", tensorflow->version));
        add_unstated(attempt, records, *tensorflow, others.requirements);
        if (tensorflow_without_libraries(attempt, records) != nullptr) {
            add_conda_libraries(request, records, *row, destination, before);
        }
    }
    const SourceBuilds built = source_builds(request, attempt, records);
    for (const specs::PackageRecord* const record : records) {
        const bool is_built =
            std::ranges::any_of(std::array{&built.wheels, &built.packages}, [&](const auto* list) {
                return std::ranges::find(*list, record->name, &SourceBuild::name) != list->end();
            });
        if (has_package(record->name) && !is_extra(record->name) && !is_kept(attempt, *record) &&
            (is_asked(attempt, record->name) || is_wheel_of_asked(attempt, *record, records)) &&
            wheel_of(*record, records) == nullptr && !is_built) {
            if (is_unlisted(*record)) {
                others.requirements.push_back(as_asked(attempt, record->name));
                continue;
            }
            others.requirements.push_back(record->name + extras_of(attempt, records, record->name) +
                                          "==" + record->version);
            add_unstated(attempt, records, *record, others.requirements);
            add_own_page(records, *record, others.options);
        }
    }
    if (std::string pin = cudnn_pin(attempt, records); !pin.empty()) {
        others.requirements.push_back(std::move(pin));
    }
    others.requirements.insert(others.requirements.end(), attempt.question.unknown.begin(),
                               attempt.question.unknown.end());
    if (!others.requirements.empty()) {
        const bool together = !groups.empty() && others.options.empty() &&
                              (!groups.back().index || groups.back().index->extra);
        if (together) {
            auto& all = groups.back().requirements;
            all.insert(all.end(), others.requirements.begin(), others.requirements.end());
        } else {
            groups.push_back(std::move(others));
        }
    }
    std::vector<std::string> commands = std::move(before);
    const auto* const cuda = record_named(records, "cuda");
    knowledge::Recipe runtime;
    bool has_wheels = true;
    if (cuda != nullptr && are_libraries_alone(attempt.question)) {
        const DottedVersion release = DottedVersion::of(cuda->version);
        const bool nvcc = attempt.question.nvcc_asked;
        runtime = nvcc ? knowledge::nvcc_recipe(release, destination.target)
                       : knowledge::runtime_recipe(release, destination.target);
        has_wheels =
            nvcc ? knowledge::has_nvcc_wheels(release) : knowledge::has_runtime_wheels(release);
    }
    if (!has_wheels && !groups.empty()) {
        return {}; // conda's answer has both
    }
    if (groups.empty() && built.packages.empty() && built.wheels.empty() &&
        runtime.command.empty()) {
        return {};
    }
    if (has_wheels) {
        commands.insert(commands.end(), destination.first.begin(), destination.first.end());
    }
    if (!runtime.command.empty()) {
        commands.push_back(runtime.command);
    }
    for (const PipGroup& group : groups) {
        commands.push_back(knowledge::pip_install(destination.target, group.requirements,
                                                  group.index, group.options));
    }
    add_source_builds(built, destination.target, commands);
    return commands;
}

} // namespace

const knowledge::TensorflowRelease* tensorflow_without_libraries(const Attempt& attempt,
                                                                 const Records& records) {
    const auto* const tensorflow = record_named(records, "tensorflow");
    if (!attempt.catalogue || attempt.manager != Manager::Pip || tensorflow == nullptr ||
        tensorflow->build == "cpu" || is_kept(attempt, *tensorflow)) {
        return nullptr;
    }
    const auto* const row = tensorflow_release(*tensorflow);
    return row != nullptr && row->cuda && !row->and_cuda_extra ? row : nullptr;
}

std::vector<AddedBound> added_bounds(const Attempt& attempt, const Records& records) {
    std::vector<AddedBound> bounds;
    for (const specs::PackageRecord* const record : records) {
        if (is_kept(attempt, *record)) {
            continue;
        }
        const std::string owner = record->name + ' ' + record->version;
        if (record->name == "torch") {
            if (needs_numpy_1(attempt, *record)) {
                bounds.push_back({owner, "numpy<2"});
            }
        } else if (record->name == "tensorflow" || is_asked(attempt, record->name)) {
            for (std::string& text : unstated_of(attempt, records, *record)) {
                bounds.push_back({owner, std::move(text)});
            }
        }
    }
    return bounds;
}

bool is_wheel_of_asked(const Attempt& attempt, const specs::PackageRecord& wheel,
                       const Records& records) {
    return std::ranges::any_of(records, [&](const specs::PackageRecord* record) {
        return wheel_of(*record, records) == &wheel && is_asked(attempt, record->name);
    });
}

std::string cudnn_pin(const Attempt& attempt, const Records& records) {
    const auto* const cudnn = record_named(records, "cudnn");
    const auto* const cuda = record_named(records, "cuda");
    if (attempt.manager != Manager::Pip || cudnn == nullptr || cuda == nullptr ||
        is_asked(attempt, "cudnn")) {
        return {};
    }
    const std::string exactly = "cudnn ==" + cudnn->version;
    const bool pinned = std::ranges::any_of(records, [&](const auto* record) {
        return std::ranges::find(record->depends, exactly) != record->depends.end();
    });
    const std::string name =
        "nvidia-cudnn-cu" + std::to_string(DottedVersion::of(cuda->version).major());
    const auto releases = knowledge::package_releases(name);
    // "8.1" is what TensorFlow is built for; a wheel's version has four numbers.
    if (pinned || releases.empty() || std::ranges::count(cudnn->version, '.') < 3) {
        return {};
    }
    const auto floor = knowledge::cudnn_floor(releases.back().version);
    const bool refused =
        floor && std::ranges::any_of(attempt.world->host().gpus, [&](const facts::Gpu& gpu) {
            return gpu.compute_capability && *gpu.compute_capability < floor->least_gpu;
        });
    return refused ? name + "==" + cudnn->version : std::string();
}

TorchSource torch_source(const Request& request, const Attempt& attempt, const Records& records) {
    const auto* const torch = record_named(records, "torch");
    if (torch == nullptr) {
        return {};
    }
    if (torch->build == "cpu") {
        return {replaces_same_version(request, *torch) ? "+cpu" : "",
                knowledge::PipIndex{"https://download.pytorch.org/whl/cpu", false}};
    }
    if (knowledge::build_by_label(torch->version + '+' + torch->build).other_gpu()) {
        return {'+' + torch->build,
                knowledge::PipIndex{knowledge::other_gpu_index(torch->build), false}};
    }
    const auto* const variant = wheels_of(attempt, *torch);
    const bool stays = is_kept(attempt, *torch);
    // A partner beside a torch that stays comes from its index, whatever the default index has by
    // now; and so does what only differs by its label from what is installed.
    // PyTorch's index has wheels for Pythons that the default index lacks: cp315 of torch 2.13.
    const std::string pythons = wheel_pythons("torch", torch->version, attempt.world->host());
    const bool default_has_python =
        pythons.empty() || pythons.find(python_of(records) + ".*") != std::string::npos;
    if (variant == nullptr || (variant->wheel_is_default && default_has_python && !stays &&
                               !replaces_same_version(request, *torch))) {
        return {};
    }
    const std::string label = variant->wheel_has_local_label ? '+' + variant->tag : "";
    // A partner without a label, beside a torch that has one, is the default index's.
    const bool from_both = std::ranges::any_of(records, [&](const auto* record) {
        return (record->name == "torchvision" || record->name == "torchaudio") &&
               !is_kept(attempt, *record) &&
               knowledge::wheel_version(*variant, record->name, record->version).find('+') ==
                   std::string::npos;
    });
    return {label,
            knowledge::PipIndex{variant->wheel_index, !label.empty() && (!stays || from_both)}};
}

std::string pip_version(const TorchSource& source, const Attempt& attempt, const Records& records,
                        const specs::PackageRecord& record) {
    if (record.build == "source" || !source.index) {
        return record.version;
    }
    const auto* const torch = record_named(records, "torch");
    const auto* const variant = torch == nullptr ? nullptr : wheels_of(attempt, *torch);
    return variant == nullptr ? record.version + source.label
                              : knowledge::wheel_version(*variant, record.name, record.version);
}

std::string resolve_command(const Request& request, std::span<const Channel* const> channels) {
    // --cuda and --python stand over what the project pins; any other pin stays in force until its
    // file says otherwise, so that a changed one is pinned anew before.
    std::string pinned;
    for (const pins::Pin& pin : request.pins) {
        if (pin.origin == k_this_fix && pin.name != "cuda" && pin.name != "python") {
            pinned += ' ' + shell_word(pin.name + '=' + pin.constraint);
        }
    }
    std::string command =
        (pinned.empty() ? "" : "cudaenv pin" + pinned + " && ") + std::string("cudaenv resolve");
    for (const Wanted& wanted : request.specs) {
        command += ' ' + shell_word(redact_secrets(wanted.text));
    }
    for (const pins::Pin& pin : request.pins) {
        if (pin.name == "cuda" || pin.name == "python") {
            command += fmt::format(" --{} {}", pin.name, shell_word(pin.constraint));
        } else if (pin.origin != k_this_fix &&
                   std::ranges::none_of(request.specs, [&](const Wanted& wanted) {
                       return wanted.text.starts_with(pin.name);
                   })) {
            const bool bare = pin.constraint.find_first_of("=<>!~") != 0;
            command += ' ' + shell_word(pin.name + (bare ? "=" : "") + pin.constraint);
        }
    }
    if (request.purpose == pins::Purpose::Build) {
        command += " --for build";
    }
    if (request.manager != ManagerChoice::Auto) {
        command += request.manager == ManagerChoice::Conda ? " --manager conda" : " --manager pip";
    }
    if (request.cpu) {
        command += " --cpu";
    }
    if (request.strict_host) {
        command += " --strict-host";
    }
    if (request.environment.exists() && !request.environment.target.active &&
        !request.environment.target.prefix.empty()) {
        command += " -p " + shell_word(request.environment.target.prefix);
    }
    for (const std::string& word : request.host_words) {
        command += ' ' + shell_word(word);
    }
    for (const Channel* channel : channels) {
        command += " -c " + shell_word(channel->name());
    }
    return command;
}

std::vector<std::string> install_commands(const Request& request, const Attempt& attempt,
                                          const Records& records) {
    if (attempt.catalogue) {
        return attempt.manager == Manager::Conda
                   ? conda_catalogue_commands(request, attempt, records)
                   : pip_catalogue_commands(request, attempt, records);
    }
    std::vector<std::string> specs;
    std::set<std::string> named_already;
    for (const Item& item : attempt.question.items) {
        for (const specs::PackageRecord* const record : records) {
            const bool pinned_runtime = item.kind == Item::Kind::Pin && item.name == "cuda" &&
                                        runtime_of(*record).has_value() &&
                                        record->name != "cuda-cudart";
            if ((record->name == item.name || pinned_runtime) &&
                named_already.insert(record->name).second) {
                specs.push_back(
                    fmt::format("{}={}={}", record->name, record->version, record->build));
            }
        }
    }
    if (specs.empty()) {
        return {};
    }
    const auto channels = each_of(attempt.channels, &Channel::name);
    return {knowledge::conda_install(conda_destination(request, records), specs, channels) +
            " --override-channels"};
}

} // namespace cudaenv::resolve
