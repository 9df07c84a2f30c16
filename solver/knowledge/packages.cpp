// Python packages of the CUDA world.
#include "solver/knowledge/packages.hpp"

#include "base/ranges.hpp"
#include "base/text.hpp"
#include "solver/knowledge/table.hpp"
#include "solver/specs/requirement.hpp"

#include <algorithm>
#include <map>

namespace cudaenv::knowledge {

namespace {

struct Packages {
    std::map<std::string, std::vector<PackageRelease>, std::less<>> releases;
    std::map<std::string, PackageProject, std::less<>> projects;
    std::vector<PackageBuild> builds; // of one name ascending by torch
    std::vector<std::pair<DottedVersion, std::string>> setuptools;
};

// "cp310 cp311 manylinux_2_28_x86_64 manylinux_2_28_aarch64": interpreters, then platforms.
void read_wheels(std::string_view text, std::vector<PackageWheels>& wheels) {
    std::vector<std::string> pythons;
    for (const std::string_view word : split(text, ' ')) {
        if (word == "any" || word.find("linux") != std::string_view::npos) {
            wheels.push_back({pythons, std::string(word)});
        } else {
            pythons.emplace_back(word);
        }
    }
}

PackageRelease read_release(const Row& row) {
    PackageRelease release;
    release.name = row.text("name");
    release.version = row.text("version");
    release.requires_python = row.find("python").value_or("");
    release.requirements = row.list("requires");
    // Extras of the same meaning share a line: "cuda cuda12".
    for (const auto& [names, lines] : row.pairs("extras")) {
        for (const std::string_view name : split(names, ' ')) {
            PackageExtra& extra = release.extras.emplace_back(PackageExtra{std::string(name), {}});
            for (const std::string_view line : split(lines, '\n')) {
                extra.requirements.emplace_back(line);
            }
        }
    }
    for (const std::string& wheels : row.list("wheels")) {
        read_wheels(wheels, release.wheels);
    }
    release.cudas = row.versions("cuda");
    release.unstated = row.list("unstated");
    if (row.find("unstated_source")) {
        release.unstated_source = row.source("unstated_source");
    }
    release.builds_here = row.flag("build");
    release.source = release.name + " " + release.version + ", " + row.source();
    if (row.find("gpu")) {
        release.least_gpu = row.capability("gpu");
        release.least_gpu_source =
            row.find("gpu_source") ? row.source("gpu_source") : release.source;
    }
    return release;
}

PackageProject read_project(const Row& row) {
    PackageProject project;
    project.name = row.text("name");
    project.other_project = row.flag("other_project");
    project.other_platform = row.find("other_platform").value_or("");
    project.cpu_package = row.find("cpu_package").value_or("");
    project.build_needs = row.list("needs");
    project.build_tools = row.list("tools");
    project.exact_nvcc = row.flag("exact_nvcc");
    if (project.exact_nvcc) {
        project.exact_nvcc_source = row.source("exact_nvcc_source");
    }
    project.elsewhere = row.find("elsewhere").value_or("");
    for (const auto& [torch, tags] : row.pairs("builds")) {
        const auto words = split(tags, ' ');
        project.elsewhere_builds.emplace_back(torch,
                                              std::vector<std::string>(words.begin(), words.end()));
    }
    project.cuda_extras = row.list("cuda_extras");
    project.without_extras = row.find("without_extras").value_or("");
    project.wheels = row.list("wheels");
    project.machine_libraries = row.pairs("machine_libraries");
    project.note = row.find("note").value_or("");
    project.source = row.source();
    return project;
}

const Packages& packages() {
    static const Packages all = [] {
        Packages read;
        // The file is in the order of versions.
        read_table("packages", [&](std::string_view section, const Row& row) {
            if (section == "releases") {
                read.releases[row.text("name")].push_back(read_release(row));
                return;
            }
            if (section == "builds") {
                read.builds.push_back({row.text("name"), row.version("torch"),
                                       row.text("requirement"), row.list("environment"),
                                       row.list("options"), row.find("note").value_or(""),
                                       row.source()});
                return;
            }
            if (section == "setuptools") {
                read.setuptools.emplace_back(row.version("torch"), row.text("requirement"));
                return;
            }
            PackageProject project = read_project(row);
            read.projects[project.name] = std::move(project);
        });
        return read;
    }();
    return all;
}

} // namespace

std::span<const PackageRelease> package_releases(std::string_view name) {
    const auto& releases = packages().releases;
    const auto found = releases.find(specs::normalize_project_name(name));
    return found == releases.end() ? std::span<const PackageRelease>() : found->second;
}

const PackageRelease* package_release(std::string_view name, std::string_view version) {
    return find_pointer(package_releases(name), version, &PackageRelease::version);
}

const PackageExtra* PackageRelease::extra(std::string_view called) const {
    return find_pointer(extras, called, &PackageExtra::name);
}

const PackageProject* package_project(std::string_view name) {
    const auto& projects = packages().projects;
    const auto found = projects.find(specs::normalize_project_name(name));
    return found == projects.end() ? nullptr : &found->second;
}

bool PackageProject::needs(std::string_view word) const {
    return is_one_of(word, build_needs);
}

std::vector<DottedVersion> cudas_beside(const PackageRelease& release) {
    const bool over_torch = std::ranges::any_of(release.requirements, [](const std::string& text) {
        const auto end = text.find_first_of(" <>=!~;[");
        return std::string_view(text).substr(0, end) == "torch";
    });
    return release.cudas.size() == 1 && over_torch
               ? std::vector{DottedVersion::of(std::to_string(release.cudas.front().major()))}
               : release.cudas;
}

bool is_compiled(std::string_view name) {
    const auto* const project = package_project(name);
    const auto releases = package_releases(name);
    return project != nullptr && !project->build_needs.empty() &&
           (releases.empty() || releases.back().builds_here);
}

const PackageBuild* package_build(std::string_view name,
                                  const std::optional<DottedVersion>& torch) {
    const std::string normalized = specs::normalize_project_name(name);
    const PackageBuild* newest = nullptr;
    for (const PackageBuild& build : packages().builds) {
        if (build.name == normalized && (!torch || build.torch <= *torch)) {
            newest = &build;
        }
    }
    return newest;
}

std::string setuptools_for(const DottedVersion& torch) {
    std::string requirement = "setuptools";
    for (const auto& [first, text] : packages().setuptools) {
        if (first <= torch) {
            requirement = text;
        }
    }
    return requirement;
}

std::vector<std::string> package_names() {
    std::vector<std::string> names;
    for (const auto& [name, releases] : packages().releases) {
        names.push_back(name);
    }
    for (const auto& [name, project] : packages().projects) {
        if (!packages().releases.contains(name)) {
            names.push_back(name);
        }
    }
    std::ranges::sort(names);
    return names;
}

} // namespace cudaenv::knowledge
