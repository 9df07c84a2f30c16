#include "solver/knowledge/recipes.hpp"

#include "base/shell_word.hpp"
#include "solver/knowledge/packages.hpp"
#include "solver/knowledge/table.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace cudaenv::knowledge {

namespace {

std::string joined(std::string command, std::span<const std::string> words) {
    for (const std::string& word : words) {
        command += ' ' + shell_word(word);
    }
    return command;
}

bool is_aarch64(const Target& target) {
    return target.machine == "aarch64";
}

// conda-forge splits CUDA from 12.0 on; cuda-version holds all of it to one release.
std::vector<std::string> conda_forge_toolkit(const DottedVersion& cuda) {
    return {"cuda-version=" + cuda.major_minor(),
            "cuda-nvcc",
            "cuda-cudart-dev",
            "cuda-nvrtc-dev",
            "cuda-nvtx-dev",
            "cuda-profiler-api",
            "libcublas-dev",
            "libcufft-dev",
            "libcurand-dev",
            "libcusolver-dev",
            "libcusparse-dev"};
}

// NVIDIA's labels hold one release each, from 11.3 on. Up to 11.7 the libraries are not split into
// parts to run and to build, and cuda-libraries-dev has no dependency on them.
std::vector<std::string> label_toolkit(const DottedVersion& cuda) {
    if (cuda >= DottedVersion::of("11.8")) {
        return {"cuda-nvcc", "cuda-libraries-dev", "cuda-nvtx"};
    }
    return {"cuda-toolkit"};
}

// The addresses that data/installers.json has: of releases before the names followed a rule.
const std::map<std::string, std::string>& old_runfiles() {
    static const std::map<std::string, std::string> urls = [] {
        std::map<std::string, std::string> read;
        read_table("installers", [&](std::string_view, const Row& row) {
            read[row.version("cuda").str()] = row.text("url");
        });
        return read;
    }();
    return urls;
}

// From 11.2 on, and up to 13.3, the runfile's name ends in the release's own driver, which the
// release notes' table has too, but for two rows: 11.2.0's is off by one, that of 12.8.0 is cut
// short. https://developer.nvidia.com/cuda-toolkit-archive
std::string runfile_url(const DottedVersion& minor, const Target& target) {
    const bool x86 = target.machine == "x86_64";
    if (const auto old = old_runfiles().find(minor.str()); x86 && old != old_runfiles().end()) {
        return old->second;
    }
    if (!x86 && !is_aarch64(target)) {
        return {};
    }
    for (const char* const update : {".0", ".1"}) {
        const std::string release = minor.str() + update;
        const auto driver = toolkit_minimum_driver(DottedVersion::of(release));
        if (minor >= DottedVersion::of("11.2") && release != "11.2.0" && driver &&
            driver->driver.parts().size() == 3) {
            return "https://developer.download.nvidia.com/compute/cuda/" + release +
                   "/local_installers/cuda_" + release + '_' + driver->driver.str() +
                   (x86 ? "_linux.run" : "_linux_sbsa.run");
        }
    }
    return {};
}

std::string without_slash(std::string path) {
    while (path.size() > 1 && path.ends_with('/')) {
        path.pop_back();
    }
    return path;
}

// $HOME/cuda-11.8 is looked for only where it is configured. What is configured stays so. Empty
// where no runfile is known.
std::string runfile_command(const DottedVersion& cuda, const Target& target) {
    const std::string url = runfile_url(cuda, target);
    if (url.empty()) {
        return {};
    }
    std::string words = "curl -fLO " + url + " && sh " + url.substr(url.rfind('/') + 1) +
                        " --silent --toolkit --toolkitpath=$HOME/cuda-" + cuda.str();
    std::string configured;
    for (const std::string& directory : target.toolkit_directories) {
        if (directory == "~/" ||
            (!target.home.empty() && without_slash(directory) == without_slash(target.home))) {
            return words; // every cuda-* of the home directory is looked at already
        }
        configured += ' ' + shell_word(directory);
    }
    return words + " && cudaenv config set toolkits.directories" + configured + " $HOME/cuda-" +
           cuda.str();
}

} // namespace

