#include "solver/plan/probe/packages.hpp"

#include "base/ascii.hpp"
#include "base/shell_word.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cudaenv::plan::probe {

namespace {

using facts::ProbeStep;

struct Packages {
    ProbeStep step;
    const char* pip; // without -cuNN
    const char* conda;
    bool of_toolkit; // released with CUDA itself
};

constexpr auto k_packages = std::to_array<Packages>({
    {ProbeStep::Runtime, "nvidia-cuda-runtime", "cuda-cudart", true},
    {ProbeStep::Nvrtc, "nvidia-cuda-nvrtc", "cuda-nvrtc", true},
    {ProbeStep::Cublas, "nvidia-cublas", "libcublas", true},
    {ProbeStep::Cudnn, "nvidia-cudnn", "cudnn", false},
    {ProbeStep::Nccl, "nvidia-nccl", "nccl", false},
});
static_assert(facts::is_of_probed_libraries(k_packages));

// Of what was built the runtime's: it needs that one.
const Packages& packages_of(ProbeStep step) {
    for (const Packages& packages : k_packages) {
        if (packages.step == step) {
            return packages;
        }
    }
    return k_packages.front();
}

// 11 of "/opt/libcudart.so.11.0: file too short".
unsigned major_in_name(std::string_view text, std::string_view library) {
    const std::string mark = std::string(library) + ".so.";
    const auto at = text.find(mark);
    unsigned major = 0;
    for (auto i = at == std::string_view::npos ? text.size() : at + mark.size();
         i < text.size() && is_digit(text[i]) && major < 100; ++i) {
        major = major * 10 + static_cast<unsigned>(text[i] - '0');
    }
    return major;
}

// The file that was tried: the loader's words begin with it.
std::string_view tried_file(const facts::ProbeRung& rung) {
    if (!rung.path.empty()) {
        return rung.path;
    }
    const std::string_view said = rung.message;
    return said.starts_with('/') ? said.substr(0, said.find(':')) : std::string_view();
}

bool is_of_conda(const Scene& scene, std::string_view file) {
    const auto* const environment = scene.context->environment;
    return environment != nullptr && environment->kind == facts::EnvironmentKind::Conda &&
           !contains(file, "/site-packages/");
}

// "==13.0.96" of a package that is here: another may not be what the rest was made for.
std::string version_here(const Scene& scene, std::string_view package) {
    const auto* const environment = scene.context->environment;
    if (environment == nullptr || !environment->runtime) {
        return {};
    }
    std::string carried = environment->runtime->package;
    std::ranges::replace(carried, '_', '-');
    return carried == package && environment->runtime->version.parts().size() > 2
               ? "==" + environment->runtime->version.str()
               : std::string();
}

} // namespace

unsigned cuda_major(const Scene& scene, const facts::ProbeRung& rung) {
    constexpr std::string_view k_runtime = "libcudart";
    if (rung.step == ProbeStep::Runtime) {
        for (const std::string_view text :
             {std::string_view(rung.path), std::string_view(rung.message)}) {
            if (const unsigned major = major_in_name(text, k_runtime); major != 0) {
                return major;
            }
        }
    }
    if (scene.runtime) {
        return scene.runtime->version.major();
    }
    if (const auto* const environment = scene.context->environment) {
        if (environment->runtime) {
            return environment->runtime->version.major();
        }
        for (const std::string& soname : environment->sonames) {
            if (const unsigned major = major_in_name(soname, k_runtime); major != 0) {
                return major;
            }
        }
    }
    if (const facts::FrameworkBuild* const framework = scene.framework()) {
        return framework->cuda->major();
    }
    return scene.driver_cuda ? scene.driver_cuda->major() : 0;
}

std::string pip_package(ProbeStep step, unsigned major) {
    const Packages& packages = packages_of(step);
    if (major < 11) {
        return {};
    }
    // cuDNN and NCCL of CUDA 13 keep their suffix, the toolkit's own parts lost it.
    return major >= 13 && packages.of_toolkit ? packages.pip
                                              : fmt::format("{}-cu{}", packages.pip, major);
}

std::string conda_package(ProbeStep step, unsigned major) {
    const Packages& packages = packages_of(step);
    return packages.of_toolkit && major != 0 && major < 12 ? "cudatoolkit" : packages.conda;
}

std::string pip_install(const Scene& scene) {
    const ProbeContext& context = *scene.context;
    return context.environment == nullptr || context.environment_is_active
               ? "pip install"
               : shell_word(context.environment->prefix + "/bin/python") + " -m pip install";
}

std::string conda_install(const Scene& scene) {
    const ProbeContext& context = *scene.context;
    return context.environment == nullptr || context.environment_is_active
               ? "conda install"
               : "conda install -p " + shell_word(context.environment->prefix);
}

StepFix bring(const Scene& scene, const facts::ProbeRung& rung) {
    const unsigned major = cuda_major(scene, rung);
    const std::string pip = pip_package(rung.step, major);
    const bool by_conda = is_of_conda(scene, {}) || pip.empty();
    return {"where the environment needs it",
            by_conda ? conda_install(scene) + ' ' + conda_package(rung.step, major)
                     : pip_install(scene) + ' ' + pip};
}

StepFix bring_anew(const Scene& scene, const facts::ProbeRung& rung, std::string text) {
    const unsigned major = cuda_major(scene, rung);
    const std::string_view file = tried_file(rung);
    if (contains(file, "/torch/lib/")) {
        return {std::move(text), pip_install(scene) + " --force-reinstall torch"}; // its own copy
    }
    if (is_of_conda(scene, file)) {
        return {std::move(text),
                conda_install(scene) + " --force-reinstall " + conda_package(rung.step, major)};
    }
    const std::string pip = pip_package(rung.step, major);
    if (pip.empty()) { // with wheels of that time it comes inside of them
        return {text + ": with the package that brought it", {}};
    }
    return {std::move(text),
            pip_install(scene) + " --force-reinstall " + pip + version_here(scene, pip)};
}

} // namespace cudaenv::plan::probe
