// What the environment's CUDA meets on this machine: the toolkit that activation chose, the driver
// and the GPUs. What was measured here wins over every table.
#include "base/ranges.hpp"
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/parties.hpp"
#include "check/rules/rules.hpp"
#include "check/rules/torch_pairing.hpp"
#include "solver/knowledge/fit.hpp"
#include "solver/knowledge/packages.hpp"
#include "solver/knowledge/toolkits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cudaenv::rules {

namespace {

struct Needing {
    std::string name;      // "torch 2.8.0+cu126"
    std::string framework; // "torch"; empty: a runtime alone
    DottedVersion cuda;
    std::string source;
};

// What brings the CUDA: JAX's is in its plugin, which has the newest if there are several.
std::string named(const CheckContext& context, const facts::FrameworkBuild& framework) {
    if (framework.name == "jaxlib" && framework.cuda) {
        const auto plugin = "jax-cuda" + std::to_string(framework.cuda->major()) + "-plugin";
        const auto& all = context.inventory.distributions;
        const auto found = std::ranges::find(all, plugin, &facts::Distribution::name);
        if (found != all.end()) {
            return title_of(*found);
        }
    }
    return framework.name + ' ' + framework.version;
}

// Each CUDA that something here runs with, the frameworks first.
std::vector<Needing> needing_of(const CheckContext& context) {
    const auto& environment = *context.environment;
    std::vector<Needing> needing;
    std::set<std::string> seen;
    for (const auto& framework : environment.frameworks) {
        if (framework.cuda && !framework.cpu && seen.insert(framework.cuda->str()).second) {
            needing.push_back(
                {named(context, framework), framework.name, *framework.cuda, framework.source});
        }
    }
    if (needing.empty() && environment.runtime) {
        const auto& runtime = *environment.runtime;
        needing.push_back(
            {runtime.package + ' ' + runtime.version.str(), "", runtime.version, runtime.source});
    }
    return needing;
}

// --- CE140 --------------------------------------------------------------------------------------

// The command that changes the pin which asks for a CUDA: where it is the environment's own, there.
std::string pin_command(const CheckContext& context, const std::string& cuda) {
    const bool of_the_environment =
        context.cuda_origin.starts_with(absolute_path(context, "conda-meta/cudaenv.toml ")) ||
        context.cuda_origin.starts_with(absolute_path(context, "cudaenv.toml "));
    return of_the_environment
               ? "cudaenv pin -p " + shell_word(context.inventory.prefix) + ' ' + cuda
               : "cudaenv pin " + cuda;
}

// An nvcc of that CUDA does not build for torch.
bool refuses_nvcc(const DottedVersion& torch, const DottedVersion& nvcc) {
    return torch.parts().size() > 1 && nvcc.parts().size() > 1
               ? knowledge::nvcc_match(nvcc, torch) == knowledge::NvccMatch::None
               : torch.major() != nvcc.major();
}

// The CUDA of an nvcc, and who says so.
struct OtherCuda {
    const char* situation;
    const char* argument; // its name
    std::string text;
    facts::Evidence evidence;
};

// Only torch builds extensions with nvcc, and compares. False: no torch here `refuses` it.
template <typename Refuses>
bool find_refused(const CheckContext& context, const OtherCuda& other, Refuses refuses,
                  std::vector<CheckFinding>& findings) {
    for (const auto& framework : context.environment->frameworks) {
        if (framework.name != "torch" || !framework.cuda || !refuses(*framework.cuda)) {
            continue;
        }
        const auto cuda = knowledge::short_cuda(*framework.cuda);
        auto found =
            report(context, "CE140", other.situation, "torch",
                   {{"torch", framework.version},
                    {"cuda", cuda},
                    {other.argument, other.text},
                    {"command", framework.cuda->parts().size() > 1 ? pin_command(context, cuda)
                                                                   : std::string()}});
        found.finding.evidence = {{framework.source, 0, "CUDA " + cuda}, other.evidence};
        findings.push_back(std::move(found));
        return true;
    }
    return false;
}

// The toolkit; the pin, where no toolkit shows the same.
void find_other_cuda(const CheckContext& context, std::vector<CheckFinding>& findings) {
    const auto* toolkit = context.toolkit;
    if (toolkit != nullptr && toolkit->nvcc && toolkit->problem.empty() && toolkit->version) {
        const auto version = toolkit->version->str();
        if (find_refused(
                context, {"", "toolkit", version, {toolkit->path, 0, "nvcc " + version}},
                [&](const auto& torch) { return torch.major() != toolkit->version->major(); },
                findings)) {
            return;
        }
    }
    if (const auto pinned = DottedVersion::parse(context.cuda)) { // a range names no CUDA
        find_refused(
            context, {"pin", "pin", context.cuda, {context.cuda_origin, 0, "cuda " + context.cuda}},
            [&](const auto& torch) { return refuses_nvcc(torch, *pinned); }, findings);
    }
}

// --- CE141, CE142 -------------------------------------------------------------------------------

// JAX's plugin for the driver's CUDA in place of the installed one, which JAX would load first.
std::string older_plugin(const CheckContext& context, const Needing& needing,
                         const DottedVersion& gives) {
    const auto& all = context.inventory.distributions;
    const auto plugin = std::ranges::find(all, needing.name.substr(0, needing.name.find(' ')),
                                          &facts::Distribution::name);
    const auto other = "jax-cuda" + std::to_string(gives.major()) + "-plugin";
    if (plugin == all.end() || plugin->name == other ||
        knowledge::package_release(other, plugin->version) == nullptr) {
        return {};
    }
    return both_commands(
        pip_uninstall(context, *plugin),
        pip_install(context, &*plugin, {other + "[with-cuda]==" + plugin->version}));
}

// The build of torch or JAX that the driver runs; empty where none is known.
std::string older_build(const CheckContext& context, const Needing& needing,
                        const DottedVersion& gives) {
    if (needing.framework == "jaxlib") {
        return older_plugin(context, needing, gives);
    }
    const std::string selector =
        context.is_named ? " -p " + shell_word(context.inventory.prefix) : std::string();
    const bool has_build =
        needing.framework == "torch" && knowledge::newest_torch_for(gives) != nullptr;
    return has_build ? "cudaenv resolve torch" + selector : std::string();
}

void find_old_driver(const CheckContext& context, const Needing& needing,
                     std::vector<CheckFinding>& findings) {
    using knowledge::DriverFit;
    if (context.host->platform.jetson) {
        return; // its CUDA comes with the system's release
    }
    const auto judged = knowledge::driver_fit(*context.host, needing.cuda);
    const auto& measured = context.host->measured;
    const bool ran = measured && measured->failed.empty() && measured->runtime &&
                     measured->runtime->major() >= needing.cuda.major();
    const bool too_old = judged.fit == DriverFit::TooOld && !ran;
    const bool partly = judged.fit == DriverFit::MachineCode ||
                        judged.fit == DriverFit::BelowMinimum ||
                        (judged.fit == DriverFit::TooOld && ran);
    if (!too_old && !partly) {
        return;
    }
    const auto cuda = knowledge::short_cuda(needing.cuda);
    const bool says_cuda = judged.gives && (judged.measured || !context.host->driver->derived);
    const auto driver = says_cuda
                            ? fmt::format("{} gives CUDA {}", judged.driver, judged.gives->str())
                            : judged.driver;
    const auto subject = needing.name.substr(0, needing.name.find(' '));
    std::vector<facts::Evidence> evidence{{needing.source, 0, "CUDA " + cuda},
                                          {judged.source, 0, driver}};
    const auto bound_of = [](const std::optional<knowledge::DriverBound>& bound) {
        return bound ? bound->driver.str() : std::string();
    };
    const auto& version = context.host->driver->version;
    CheckFinding found;
    if (too_old) {
        const auto gives =
            judged.gives ? judged.gives : knowledge::newest_cuda_in_full(*context.host);
        if (judged.floor) {
            evidence.push_back({judged.floor->source, 0, judged.floor->driver.str()});
        }
        found =
            report(context, "CE141", "", subject,
                   {{"build", needing.name},
                    {"cuda", cuda},
                    {"floor", bound_of(judged.floor)},
                    {"driver", version ? version->str() : driver},
                    {"torch", yes_if(needing.framework == "torch")},
                    {"jax", yes_if(needing.framework == "jaxlib")},
                    {"tensorflow", yes_if(needing.framework == "tensorflow")},
                    {"command", gives ? older_build(context, needing, *gives) : std::string()}});
    } else {
        found = report(context, "CE142", says_cuda ? "driver-cuda" : "driver-version", subject,
                       {{"build", needing.name},
                        {"cuda", cuda},
                        {"gives", says_cuda ? judged.gives->str() : std::string()},
                        {"minimum", bound_of(judged.minimum)},
                        {"driver", says_cuda || !version ? judged.driver : version->str()}});
    }
    found.finding.evidence = std::move(evidence);
    findings.push_back(std::move(found));
}

// --- CE143 --------------------------------------------------------------------------------------

// What the build that is here has code for. Only of releases that the table has read: another
// packager builds for other GPUs.
const knowledge::Architectures* code_of(const FamilyMember& torch) {
    const auto* release = torch.released ? knowledge::torch_release(torch.version) : nullptr;
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

void find_unserved_gpus(const CheckContext& context, std::vector<CheckFinding>& findings) {
    const auto torch = find_member(context, "torch");
    const auto* code = torch ? code_of(*torch) : nullptr;
    if (code == nullptr) {
        return;
    }
    std::vector<std::string> unserved;
    std::vector<facts::Evidence> evidence{
        {absolute_path(context, torch->record), 0,
         fmt::format("{}, {}", named(*torch), knowledge::build_text(torch->build))}};
    std::size_t served = 0;
    for (const auto& gpu : knowledge::gpus_of(*context.host)) {
        if (!gpu.capability) {
            continue;
        }
        if (knowledge::serves_with_sass(*code, *gpu.capability) ||
            knowledge::serves_with_ptx(*code, *gpu.capability)) {
            ++served;
            continue;
        }
        const auto text = fmt::format("{} ({})", gpu.name, gpu.capability->sm());
        if (!is_one_of(text, unserved)) {
            unserved.push_back(text);
        }
        evidence.push_back({"", 0, text});
    }
    if (unserved.empty()) {
        return;
    }
    evidence.push_back({code->source, 0, "the list of GPUs that it has code for"});
    constexpr std::size_t k_named = 2; // a title is one line
    const auto more = unserved.size() - std::min(unserved.size(), k_named);
    unserved.resize(unserved.size() - more);
    const bool is_certain = code->confidence.empty() || code->derived;
    auto found =
        report(context, "CE143", "", "torch",
               {{"torch", torch->version},
                {"gpus", join(unserved, ", ")},
                {"more", more == 0 ? std::string() : std::to_string(more)}},
               served == 0 && is_certain ? facts::Severity::Error : facts::Severity::Warning);
    found.finding.evidence = std::move(evidence);
    findings.push_back(std::move(found));
}

} // namespace

void find_cuda_misfits(const CheckContext& context, std::vector<CheckFinding>& findings) {
    if (context.environment == nullptr) {
        return;
    }
    find_other_cuda(context, findings);
    find_missing_nvcc(context, findings);
    if (context.host != nullptr) {
        for (const auto& needing : needing_of(context)) {
            find_old_driver(context, needing, findings);
        }
        find_unserved_gpus(context, findings);
    }
}

} // namespace cudaenv::rules