Target target_of(const facts::Host& host, Target::Kind kind, std::string prefix, bool uv) {
    Target target;
    target.kind = kind;
    target.prefix = std::move(prefix);
    target.has_uv = uv;
    target.has_conda = kind == Target::Kind::Conda || !host.conda.empty();
    if (!host.machine.empty()) {
        target.machine = host.machine;
    }
    const auto is_here = [&](std::string_view tool) {
        return std::ranges::find(host.conda, tool, &facts::CondaInstall::kind) != host.conda.end();
    };
    const bool any_conda = std::ranges::any_of(host.conda, [](const facts::CondaInstall& one) {
        return one.kind != "mamba" && one.kind != "micromamba" && one.kind != "pixi";
    });
    if (!any_conda) {
        for (const char* const tool : {"mamba", "micromamba"}) {
            if (is_here(tool)) {
                target.conda = tool;
                break;
            }
        }
    }
    return target;
}

Target target_of(const facts::Host& host, const std::optional<facts::EnvironmentFacts>& environment,
                 bool named, std::vector<std::string> toolkit_directories, std::string home) {
    Target target;
    if (environment) {
        const bool conda = environment->kind == facts::EnvironmentKind::Conda;
        target = target_of(host, conda ? Target::Kind::Conda : Target::Kind::Venv,
                           environment->prefix, environment->uv);
        target.active = !named;
    } else {
        target = target_of(host, Target::Kind::None, {});
    }
    target.toolkit_directories = std::move(toolkit_directories);
    target.home = std::move(home);
    return target;
}

std::string conda_install(const Target& target, std::span<const std::string> specs,
                          std::span<const std::string> channels) {
    if (target.is_pixis()) {
        const std::string manifest = " --manifest-path " + shell_word(target.project);
        std::string add;
        for (const std::string& channel : channels) {
            if (channel != "conda-forge") {
                add += "pixi workspace channel add" + manifest + ' ' + shell_word(channel) + " && ";
            }
        }
        return joined(add + "pixi add" + manifest, specs);
    }
    std::string command = target.conda;
    if (target.kind == Target::Kind::Conda) {
        command += " install";
        if (!target.prefix.empty() && !target.active) {
            command += " -p " + shell_word(target.prefix);
        }
    } else {
        command += " create -n " + shell_word(target.create_name);
    }
    for (const std::string& channel : channels) {
        command += " -c " + shell_word(channel);
    }
    return joined(std::move(command), specs);
}

namespace {

// "PREFIX/bin/python -m pip install", "uv pip install --python PREFIX".
std::string pip_verb(const Target& target, const std::string& verb) {
    if (target.has_uv) {
        return "uv pip " + verb +
               (target.prefix.empty() ? "" : " --python " + shell_word(target.prefix));
    }
    const std::string python = target.prefix.empty()   ? "python"
                               : target.python.empty() ? shell_word(target.prefix + "/bin/python")
                                                       : shell_word(target.python);
    return python + " -m pip " + verb;
}

} // namespace

std::string pip_uninstall(const Target& target, std::span<const std::string> names) {
    if (!target.project.empty()) {
        const std::string project = shell_word(target.project);
        return joined(target.is_pixis() ? "pixi remove --manifest-path " + project + " --pypi"
                                        : "uv remove --project " + project,
                      names);
    }
    return joined(pip_verb(target, "uninstall") + (target.has_uv ? "" : " -y"), names);
}

std::string pip_install(const Target& target, std::span<const std::string> requirements,
                        const std::optional<PipIndex>& index,
                        std::span<const std::string> options) {
    // A build without isolation is not a dependency that these projects can be given.
    if (!target.project.empty() && options.empty()) {
        const std::string project = shell_word(target.project);
        const std::string command =
            joined(target.is_pixis() ? "pixi add --manifest-path " + project + " --pypi"
                                     : "uv add --project " + project,
                   requirements);
        return command + (index ? " --index " + index->url : "");
    }
    std::string command = joined(pip_verb(target, "install"), options);
    command = joined(std::move(command), requirements);
    if (index) {
        command += (index->extra ? " --extra-index-url " : " --index-url ") + index->url;
    }
    return command;
}

