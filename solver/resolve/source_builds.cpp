#include "solver/resolve/source_builds.hpp"

#include "base/shell_word.hpp"
#include "solver/knowledge/fit.hpp"
#include "solver/knowledge/frameworks.hpp"
#include "solver/knowledge/toolkits.hpp"
#include "solver/resolve/package_records.hpp"

#include <algorithm>
#include <utility>

namespace cudaenv::resolve {

namespace {

using Records = std::vector<const specs::PackageRecord*>;

// An extra of its own that was asked for is compiled here: transformer-engine-torch of
// transformer-engine[pytorch].
bool brings_source(const specs::PackageRecord& package, const Records& records) {
    return std::ranges::any_of(records, [&](const specs::PackageRecord* extra) {
        if (!is_extra(extra->name) || !extra->name.starts_with(extra_name(package.name, ""))) {
            return false;
        }
        return std::ranges::any_of(records, [&](const specs::PackageRecord* part) {
            return part->build == "source" &&
                   std::ranges::any_of(extra->depends, [&](const std::string& spec) {
                       return spec.starts_with(part->name + ' ');
                   });
        });
    });
}

// "gcc-9" beside "g++-9", "clang" beside "clang++".
std::string c_compiler_beside(std::string cxx) {
    if (const auto at = cxx.rfind("clang++"); at != std::string::npos) {
        return cxx.replace(at, 7, "clang");
    }
    if (const auto at = cxx.rfind("g++"); at != std::string::npos) {
        return cxx.replace(at, 3, "gcc");
    }
    return cxx;
}

// The compiler that the world chose, else the best one here.
std::optional<facts::Compiler> compiler_for(const Attempt& attempt, const Records& records,
                                            const facts::Toolkit& toolkit,
                                            std::optional<int> oldest_gcc) {
    for (const specs::PackageRecord* const record : records) {
        if (const auto* const chosen = attempt.world->compiler_of(*record)) {
            return *chosen;
        }
    }
    for (const facts::Compiler& compiler :
         knowledge::compilers_for(toolkit, attempt.world->host())) {
        const bool gcc = compiler.family == facts::CompilerFamily::Gcc;
        if (!gcc || !oldest_gcc || static_cast<int>(compiler.version.major()) >= *oldest_gcc) {
            return compiler;
        }
    }
    return std::nullopt;
}

void add_compiler(const Request& request, const Attempt& attempt, const Records& records,
                  SourceBuilds& builds, std::vector<std::string>& variables) {
    const auto* const torch = knowledge::find_framework("torch");
    const auto oldest = builds.torch && torch != nullptr
                            ? knowledge::oldest_gcc(*torch, *builds.torch)
                            : std::nullopt;
    facts::Toolkit toolkit;
    if (builds.toolkit) {
        toolkit = *builds.toolkit;
    } else {
        toolkit.version = builds.cuda; // the one to get
    }
    const auto compiler = compiler_for(attempt, records, toolkit, oldest);
    if (compiler && !compiler->is_default) {
        // torch hands CC to nvcc as its -ccbin; nvcc itself reads NVCC_CCBIN.
        const std::string cxx = shell_word(compiler->path);
        variables.push_back("CC=" + shell_word(c_compiler_beside(compiler->path)));
        variables.push_back("CXX=" + cxx);
        variables.push_back("NVCC_CCBIN=" + cxx);
    } else if (const auto newest = knowledge::newest_gcc(toolkit); !compiler && newest) {
        builds.compiler = knowledge::compiler_recipe(*newest, knowledge::GccBound::OrOlder,
                                                     request.environment.target);
    }
}

void add_toolkit(const Request& request, const Attempt& attempt, const Records& records,
                 SourceBuilds& builds) {
    const facts::Toolkit* toolkit = nullptr;
    for (const specs::PackageRecord* const record : records) {
        if (const auto* const chosen = attempt.world->toolkit_of(*record)) {
            toolkit = chosen;
        }
    }
    if (toolkit == nullptr) {
        toolkit = knowledge::toolkit_to_build(attempt.world->host(), *builds.cuda);
    }
    if (toolkit != nullptr && !builds.exact.empty() &&
        knowledge::nvcc_match(*toolkit->version, *builds.cuda) != knowledge::NvccMatch::Same) {
        builds.other_minor = *toolkit;
        toolkit = nullptr;
    }
    if (toolkit != nullptr) {
        builds.toolkit = *toolkit;
    } else {
        builds.nvcc = knowledge::nvcc_recipe(*builds.cuda, request.environment.target);
    }
}

// A path of cudaenv's own is written as it is: "$HOME/cuda-12.4".
std::string cuda_home(const Request& request, const SourceBuilds& builds) {
    if (!builds.toolkit) {
        return builds.nvcc ? builds.nvcc->cuda_home : std::string();
    }
    // nvcc of an active environment is the first on PATH, where torch looks.
    const auto& target = request.environment.target;
    const bool own = target.active && builds.toolkit->path == target.prefix;
    return own ? std::string() : shell_word(builds.toolkit->path);
}

// The project's own page of wheels for this torch and CUDA; empty where it has none.
std::string page_of_wheels(const knowledge::PackageProject& project,
                           const specs::PackageRecord* torch) {
    if (torch == nullptr || project.elsewhere.find("{torch_minor}") == std::string::npos) {
        return {};
    }
    const std::string minor = knowledge::release_numbers(torch->version).major_minor();
    const auto builds = std::ranges::find(project.elsewhere_builds, minor,
                                          &std::pair<std::string, std::vector<std::string>>::first);
    if (builds == project.elsewhere_builds.end() ||
        std::ranges::find(builds->second, torch->build) == builds->second.end()) {
        return {};
    }
    std::string page = project.elsewhere;
    for (const auto& [place, value] :
         {std::pair<std::string_view, std::string>{"{torch_minor}", minor},
          std::pair<std::string_view, std::string>{"{tag}", torch->build}}) {
        if (const auto at = page.find(place); at != std::string::npos) {
            page.replace(at, place.size(), value);
        }
    }
    return page;
}

// Without a CUDA in the answer (CuPy's source takes any): the newest toolkit here whose programs
// the driver runs, else the newest CUDA that the driver gives.
std::optional<DottedVersion> cuda_of_host(const facts::Host& host) {
    std::optional<DottedVersion> newest;
    for (const facts::Toolkit& toolkit : host.toolkits) {
        if (knowledge::can_compile(toolkit) &&
            knowledge::driver_fit(host, *toolkit.version).runs() != knowledge::Answer::No &&
            (!newest || *newest < *toolkit.version)) {
            newest = toolkit.version;
        }
    }
    return newest ? std::optional(DottedVersion::of(newest->major_minor()))
                  : knowledge::newest_cuda_in_full(host);
}

} // namespace

SourceBuilds source_builds(const Request& request, const Attempt& attempt, const Records& records) {
    SourceBuilds builds;
    const specs::PackageRecord* const torch = record_named(records, "torch");
    const specs::PackageRecord* const cuda = record_named(records, "cuda");
    if (torch != nullptr) {
        builds.torch = knowledge::release_numbers(torch->version);
    }
    bool needs_nvcc = false;
    for (const specs::PackageRecord* const record : records) {
        const auto* const project = knowledge::package_project(record->name);
        const bool compiled = record->build == "source" || brings_source(*record, records);
        if (!compiled || project == nullptr || !is_asked(attempt, record->name) ||
            !(project->needs("nvcc") || project->needs("--no-build-isolation"))) {
            continue;
        }
        SourceBuild one;
        one.name = record->name;
        one.project = project;
        // Those pages are of x86-64.
        std::string page = request.environment.target.machine == "x86_64"
                               ? page_of_wheels(*project, torch)
                               : std::string();
        if (!page.empty()) {
            one.requirement = knowledge::package_releases(record->name).empty()
                                  ? record->name // the page has its own releases
                                  : record->name + "==" + record->version;
            one.options = {"-f", std::move(page)};
            builds.wheels.push_back(std::move(one));
            continue;
        }
        one.build = knowledge::package_build(record->name, builds.torch);
        one.requirement =
            one.build != nullptr
                ? one.build->requirement
                : record->name + extras_of(attempt, records, record->name) + "==" + record->version;
        if (project->needs("--no-build-isolation")) {
            one.options.emplace_back("--no-build-isolation");
        }
        if (project->exact_nvcc) {
            builds.exact = record->name;
            builds.exact_source = project->exact_nvcc_source;
        }
        for (const std::string& tool : project->build_tools) {
            const std::string needed = tool == "setuptools" && builds.torch
                                           ? knowledge::setuptools_for(*builds.torch)
                                           : tool;
            if (std::ranges::find(builds.tools, needed) == builds.tools.end()) {
                builds.tools.push_back(needed);
            }
        }
        needs_nvcc = needs_nvcc || project->needs("nvcc");
        builds.packages.push_back(std::move(one));
    }
    std::vector<std::string> compilers;
    if (needs_nvcc) {
        builds.cuda = cuda != nullptr ? std::optional(DottedVersion::of(cuda->version))
                                      : cuda_of_host(attempt.world->host());
    }
    if (builds.cuda) {
        add_toolkit(request, attempt, records, builds);
        add_compiler(request, attempt, records, builds, compilers);
    }
    const std::string home = cuda_home(request, builds);
    for (SourceBuild& one : builds.packages) {
        if (one.project->needs("nvcc") && !home.empty()) {
            one.variables.push_back(
                (one.project->needs("CUDA_PATH") ? "CUDA_PATH=" : "CUDA_HOME=") + home);
        }
        if (one.project->needs("nvcc")) {
            one.variables.insert(one.variables.end(), compilers.begin(), compilers.end());
        }
        if (one.project->needs("MAX_JOBS")) {
            one.variables.emplace_back("MAX_JOBS=4"); // each compilation takes gigabytes
        }
        if (one.build != nullptr) {
            const auto& more = one.build->environment;
            one.variables.insert(one.variables.end(), more.begin(), more.end());
            one.options.insert(one.options.end(), one.build->options.begin(),
                               one.build->options.end());
        }
    }
    return builds;
}

} // namespace cudaenv::resolve
