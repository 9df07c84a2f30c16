// What the environment's CUDA meets on this machine: the toolkit that activation chose, the driver
// and the GPUs. What was measured here wins over every table.
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "solver/knowledge/knowledge.hpp"
#include "solver/plan/check/cuda_builds.hpp"
#include "solver/plan/check/finding_text.hpp"
#include "solver/plan/check/install_text.hpp"
#include "solver/plan/check/installers.hpp"
#include "solver/plan/check/missing_nvcc.hpp"
#include "solver/plan/check/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cudaenv::plan {

namespace {

struct Needing {
    std::string name; // "torch 2.8.0+cu126"
    DottedVersion cuda;
    std::string source;
};

// Each CUDA that something here runs with, the frameworks first.
std::vector<Needing> needing_of(const facts::EnvironmentFacts& environment) {
    std::vector<Needing> needing;
    std::set<std::string> seen;
    for (const auto& framework : environment.frameworks) {
        if (framework.cuda && !framework.cpu && seen.insert(framework.cuda->str()).second) {
            needing.push_back(
                {framework.name + ' ' + framework.version, *framework.cuda, framework.source});
        }
    }
    if (needing.empty() && environment.runtime) {
        const auto& runtime = *environment.runtime;
        needing.push_back(
            {runtime.package + ' ' + runtime.version.str(), runtime.version, runtime.source});
    }
    return needing;
}

// --- CE140 --------------------------------------------------------------------------------------

// The command that changes the pin which asks for a CUDA: where it is the environment's own, there.
std::string pin_command(const CheckScene& scene, const std::string& cuda) {
    const bool of_the_environment =
        scene.cuda_origin.starts_with(absolute_path(scene, "conda-meta/cudaenv.toml ")) ||
        scene.cuda_origin.starts_with(absolute_path(scene, "cudaenv.toml "));
    return of_the_environment ? "cudaenv pin -p " + shell_word(scene.inventory.prefix) + ' ' + cuda
                              : "cudaenv pin " + cuda;
}

void find_other_toolkit(const CheckScene& scene, std::vector<CheckFinding>& found) {
    const auto* toolkit = scene.toolkit;
    if (toolkit == nullptr || !toolkit->nvcc || !toolkit->problem.empty() || !toolkit->version) {
        return;
    }
    for (const auto& framework : scene.environment->frameworks) {
        // Only torch builds extensions with it, and compares.
        if (framework.name != "torch" || !framework.cuda ||
            framework.cuda->major() == toolkit->version->major()) {
            continue;
        }
        const auto cuda = short_cuda(*framework.cuda);
        CheckFinding told;
        told.subject = "torch";
        told.finding = {
            "CE140",
            Severity::Warning,
            fmt::format("torch {} is for CUDA {}; the toolkit chosen here is {}", framework.version,
                        cuda, toolkit->version->str()),
            {{framework.source, 0, fmt::format("CUDA {}", cuda)},
             {toolkit->path, 0, fmt::format("nvcc {}", toolkit->version->str())}},
            "torch refuses to build an extension with an nvcc of another CUDA major; running is "
            "not touched by it",
            Fix{"a toolkit of torch's CUDA in its place",
                framework.cuda->parts().size() > 1 ? pin_command(scene, cuda) : ""}};
        found.push_back(std::move(told));
        return;
    }
}

// --- CE141, CE142 -------------------------------------------------------------------------------

struct DriverHere {
    std::optional<DottedVersion> version;
    std::optional<DottedVersion> cuda; // told by the driver itself
    std::string source;
    std::string name; // "driver 470.199.02"
};

std::optional<DriverHere> driver_of(const facts::Host& host) {
    if (!host.driver || host.platform.jetson) {
        return std::nullopt; // on Jetson the driver's number is the system's release
    }
    DriverHere here;
    here.version = host.driver->version;
    if (host.platform.wsl) {
        here.version.reset(); // Windows' own, whose floors are others
    }
    here.source = host.driver->source;
    if (host.driver->cuda && !host.driver->derived) {
        here.cuda = host.driver->cuda;
    }
    if (host.measured && host.measured->driver_cuda) {
        here.cuda = host.measured->driver_cuda;
    }
    here.name = here.version ? "driver " + here.version->str() : "the driver";
    return here;
}

std::optional<knowledge::DriverBound> floor_of(const DottedVersion& cuda) {
    return cuda.major() >= 11 ? knowledge::family_floor(cuda.major())
                              : knowledge::toolkit_minimum_driver(cuda);
}

bool is_below_floor(const DriverHere& driver, const DottedVersion& cuda,
                    const std::optional<knowledge::DriverBound>& floor) {
    if (driver.cuda) {
        // Within a major, machine code of a later minor runs, from CUDA 11 on.
        return cuda.major() >= 11 ? driver.cuda->major() < cuda.major()
                                  : cuda.parts().size() > 1 && *driver.cuda < cuda;
    }
    return driver.version && floor && *driver.version < floor->driver;
}

bool is_below_minimum(const DriverHere& driver, const DottedVersion& cuda,
                      const std::optional<knowledge::DriverBound>& minimum) {
    if (cuda.parts().size() < 2) {
        return false; // a build for a whole major
    }
    if (driver.cuda) {
        return *driver.cuda < DottedVersion::of(cuda.major_minor());
    }
    return driver.version && minimum && *driver.version < minimum->driver;
}

void find_old_driver(const CheckScene& scene, const Needing& needing,
                     std::vector<CheckFinding>& found) {
    const auto driver = driver_of(*scene.host);
    if (!driver) {
        return;
    }
    const auto& measured = scene.host->measured;
    const bool ran = measured && measured->failed.empty() && measured->runtime &&
                     measured->runtime->major() >= needing.cuda.major();
    const auto cuda = short_cuda(needing.cuda);
    const auto gives = driver->cuda
                           ? fmt::format("{} gives CUDA {}", driver->name, driver->cuda->str())
                           : driver->name;
    const auto floor = floor_of(needing.cuda);
    CheckFinding told;
    told.subject = needing.name.substr(0, needing.name.find(' '));
    if (!ran && is_below_floor(*driver, needing.cuda, floor)) {
        const auto bound =
            floor ? floor->driver.str() + " or newer" : std::string("a newer driver");
        std::vector<Evidence> evidence{{needing.source, 0, "CUDA " + cuda},
                                       {driver->source, 0, gives}};
        if (floor) {
            evidence.push_back({floor->source, 0, floor->driver.str()});
        }
        told.finding = {
            "CE141",
            Severity::Error,
            fmt::format("{} is for CUDA {} and needs driver {}; here is {}", needing.name, cuda,
                        floor ? floor->driver.str() : "for it",
                        driver->version ? driver->version->str() : gives),
            std::move(evidence),
            "every CUDA call of it fails with error 35: torch.cuda.is_available() is False",
            Fix{fmt::format("driver {}, or a build for an older CUDA", bound), {}}};
        if (driver->cuda && told.subject == "torch") {
            told.finding.fix->command = "cudaenv resolve torch --cuda " + short_cuda(*driver->cuda);
        }
        found.push_back(std::move(told));
        return;
    }
    const auto minimum = knowledge::toolkit_minimum_driver(needing.cuda);
    if (is_below_minimum(*driver, needing.cuda, minimum)) {
        told.finding = {
            "CE142",
            Severity::Warning,
            fmt::format("{} is for CUDA {}; {}", needing.name, cuda,
                        driver->cuda ? gives
                                     : fmt::format("its PTX needs driver {}, here is {}",
                                                   minimum->driver.str(), driver->version->str())),
            {{needing.source, 0, "CUDA " + cuda}, {driver->source, 0, gives}},
            "its compiled code runs; what is compiled at run time (PTX, NVRTC, torch.compile) "
            "fails "
            "with error 222",
            Fix{minimum ? fmt::format("driver {} or newer, or a build for the driver's CUDA",
                                      minimum->driver.str())
                        : std::string("a build for the driver's CUDA"),
                {}}};
        found.push_back(std::move(told));
    }
}

// --- CE143 --------------------------------------------------------------------------------------

// What the build that is here has code for. Only of releases that the table has read: another
// packager builds for other GPUs.
const knowledge::Architectures* code_of(const FamilyMember& torch) {
    const auto* release = torch.released ? known_torch_release(torch.version) : nullptr;
    const auto& build = torch.build;
    if (release == nullptr || build.kind != BuildKind::Cuda || !build.cuda ||
        build.cuda->parts().size() < 2) {
        return nullptr;
    }
    const bool of_index =
        torch.distribution != nullptr && is_pip_or_uv(torch.distribution->installer);
    for (const auto& variant : release->variants) {
        if (variant.cuda.major_minor() != build.cuda->major_minor()) {
            continue;
        }
        if (torch.conda != nullptr) {
            const auto& channel = torch.conda->channel;
            const bool is_pytorchs = channel == "pytorch" || channel.ends_with("/pytorch") ||
                                     channel.find("/pytorch/") != std::string::npos;
            return is_pytorchs && variant.conda_architectures ? &*variant.conda_architectures
                                                              : nullptr;
        }
        return of_index && variant.wheel_architectures ? &*variant.wheel_architectures : nullptr;
    }
    return nullptr;
}

struct GpuHere {
    std::string name;
    ComputeCapability capability;
};

std::vector<GpuHere> gpus_of(const facts::Host& host) {
    std::vector<GpuHere> gpus;
    if (host.measured && !host.measured->gpus.empty()) {
        for (const auto& gpu : host.measured->gpus) {
            if (gpu.compute_capability) {
                gpus.push_back({gpu.name, *gpu.compute_capability});
            }
        }
        return gpus;
    }
    for (const auto& gpu : host.gpus) {
        if (gpu.compute_capability) {
            gpus.push_back({gpu.name.empty() ? fmt::format("GPU {}", gpu.index) : gpu.name,
                            *gpu.compute_capability});
        }
    }
    return gpus;
}

void find_unserved_gpus(const CheckScene& scene, std::vector<CheckFinding>& found) {
    const auto torch = find_member(scene, "torch");
    const auto* code = torch ? code_of(*torch) : nullptr;
    if (code == nullptr) {
        return;
    }
    std::vector<std::string> unserved;
    std::vector<Evidence> evidence{
        {absolute_path(scene, torch->record), 0,
         fmt::format("{}, {}", named(*torch), build_text(torch->build))}};
    const auto gpus = gpus_of(*scene.host);
    for (const auto& gpu : gpus) {
        if (!knowledge::serves_with_sass(*code, gpu.capability) &&
            !knowledge::serves_with_ptx(*code, gpu.capability)) {
            const auto text = fmt::format("{} ({})", gpu.name, gpu.capability.sm());
            if (std::ranges::find(unserved, text) == unserved.end()) {
                unserved.push_back(text);
            }
            evidence.push_back({"", 0, text});
        }
    }
    if (unserved.empty()) {
        return;
    }
    const bool none_left = evidence.size() - 1 == gpus.size();
    evidence.push_back({code->source, 0, "the list of GPUs that it has code for"});
    CheckFinding told;
    told.subject = "torch";
    constexpr std::size_t k_named = 2; // a title is one line
    const auto more = unserved.size() - std::min(unserved.size(), k_named);
    unserved.resize(unserved.size() - more);
    const bool is_certain = code->confidence.empty() || code->derived;
    told.finding = {"CE143",
                    none_left && is_certain ? Severity::Error : Severity::Warning,
                    fmt::format("torch {} has no code for {}{}", torch->version,
                                join(unserved, ", "),
                                more == 0 ? "" : fmt::format(" and {} more", more)),
                    std::move(evidence),
                    "what it starts on that GPU ends with error 209, \"no kernel image is "
                    "available for execution on the device\"",
                    Fix{"a build whose list has that GPU", "cudaenv resolve torch"}};
    found.push_back(std::move(told));
}

} // namespace

void find_cuda_misfits(const CheckScene& scene, std::vector<CheckFinding>& found) {
    if (scene.environment == nullptr) {
        return;
    }
    const auto first = found.size();
    find_other_toolkit(scene, found);
    find_missing_nvcc(scene, found);
    if (scene.host != nullptr) {
        for (const auto& needing : needing_of(*scene.environment)) {
            find_old_driver(scene, needing, found);
        }
        find_unserved_gpus(scene, found);
    }
    make_printable(found, first);
}

} // namespace cudaenv::plan