namespace {

// Where a command puts what it installs.
std::string place_of(const Target& target) {
    return target.kind == Target::Kind::Conda
               ? ", into the environment"
               : ", into a new conda environment named " + target.create_name;
}

// CUDA 11.7 has no cuda-toolkit of PyPI's: its wheels are those that torch 2.0.1 requires.
std::vector<std::string> wheels_of_11_7() {
    constexpr std::array<std::string_view, 4> k_not_cuda = {"nvidia-cudnn", "nvidia-nccl",
                                                            "nvidia-nvtx", "nvidia-cuda-cupti"};
    std::vector<std::string> wheels;
    for (const PackageRelease& torch : package_releases("torch")) {
        for (const std::string& requirement : torch.requirements) {
            if (torch.version == "2.0.1" && requirement.starts_with("nvidia-") &&
                std::ranges::none_of(k_not_cuda, [&](std::string_view name) {
                    return requirement.starts_with(name);
                })) {
                wheels.push_back(requirement);
            }
        }
    }
    return wheels;
}

// conda-forge has cudatoolkit from 9.2 on, defaults what is older; neither has 9.1.
std::string cudatoolkit_channel(const DottedVersion& cuda) {
    return cuda >= DottedVersion::of("9.2") ? "conda-forge" : "defaults";
}

std::string nvcc_text(const DottedVersion& minor) {
    return "nvcc " + minor.str() + " with headers and libraries";
}

} // namespace

Recipe conda_nvcc_recipe(const DottedVersion& cuda, const Target& target,
                         std::span<const std::string> with) {
    const DottedVersion minor = DottedVersion::of(cuda.major_minor());
    const bool forge = minor.major() >= 12;
    if (minor < DottedVersion::of("11.3")) {
        return {nvcc_text(minor), {}};
    }
    std::vector<std::string> specs(with.begin(), with.end());
    std::ranges::copy(forge ? conda_forge_toolkit(minor) : label_toolkit(minor),
                      std::back_inserter(specs));
    const std::array<std::string, 1> channel = {forge ? "conda-forge"
                                                      : "nvidia/label/cuda-" + minor.str() + ".0"};
    return {nvcc_text(minor) + place_of(target), conda_install(target, specs, channel), false,
            target.prefix.empty() ? std::string("$CONDA_PREFIX") : target.prefix};
}

Recipe nvcc_recipe(const DottedVersion& cuda, const Target& target) {
    const DottedVersion minor = DottedVersion::of(cuda.major_minor());
    const std::string what = nvcc_text(minor);
    if (target.kind == Target::Kind::Conda && minor >= DottedVersion::of("11.3")) {
        return conda_nvcc_recipe(minor, target);
    }
    if (target.kind == Target::Kind::Venv && has_nvcc_wheels(minor)) {
        // One requirement holds all components to one release: those of 13 depend on each other
        // without versions, and minors do not mix.
        const std::array<std::string, 1> all = {
            "cuda-toolkit[nvcc,cudart,cccl,cublas,cusparse,cusolver,curand,cufft,nvrtc,nvtx]==" +
            minor.str() + ".*"};
        return {what + ", into the environment", pip_install(target, all)};
    }
    std::string command = runfile_command(minor, target);
    if (command.empty()) {
        return {what + ": NVIDIA's archive, https://developer.nvidia.com/cuda-toolkit-archive", {}};
    }
    return {what + " from NVIDIA's runfile, into your home directory", std::move(command), false,
            "$HOME/cuda-" + minor.str()};
}

