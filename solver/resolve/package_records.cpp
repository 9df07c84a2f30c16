#include "solver/resolve/package_records.hpp"

#include "base/text.hpp"
#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/fit.hpp"
#include "solver/knowledge/frameworks.hpp"
#include "solver/specs/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

namespace cudaenv::resolve {

namespace {

// No normalized name has an underscore.
constexpr std::string_view k_extra = "_extra_";

// The extra that stands for whichever brings CUDA; no normalized name has an underscore.
constexpr std::string_view k_any_cuda = "any_cuda";

constexpr std::string_view k_unlisted = "unlisted";

// What has wheels of CUDA's libraries installed, of one release exactly.
constexpr std::array<const char*, 2> k_with_libraries = {"torch", "tensorflow"};

// PEP 440's clauses as conda's: "<2,>=1.21", "==0.4.*". conda knows no "===".
std::string conda_spec(const specs::Requirement& requirement) {
    std::string spec = requirement.specifiers.str();
    std::erase(spec, ' ');
    return spec.empty() ? std::string() : ' ' + spec;
}

// Of packages without a row in the table of frameworks only some releases are listed (the newest
// patch of each minor): another one that is required is not here, and pip has it.
bool is_listed(const specs::Requirement& requirement) {
    const std::string name = requirement.normalized_name();
    const auto releases = knowledge::package_releases(name);
    return knowledge::find_framework(name) != nullptr || releases.empty() ||
           std::ranges::any_of(releases, [&](const auto& release) {
               return requirement.specifiers.contains(release.version);
           });
}

// What a line of the table asks for. Every attempt builds its world again, and a conflict makes
// dozens of them: a line is read once for each thread.
struct RequirementLine {
    std::string name; // normalized; empty: it cannot be read
    std::string spec;
    bool certain = false; // neither a marker nor a URL decides
    std::string_view library;
    std::optional<std::pair<std::string, std::string>> local;
    bool listed = false;
    std::vector<std::string> extras; // as packages: "jax_extra_cuda12"
};
const RequirementLine& line_of(const std::string& text) {
    thread_local std::unordered_map<std::string, RequirementLine> lines;
    const auto [at, is_new] = lines.try_emplace(text);
    RequirementLine& line = at->second;
    if (!is_new) {
        return line;
    }
    const auto requirement = specs::Requirement::parse(text);
    if (!requirement) {
        return line;
    }
    line.certain = !requirement->marker && requirement->url.empty();
    line.name = requirement->normalized_name();
    line.spec = conda_spec(*requirement);
    line.library = library_of(line.name);
    line.local = local_pin(text);
    line.listed = is_listed(*requirement);
    for (const std::string& extra : requirement->extras) {
        line.extras.push_back(extra_name(line.name, specs::normalize_project_name(extra)));
    }
    return line;
}

// A requirement as specs of the catalogue: the package and each of its extras; none where it says
// nothing there. A marker that is left of the Python decides for some versions of it only: what may
// not hold is not required.
void add_specs_of(const std::string& text, const std::function<bool(std::string_view)>& known,
                  std::vector<std::string>& specs) {
    const auto& [name, spec, certain, library, local, listed, extras] = line_of(text);
    if (!certain) {
        return;
    }
    if (!library.empty()) {
        specs.push_back(std::string(library) + spec);
    } else if (local && known(name)) {
        specs.push_back(fmt::format("{} =={}", name, knowledge::public_version(local->second)));
        if (const auto build = knowledge::build_by_label(local->second); build.cuda) {
            specs.push_back(fmt::format("cuda {}.*", build.cuda->str()));
            specs.emplace_back(World::k_cuda_build);
        }
    } else if (listed && known(name)) {
        specs.push_back(name + spec);
    }
    for (const std::string& extra : extras) {
        if (known(extra)) {
            specs.push_back(extra + spec);
        }
    }
}

// What works with torch and without it says in an extra which torch that is: transformers 5 turns
// an older one off.
void add_torch_extra(const knowledge::PackageRelease& release,
                     const std::function<bool(std::string_view)>& known,
                     specs::PackageRecord& record) {
    const auto* const extra = release.extra("torch");
    if (extra == nullptr) {
        return;
    }
    for (const std::string& text : extra->requirements) {
        std::vector<std::string> specs;
        add_specs_of(text, known, specs);
        std::ranges::copy_if(specs, std::back_inserter(record.constrains),
                             [](const auto& spec) { return spec.starts_with("torch "); });
    }
}

// "3.11" of "cp311", "3.8" of "cp38-abi3"; empty for py3 and for builds without the GIL.
std::string python_of(std::string_view tag) {
    const auto digits = tag.starts_with("cp3")
                            ? tag.substr(3, tag.find_first_not_of("0123456789", 3) - 3)
                            : std::string_view();
    return digits.empty() || tag.ends_with('t') ? std::string() : "3." + std::string(digits);
}

std::string python_spec(const knowledge::PackageRelease& release,
                        const knowledge::PackageWheels* wheels) {
    std::string spec;
    if (wheels != nullptr) {
        for (const std::string& tag : wheels->pythons) {
            const std::string python = python_of(tag);
            if (tag == "py3") {
                spec.clear();
                break;
            }
            if (!python.empty()) {
                spec += fmt::format("{}{}", spec.empty() ? "" : "|",
                                    tag.ends_with("abi3") ? ">=" + python : python + ".*");
            }
        }
    }
    if (spec.empty()) {
        spec = release.requires_python;
        std::erase(spec, ' ');
    }
    return spec.empty() ? std::string() : "python " + spec;
}

// The wheels that fit this processor; among several the one that asks for the oldest glibc.
const knowledge::PackageWheels* wheels_for(const knowledge::PackageRelease& release,
                                           const facts::Host& host) {
    const knowledge::PackageWheels* best = nullptr;
    facts::Host same_processor; // whatever its glibc
    same_processor.machine = host.machine.empty() ? "x86_64" : host.machine;
    same_processor.platform = host.platform;
    same_processor.distribution = host.distribution;
    for (const knowledge::PackageWheels& wheels : release.wheels) {
        if (knowledge::platform_fits(wheels.platform, same_processor) == knowledge::Answer::No) {
            continue;
        }
        if (best == nullptr || wheels.platform < best->platform) {
            best = &wheels;
        }
    }
    return best;
}

std::string glibc_spec(std::string_view platform) {
    constexpr std::string_view k_many = "manylinux_2_";
    if (!platform.starts_with(k_many)) {
        return {};
    }
    const auto rest = platform.substr(k_many.size());
    return "__glibc >=2." + std::string(rest.substr(0, rest.find('_')));
}

void add_extra_records(std::string_view package, std::string_view extra,
                       const std::function<bool(std::string_view)>& known,
                       std::vector<specs::PackageRecord>& out) {
    for (const knowledge::PackageRelease& release : knowledge::package_releases(package)) {
        const auto* const found = release.extra(extra);
        if (found == nullptr) {
            continue;
        }
        specs::PackageRecord record;
        record.name = extra_name(package, extra);
        record.version = release.version;
        record.depends = {fmt::format("{} =={}", package, release.version)};
        for (const std::string& text : found->requirements) {
            add_specs_of(text, known, record.depends);
        }
        out.push_back(std::move(record));
    }
}

bool has_toolkit_of(const knowledge::PackageRelease& release, const facts::Host& host) {
    return std::ranges::any_of(host.toolkits, [&](const facts::Toolkit& toolkit) {
        return toolkit.version &&
               std::ranges::any_of(release.cudas, [&](const DottedVersion& cuda) {
                   return cuda.major() == toolkit.version->major();
               });
    });
}

bool has_extras(const knowledge::PackageRelease& release, std::string_view set) {
    return std::ranges::all_of(
        split(set, ','), [&](std::string_view extra) { return release.extra(extra) != nullptr; });
}

void add_cuda_extra_records(std::string_view package, const World& world,
                            std::vector<specs::PackageRecord>& out) {
    const knowledge::PackageProject* const project = knowledge::package_project(package);
    if (project == nullptr) {
        return;
    }
    for (const knowledge::PackageRelease& release : knowledge::package_releases(package)) {
        specs::PackageRecord plain;
        plain.name = cuda_extra_name(package);
        plain.version = release.version;
        plain.depends = {fmt::format("{} =={}", package, release.version)};
        bool any = false;
        std::uint64_t rank = project->cuda_extras.size();
        for (const std::string& set : project->cuda_extras) {
            if (has_extras(release, set)) {
                specs::PackageRecord record = plain;
                record.build = set;
                record.build_number = rank;
                if (project->without_extras == "toolkit") {
                    for (const char* const other : k_with_libraries) {
                        record.constrains.push_back(std::string(other) + " ==0");
                    }
                }
                for (const std::string_view extra : split(set, ',')) {
                    record.depends.push_back(
                        fmt::format("{} =={}", extra_name(package, extra), release.version));
                }
                out.push_back(std::move(record));
                any = true;
            }
            --rank;
        }
        if (any && project->without_extras == "toolkit") {
            // Beside libraries of an exact release CuPy takes those: another toolkit's would
            // replace them.
            for (const char* const other : k_with_libraries) {
                specs::PackageRecord beside = plain;
                beside.depends.emplace_back(other);
                out.push_back(std::move(beside));
            }
        }
        const bool here =
            project->without_extras == "toolkit" && has_toolkit_of(release, world.host());
        if (here) {
            plain.build_number = project->cuda_extras.size() + 1;
        } else if (!any && project->without_extras.empty()) {
            plain.depends.emplace_back(World::k_cpu_build);
        }
        if (here || !any) {
            out.push_back(std::move(plain));
        }
    }
}

// A project of source alone whose wheels have names of their own: each of them, and the source
// where there is none.
void add_wheels_of(const knowledge::PackageProject& project,
                   std::vector<specs::PackageRecord>& out) {
    for (const std::string& name : project.wheels) {
        const auto* const wheels = knowledge::package_project(name);
        for (const knowledge::PackageRelease& release : knowledge::package_releases(name)) {
            specs::PackageRecord record;
            record.name = project.name;
            record.version = release.version;
            record.build = name;
            record.depends = {fmt::format("{} =={}", name, release.version)};
            if (wheels != nullptr && !wheels->cuda_extras.empty()) {
                record.depends.push_back(
                    fmt::format("{} =={}", cuda_extra_name(name), release.version));
            }
            out.push_back(std::move(record));
        }
    }
}

// Of packages of Python alone the newest releases are listed: where none of them fits, an older one
// may, and pip finds it.
bool has_older_ones(std::string_view name) {
    const auto releases = knowledge::package_releases(name);
    return knowledge::find_framework(name) == nullptr && releases.size() > 1 &&
           knowledge::package_project(name) == nullptr &&
           std::ranges::all_of(releases, [](const knowledge::PackageRelease& release) {
               return release.cudas.empty() && !release.least_gpu &&
                      std::ranges::all_of(release.wheels, [](const auto& wheels) {
                          return wheels.platform == "any";
                      });
           });
}

} // namespace

void add_unstated(const knowledge::PackageRelease& release,
                  const std::function<bool(std::string_view)>& known,
                  specs::PackageRecord& record) {
    for (const std::string& text : release.unstated) {
        std::vector<std::string> specs;
        add_specs_of(text, known, specs);
        for (std::string& spec : specs) {
            const std::string name = spec.substr(0, spec.find(' '));
            const bool required = std::ranges::any_of(record.depends, [&](const auto& one) {
                return one == name || one.starts_with(name + ' ');
            });
            (required ? record.depends : record.constrains).push_back(std::move(spec));
        }
    }
}

std::string cuda_extra_name(std::string_view package) {
    return extra_name(package, k_any_cuda);
}

const specs::PackageRecord* wheel_of(const specs::PackageRecord& record,
                                     const std::vector<const specs::PackageRecord*>& records) {
    const auto* const project = knowledge::package_project(record.name);
    if (project == nullptr ||
        std::ranges::find(project->wheels, record.build) == project->wheels.end()) {
        return nullptr;
    }
    const auto found = std::ranges::find(records, record.build, &specs::PackageRecord::name);
    return found == records.end() ? nullptr : *found;
}

bool is_library(std::string_view name) {
    return std::ranges::find(k_libraries, name) != k_libraries.end();
}

std::string_view library_of(std::string_view distribution) {
    for (const std::string_view library : k_libraries) {
        const std::string project = fmt::format("nvidia-{}", library);
        if (distribution == project || distribution.starts_with(project + "-cu")) {
            return library;
        }
    }
    return {};
}

std::optional<std::pair<std::string, std::string>> exact_pin(std::string_view requirement) {
    const auto parsed = specs::Requirement::parse(requirement);
    if (!parsed) {
        return std::nullopt;
    }
    std::string spec = parsed->specifiers.str();
    std::erase(spec, ' ');
    if (!spec.starts_with("==") || spec.find_first_of(",*") != std::string::npos) {
        return std::nullopt;
    }
    return std::pair(parsed->normalized_name(), spec.substr(2));
}

std::optional<std::pair<std::string, std::string>> local_pin(std::string_view requirement) {
    auto pin = exact_pin(requirement);
    const auto* const project = pin ? knowledge::package_project(pin->first) : nullptr;
    return project != nullptr && !project->elsewhere.empty() &&
                   pin->second.find('+') != std::string::npos
               ? pin
               : std::nullopt;
}

std::string wheel_pythons(std::string_view name, std::string_view version,
                          const facts::Host& host) {
    const auto* const release = knowledge::package_release(name, version);
    const auto* const wheels = release == nullptr ? nullptr : wheels_for(*release, host);
    return wheels == nullptr ? std::string() : python_spec(*release, wheels);
}

std::string extra_name(std::string_view package, std::string_view extra) {
    return fmt::format("{}{}{}", package, k_extra, extra);
}

std::string shown_name(std::string_view name) {
    const auto at = name.find(k_extra);
    return at == std::string_view::npos ? std::string(name)
           : name.substr(at + k_extra.size()) == k_any_cuda
               ? std::string(name.substr(0, at))
               : fmt::format("{}[{}]", name.substr(0, at), name.substr(at + k_extra.size()));
}

bool is_extra(std::string_view name) {
    return name.find(k_extra) != std::string_view::npos;
}

bool has_package(std::string_view name) {
    if (const auto at = name.find(k_extra); at != std::string_view::npos) {
        const auto extra = name.substr(at + k_extra.size());
        if (extra == k_any_cuda) {
            const auto* const project = knowledge::package_project(name.substr(0, at));
            return project != nullptr && !project->cuda_extras.empty();
        }
        return has_package(name.substr(0, at)) &&
               std::ranges::any_of(
                   knowledge::package_releases(name.substr(0, at)),
                   [&](const auto& release) { return release.extra(extra) != nullptr; });
    }
    const auto* const framework = knowledge::find_framework(name);
    const bool elsewhere =
        framework != nullptr && (framework->table == "torch" || framework->table == "tensorflow");
    return !elsewhere && (!knowledge::package_releases(name).empty() ||
                          knowledge::package_project(name) != nullptr);
}

void package_records(std::string_view name, World& world,
                     const std::function<bool(std::string_view)>& known,
                     std::vector<specs::PackageRecord>& out) {
    if (const auto at = name.find(k_extra); at != std::string_view::npos) {
        const auto package = name.substr(0, at);
        const auto extra = name.substr(at + k_extra.size());
        if (extra == k_any_cuda) {
            add_cuda_extra_records(package, world, out);
        } else {
            add_extra_records(package, extra, known, out);
        }
        return;
    }
    const knowledge::PackageProject* const project = knowledge::package_project(name);
    const bool from_repository = knowledge::package_releases(name).empty() &&
                                 knowledge::package_build(name, std::nullopt) != nullptr;
    if (project != nullptr && (project->other_project || from_repository)) {
        // The index has no project of that name, or another one: what is meant is built from its
        // repository.
        specs::PackageRecord record;
        record.name = std::string(name);
        record.version = "0";
        record.build = "source";
        record.depends = {"torch", World::k_cuda_build};
        out.push_back(std::move(record));
        return;
    }
    if (project != nullptr) {
        add_wheels_of(*project, out);
    }
    const auto* const framework = knowledge::find_framework(name);
    const bool has_wheels =
        std::ranges::any_of(knowledge::package_releases(name),
                            [](const auto& release) { return !release.wheels.empty(); });
    for (const knowledge::PackageRelease& release : knowledge::package_releases(name)) {
        const auto* const wheels = wheels_for(release, world.host());
        if (wheels == nullptr && !release.wheels.empty() &&
            (project == nullptr || !project->needs("nvcc"))) {
            continue; // for other processors only
        }
        if (wheels == nullptr && has_wheels &&
            (project == nullptr || project->build_needs.empty())) {
            continue; // vLLM's first releases: what their build needs is not known
        }
        specs::PackageRecord record;
        record.name = std::string(name);
        record.version = release.version;
        record.build = wheels == nullptr ? "source" : "";
        if (project != nullptr && !project->wheels.empty()) {
            record.track_features = {"source"}; // after every wheel
        }
        if (framework != nullptr && !framework->same_version.empty()) {
            record.constrains.push_back(
                fmt::format("{} =={}", framework->same_version, release.version));
        }
        // A wheel of cuDNN or NCCL is that library, for one CUDA major.
        if (const std::string_view library = library_of(name); !library.empty()) {
            record.depends.push_back(fmt::format("{} =={}", library, release.version));
        }
        if (std::string python = python_spec(release, wheels); !python.empty()) {
            record.depends.push_back(std::move(python));
        }
        if (wheels != nullptr) {
            if (std::string glibc = glibc_spec(wheels->platform); !glibc.empty()) {
                record.depends.push_back(std::move(glibc));
            }
        }
        for (const std::string& text : release.requirements) {
            add_specs_of(text, known, record.depends);
        }
        add_unstated(release, known, record);
        add_torch_extra(release, known, record);
        const bool built_here = wheels == nullptr && !release.wheels.empty();
        if (!release.cudas.empty() && !built_here) {
            const std::vector<DottedVersion> cudas = knowledge::cudas_beside(release);
            std::string cuda = "cuda ";
            for (const DottedVersion& one : cudas) {
                cuda += (one == cudas.front() ? "" : "|") + one.str() + ".*";
            }
            record.depends.push_back(std::move(cuda));
            record.depends.emplace_back(World::k_cuda_build);
            if (cudas.size() == 1) {
                for (std::string& constraint : world.library_constraints(cudas.front())) {
                    record.constrains.push_back(std::move(constraint));
                }
            }
        }
        if (release.least_gpu) {
            for (std::string& constraint :
                 world.least_gpu_constraints(*release.least_gpu, release.least_gpu_source)) {
                record.constrains.push_back(std::move(constraint));
            }
        }
        out.push_back(std::move(record));
    }
    if (has_older_ones(name)) {
        specs::PackageRecord older;
        older.name = std::string(name);
        older.version = "0";
        older.build = k_unlisted;
        older.track_features = {std::string(k_unlisted)}; // after all that are listed
        out.push_back(std::move(older));
    }
}

bool draws_newest_cuda(const specs::PackageRecord& record) {
    const auto at = record.name.find(k_extra);
    if (at == std::string::npos) {
        return false;
    }
    const auto* const release =
        knowledge::package_release(record.name.substr(0, at), record.version);
    const auto* const extra =
        release == nullptr ? nullptr : release->extra(record.name.substr(at + k_extra.size()));
    return extra != nullptr &&
           std::ranges::any_of(extra->requirements, [](const std::string& text) {
               return (text.starts_with("nvidia-cuda-runtime") ||
                       text.starts_with("cuda-toolkit")) &&
                      !exact_pin(text);
           });
}

bool needs_libraries(const specs::PackageRecord& record, const knowledge::PackageProject& project,
                     const std::vector<const specs::PackageRecord*>& records,
                     const facts::Host& host) {
    const auto* const release = knowledge::package_release(record.name, record.version);
    if (release == nullptr || project.without_extras.empty()) {
        return false;
    }
    return std::ranges::none_of(project.cuda_extras,
                                [&](const auto& set) { return has_extras(*release, set); }) &&
           std::ranges::none_of(records,
                                [](const auto* other) {
                                    return std::ranges::find(k_with_libraries, other->name) !=
                                           k_with_libraries.end();
                                }) &&
           !(project.without_extras == "toolkit" && has_toolkit_of(*release, host));
}

bool is_unlisted(const specs::PackageRecord& record) {
    return record.build == k_unlisted;
}

std::string torch_requirement(const DottedVersion& torch, std::string_view name) {
    return requirement_of("torch", torch.str(), name);
}

std::string requirement_of(std::string_view package, std::string_view version,
                           std::string_view name) {
    const auto* const release = knowledge::package_release(package, version);
    if (release == nullptr) {
        return {};
    }
    for (const std::string& text : release->requirements) {
        if (const RequirementLine& line = line_of(text); line.name.starts_with(name)) {
            return line.spec;
        }
    }
    return {};
}

} // namespace cudaenv::resolve
