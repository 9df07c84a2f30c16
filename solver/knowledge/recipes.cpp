#include "solver/knowledge/recipes.hpp"

#include "base/shell_word.hpp"

#include <algorithm>
#include <array>

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

// A release whose runfile's name is known: up to 13.3 it ends in the release's own driver, which
// the release notes' table has too, but for three rows: 11.2.0's is off by one, those of 11.1.x
// and 12.8.0 are cut short. https://developer.nvidia.com/cuda-toolkit-archive
struct Runfile {
    std::string release; // "11.8.0"
    std::string driver;  // "520.61.05"
};
std::optional<Runfile> runfile_of(const DottedVersion& minor) {
    for (const char* const update : {".0", ".1"}) {
        const std::string release = minor.str() + update;
        const auto driver = toolkit_minimum_driver(DottedVersion::of(release));
        if (minor >= DottedVersion::of("11.1") && release != "11.2.0" && driver &&
            driver->driver.parts().size() == 3) {
            return Runfile{release, driver->driver.str()};
        }
    }
    return std::nullopt;
}

std::string without_slash(std::string path) {
    while (path.size() > 1 && path.ends_with('/')) {
        path.pop_back();
    }
    return path;
}

// $HOME/cuda-11.8 is looked for only where it is configured. What is configured stays so.
std::string runfile_command(const DottedVersion& cuda, const Target& target) {
    const std::string system = is_aarch64(target) ? "linux_sbsa" : "linux";
    std::string file = "cuda_" + cuda.str() + "*_" + system + ".run";
    std::string words;
    if (const auto known = runfile_of(cuda)) {
        file = "cuda_" + known->release + '_' + known->driver + '_' + system + ".run";
        words = "curl -fLO https://developer.download.nvidia.com/compute/cuda/" + known->release +
                "/local_installers/" + file + " && ";
    }
    words += "sh " + file + " --silent --toolkit --toolkitpath=$HOME/cuda-" + cuda.str();
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

std::string pip_install(const Target& target, std::span<const std::string> requirements,
                        const std::optional<PipIndex>& index,
                        std::span<const std::string> options) {
    std::string command;
    if (target.has_uv) {
        command = "uv pip install";
        if (!target.prefix.empty()) {
            command += " --python " + shell_word(target.prefix);
        }
    } else if (target.prefix.empty()) {
        command = "python -m pip install";
    } else {
        command =
            shell_word(target.python.empty() ? target.prefix + "/bin/python" : target.python) +
            " -m pip install";
    }
    command = joined(std::move(command), options);
    command = joined(std::move(command), requirements);
    if (index) {
        command += (index->extra ? " --extra-index-url " : " --index-url ") + index->url;
    }
    return command;
}

Recipe nvcc_recipe(const DottedVersion& cuda, const Target& target) {
    const DottedVersion minor = DottedVersion::of(cuda.major_minor());
    const std::string what = "nvcc " + minor.str() + " with headers and libraries";
    const bool into_conda = target.kind == Target::Kind::Conda;
    if (into_conda && minor.major() >= 12) {
        const std::array<std::string, 1> channel = {"conda-forge"};
        return {what + ", into the environment",
                conda_install(target, conda_forge_toolkit(minor), channel)};
    }
    if (into_conda && minor >= DottedVersion::of("11.3")) {
        const std::array<std::string, 1> channel = {"nvidia/label/cuda-" + minor.str() + ".0"};
        return {what + ", into the environment",
                conda_install(target, label_toolkit(minor), channel)};
    }
    if (target.kind == Target::Kind::Venv && minor.major() >= 13) {
        // The wheels for 11 and 12 hold no nvcc. One requirement holds all components to one
        // release: those of 13 depend on each other without versions, and minors do not mix.
        const std::array<std::string, 1> all = {
            "cuda-toolkit[nvcc,cudart,cccl,cublas,cusparse,cusolver,curand,cufft,nvrtc,nvtx]==" +
            minor.str() + ".*"};
        return {what + ", into the environment", pip_install(target, all)};
    }
    return {what + " from NVIDIA's runfile, into your home directory",
            runfile_command(minor, target)};
}

Recipe compiler_recipe(int newest_gcc, const Target& target) {
    const std::string gcc = std::to_string(newest_gcc);
    if (target.has_conda && newest_gcc >= 5) {
        // conda-forge has 7 and newer, defaults one older.
        const std::string name = is_aarch64(target) ? "gxx_linux-aarch64=" : "gxx_linux-64=";
        const std::array<std::string, 1> spec = {name + (newest_gcc >= 7 ? gcc : "5.4")};
        const std::array<std::string, 1> channel = {newest_gcc >= 7 ? "conda-forge" : "defaults"};
        return {"g++ " + gcc + " or older, into the environment",
                conda_install(target, spec, channel)};
    }
    return {"g++ " + gcc + " or older, from the distribution (as root)", {}, true};
}

Recipe runtime_recipe(const DottedVersion& cuda, const Target& target,
                      std::span<const std::string> with) {
    const DottedVersion minor = DottedVersion::of(cuda.major_minor());
    const std::string what = "CUDA " + minor.str() + "'s runtime and libraries";
    if (target.kind == Target::Kind::Venv) {
        if (minor.major() < 11) {
            return {what + ": no wheels of it exist", {}};
        }
        if (minor.major() == 11) {
            const std::array<std::string, 1> runtime = {"nvidia-cuda-runtime-cu11==" + minor.str() +
                                                        ".*"};
            return {what, pip_install(target, runtime)};
        }
        const std::array<std::string, 1> all = {
            "cuda-toolkit[cudart,cublas,cufft,curand,cusolver,cusparse,nvrtc]==" + minor.str() +
            ".*"};
        return {what, pip_install(target, all)};
    }
    if (!target.has_conda) {
        return nvcc_recipe(cuda, target);
    }
    const std::array<std::string, 1> channel = {"conda-forge"};
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
    return {what, conda_install(target, specs, channel)};
}

Recipe driver_recipe(const DriverBound& bound, const facts::Host& host) {
    return {"driver " + bound.driver.str() + " or newer (as root" +
                (host.hostname.empty() ? ")" : "; ask whoever runs " + host.hostname + ")"),
            {},
            true};
}

} // namespace cudaenv::knowledge