Recipe compiler_recipe(int gcc, GccBound bound, const Target& target) {
    const std::string what =
        "g++ " + std::to_string(gcc) + (bound == GccBound::OrOlder ? " or older" : " or newer");
    if (target.has_conda && gcc >= 5) {
        // conda-forge has 7 and newer, defaults one older. The bound itself: a newer one may be too
        // new for nvcc.
        const std::string name = is_aarch64(target) ? "gxx_linux-aarch64=" : "gxx_linux-64=";
        const std::array<std::string, 1> spec = {name + (gcc >= 7 ? std::to_string(gcc) : "5.4")};
        const std::array<std::string, 1> channel = {gcc >= 7 ? "conda-forge" : "defaults"};
        return {what + place_of(target), conda_install(target, spec, channel)};
    }
    return {what + ", from the distribution (as root)", {}, true};
}

bool has_nvcc_wheels(const DottedVersion& cuda) {
    return std::ranges::any_of(pip_distributions(), [&](const PipDistribution& one) {
        return one.has_nvcc && one.cuda_major == cuda.major();
    });
}

bool has_runtime_wheels(const DottedVersion& cuda) {
    return cuda >= DottedVersion::of("11.7");
}

Recipe runtime_recipe(const DottedVersion& cuda, const Target& target,
                      std::span<const std::string> with) {
    const DottedVersion minor = DottedVersion::of(cuda.major_minor());
    const std::string what = "CUDA " + minor.str() + "'s runtime and libraries";
    if (target.kind == Target::Kind::Venv && has_runtime_wheels(minor)) {
        std::vector<std::string> wheels = wheels_of_11_7();
        if (minor >= DottedVersion::of("11.8")) {
            wheels = {"cuda-toolkit[cudart,cublas,cufft,curand,cusolver,cusparse,nvrtc]==" +
                      minor.str() + ".*"};
        }
        return {what + ", into the environment", pip_install(target, wheels)};
    }
    if (!target.has_conda || minor == DottedVersion::of("9.1")) {
        return nvcc_recipe(cuda, target);
    }
    const std::array<std::string, 1> channel = {cudatoolkit_channel(minor)};
    std::vector<std::string> specs = {"cudatoolkit=" + minor.str()};
    if (minor.major() >= 12) {
        // From 12 on cuda-version holds the release, and the libraries are packages of their own.
        specs = {"cuda-version=" + minor.str(),
                 "cuda-cudart",
                 "cuda-nvrtc",
                 "libcublas",
                 "libcufft",
                 "libcusolver",
                 "libcusparse"};
    }
    specs.insert(specs.end(), with.begin(), with.end());
    return {what + place_of(target), conda_install(target, specs, channel)};
}

Recipe driver_recipe(const DriverBound& bound, const facts::Host& host) {
    const std::string driver = "driver " + bound.driver.str() + " or newer";
    // The GPU whose last driver is the oldest.
    const facts::Gpu* limiting = nullptr;
    std::optional<DottedVersion> last;
    for (const facts::Gpu& gpu : host.gpus) {
        const auto generation =
            gpu.compute_capability ? generation_of(*gpu.compute_capability) : std::nullopt;
        const auto branch = gpu.last_driver_branch ? gpu.last_driver_branch
                            : generation           ? generation->last_driver_branch
                                                   : std::nullopt;
        if (branch && (!last || *branch < *last)) {
            last = branch;
            limiting = &gpu;
        }
    }
    if (last && bound.driver.major() > last->major()) {
        Recipe recipe{driver + " and another GPU (no driver after branch " + last->str() +
                          " supports " +
                          (limiting->name.empty() ? "this GPU" : "the " + limiting->name) + ')',
                      {},
                      true};
        recipe.other_gpu = true;
        return recipe;
    }
    if (host.platform.wsl) {
        // https://docs.nvidia.com/cuda/wsl-user-guide/: no Linux driver may be installed in WSL.
        return {"update the NVIDIA driver in Windows to branch " +
                    std::to_string(bound.driver.major()) +
                    " or newer (WSL uses it; install no driver in Linux)",
                {},
                true};
    }
    return {driver + " (as root" +
                (host.hostname.empty() ? ")" : "; ask whoever runs " + host.hostname + ")"),
            {},
            true};
}

} // namespace cudaenv::knowledge
