#include "solver/resolve/description.hpp"

#include "base/ranges.hpp"
#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/frameworks.hpp"
#include "solver/knowledge/packages.hpp"
#include "solver/knowledge/toolkits.hpp"
#include "solver/resolve/command_line.hpp"
#include "solver/resolve/package_records.hpp"
#include "solver/resolve/source_builds.hpp"
#include "solver/specs/requirement.hpp"

#include <algorithm>

namespace cudaenv::resolve {

namespace {

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
    package.asked = std::ranges::any_of(attempt.question.items, [&](const Item& item) {
        return item.name == record.name && !item.in_environment;
    });
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
                                          const Attempt& attempt, const Records& records) {
    if (!attempt.catalogue || chosen(record, attempt).asked) {
        return record.version;
    }
    std::optional<std::string> pinned;
    for (const specs::PackageRecord* const other : records) {
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
std::optional<DottedVersion> newest_cuda_of_pip(const Request& request, const Attempt& attempt,
                                                const Records& records, const DottedVersion& cuda) {
    const auto& items = attempt.question.items;
    const bool decided =
        attempt.manager != Manager::Pip ||
        std::ranges::find(items, "cuda", &Item::name) != items.end() ||
        std::ranges::any_of(records, [](const auto* record) {
            return std::ranges::any_of(record->depends, [](const std::string& spec) {
                // "cuda 12.6.*", not "cuda 12.*" nor "cuda >=12.5,<13"
                return spec.starts_with("cuda ") && std::ranges::count(spec, '.') == 2 &&
                       spec.find_first_of("<>|,") == std::string::npos;
            });
        });
    const bool drawn = std::ranges::any_of(records, [](const auto* record) {
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

// The catalogue's records that are no package by themselves: part of a build, another record's
// wheel, or pip's own choice.
bool is_installed_with_another(const specs::PackageRecord& record, const Attempt& attempt,
                               const Records& records) {
    const bool inside_build =
        is_library(record.name) && (!chosen(record, attempt).asked || // named by `cudnn`
                                    record_named(records, "nvidia-" + record.name) != nullptr);
    return inside_build || is_unlisted(record) || wheel_of(record, records) != nullptr;
}

ChosenPackage chosen_in_catalogue(const Request& request, const Attempt& attempt,
                                  const Records& records, const specs::PackageRecord& record) {
    ChosenPackage package = chosen(record, attempt);
    if (record.build == "source" && record.version == "0") {
        // Its repository has no releases (apex), or its wheels are on a page of its own (pyg-lib).
        const SourceBuilds builds = source_builds(request, attempt, records);
        const bool wheel = std::ranges::find(builds.wheels, record.name, &SourceBuild::name) !=
                           builds.wheels.end();
        package.version = wheel ? k_from_page : k_from_source;
    }
    package.asked = package.asked || is_wheel_of_asked(attempt, record, records);
    const auto* const row = knowledge::find_framework(record.name);
    package.framework = row != nullptr && row->role == "framework";
    if (attempt.manager == Manager::Pip && row != nullptr && row->table == "torch") {
        // Up to 1.x some wheels carry no label although their index is a CUDA one.
        const TorchSource source = torch_source(request, attempt, records);
        package.version = pip_version(source, attempt, records, record);
        const bool from_index = source.index && (source.label.empty() ||
                                                 package.version.find('+') != std::string::npos);
        package.channel = record.build == "source" ? row->repository
                          : from_index             ? source.index->url
                                                   : "PyPI";
        if (record.name == "torch" && is_built_here(request, record)) {
            package.channel.clear();
        }
    }
    return package;
}

// "cudatoolkit=11.3", or a bare metapackage such as cuda90, whose only version is 1.0.
ChosenPackage conda_toolkit_of(const knowledge::TorchVariant& variant) {
    const std::size_t equals = variant.conda_pin.find('=');
    ChosenPackage toolkit;
    toolkit.name = variant.conda_pin.substr(0, equals);
    toolkit.version = equals == std::string::npos ? "1.0" : variant.conda_pin.substr(equals + 1);
    toolkit.channel = variant.conda_channels.empty() ? "pytorch" : variant.conda_channels.back();
    return toolkit;
}

// What the commands replace beside what the solve knows: NumPy 2 under a torch compiled against 1.
void describe_bounds(const Request& request, const Attempt& attempt, const Records& records,
                     Outcome& outcome) {
    for (const AddedBound& bound : added_bounds(attempt, records)) {
        const auto requirement = specs::Requirement::parse(bound.requirement);
        for (const Installed& one : request.environment.installed) {
            if (requirement && requirement->normalized_name() == one.name &&
                !requirement->specifiers.contains(one.version)) {
                outcome.changes.push_back({one.name, one.version, requirement->specifiers.str(),
                                           bound.owner + " requires " + bound.requirement});
            }
        }
    }
}

} // namespace

void describe_packages(const Request& request, const Attempt& attempt, const Records& records,
                       Outcome& outcome) {
    for (const specs::PackageRecord* const record : records) {
        if (const auto* toolkit = attempt.world->toolkit_of(*record)) {
            outcome.toolkit = *toolkit;
        }
        if (const auto* compiler = attempt.world->compiler_of(*record)) {
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
            outcome.cudnn = pinned_version(*record, attempt, records);
        }
        if (!attempt.catalogue) {
            if (const auto cuda = runtime_of(*record)) {
                if (!outcome.cuda || record->name == "cuda-version") {
                    outcome.cuda = cuda;
                }
            }
            outcome.packages.push_back(chosen(*record, attempt));
        } else if (record->name == "cuda") {
            const DottedVersion cuda = DottedVersion::of(record->version);
            outcome.cuda = newest_cuda_of_pip(request, attempt, records, cuda).value_or(cuda);
        } else if (!is_installed_with_another(*record, attempt, records)) {
            outcome.packages.push_back(chosen_in_catalogue(request, attempt, records, *record));
        }
    }
    const auto* const torch = record_named(records, "torch");
    const auto* const variant =
        torch == nullptr ? nullptr : knowledge::torch_variant(torch->version, torch->build);
    const bool conda = attempt.manager == Manager::Conda;
    if (variant != nullptr && conda && attempt.catalogue) {
        outcome.packages.push_back(conda_toolkit_of(*variant));
    }
    if (variant != nullptr && !outcome.cudnn) {
        outcome.cudnn = conda ? variant->conda_cudnn : variant->cudnn;
    }
    if (attempt.catalogue && attempt.question.nvcc_asked && outcome.cuda) {
        ChosenPackage nvcc;
        nvcc.name = "nvcc";
        nvcc.version = outcome.cuda->major_minor();
        nvcc.manager = attempt.manager;
        nvcc.asked = true;
        outcome.packages.push_back(std::move(nvcc));
    }
    std::ranges::sort(outcome.packages, {}, &ChosenPackage::name);
    outcome.commands = install_commands(request, attempt, records);
    if (attempt.catalogue) {
        describe_bounds(request, attempt, records, outcome);
    }
}

} // namespace cudaenv::resolve
