#include "solver/plan/activation/remedy.hpp"

#include "base/shell_word.hpp"
#include "solver/knowledge/knowledge.hpp"
#include "solver/plan/activation/directories.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::plan {

namespace {

// The release to get: what is preferred, else the newest that is allowed and that the driver runs.
std::optional<DottedVersion> release_to_get(const Situation& situation, const WantedCuda& wanted) {
    for (const auto& version : {wanted.version, wanted.preferred}) {
        if (version && version->parts().size() >= 2 && allows(wanted, *version)) {
            return DottedVersion::of(version->major_minor());
        }
    }
    std::optional<DottedVersion> newest;
    std::optional<DottedVersion> newest_that_runs;
    for (const DottedVersion& release : knowledge::cuda_releases()) {
        if (!wanted.constraint.allows(release)) {
            continue;
        }
        newest = release;
        const auto& driver = situation.host.driver;
        if (driver && driver->cuda && release <= *driver->cuda) {
            newest_that_runs = release;
        }
    }
    return newest_that_runs ? newest_that_runs : newest;
}

std::string conda_words(const Situation& situation) {
    std::string words = "conda install";
    if (situation.environment && situation.environment->kind == facts::EnvironmentKind::Conda) {
        words += " -p " + shell_word(situation.environment->prefix);
    }
    return words;
}

std::string with_conda(const Situation& situation, const DottedVersion& release) {
    if (release >= DottedVersion::of("12")) {
        return fmt::format("{} -c conda-forge cuda-nvcc={}", conda_words(situation), release.str());
    }
    // conda-forge's cuda-nvcc begins with 12.0. NVIDIA's labels hold one release each, from 11.3
    // on; nvcc alone brings no headers there.
    return fmt::format("{} -c nvidia/label/cuda-{}.0 cuda-nvcc cuda-libraries-dev",
                       conda_words(situation), release.str());
}

// The wheels for 11 and 12 carry no nvcc; those for 13 depend on each other without versions, and
// minors do not mix.
std::string with_pip(const DottedVersion& release) {
    std::string words = "pip install";
    for (const char* const wheel : {"nvidia-cuda-nvcc", "nvidia-cuda-crt", "nvidia-nvvm",
                                    "nvidia-cuda-runtime", "nvidia-cuda-cccl"}) {
        words += fmt::format(" \"{}=={}.*\"", wheel, release.str());
    }
    return words;
}

// A release whose runfile's name is known: up to 13.3 it ends in the release's own driver, which
// the release notes' table has too, but for three rows: 11.2.0's is off by one, those of 11.1.x and
// 12.8.0 are cut short. https://developer.nvidia.com/cuda-toolkit-archive
struct Runfile {
    std::string release; // "11.8.0"
    std::string driver;  // "520.61.05"
};
std::optional<Runfile> runfile_of(const DottedVersion& minor) {
    for (const char* const update : {".0", ".1"}) {
        const std::string release = minor.str() + update;
        const auto driver = knowledge::toolkit_minimum_driver(DottedVersion::of(release));
        if (minor >= DottedVersion::of("11.1") && release != "11.2.0" && driver &&
            driver->driver.parts().size() == 3) {
            return Runfile{release, driver->driver.str()};
        }
    }
    return std::nullopt;
}

// $HOME/cuda-11.8 is looked for only where it is configured. What is configured stays so.
std::string with_runfile(const Situation& situation, const DottedVersion& release) {
    const std::string system = situation.host.machine == "aarch64" ? "linux_sbsa" : "linux";
    std::string file = fmt::format("cuda_{}*_{}.run", release.str(), system);
    std::string words;
    if (const auto known = runfile_of(release)) {
        file = fmt::format("cuda_{}_{}_{}.run", known->release, known->driver, system);
        words = fmt::format("curl -fLO https://developer.download.nvidia.com/compute/cuda/{}/"
                            "local_installers/{} && ",
                            known->release, file);
    }
    words +=
        fmt::format("sh {} --silent --toolkit --toolkitpath=$HOME/cuda-{}", file, release.str());
    const std::string* const home = situation.value("HOME");
    const std::string own = home != nullptr ? normal_directory(*home) : std::string();
    std::string directories;
    for (const std::string& directory : situation.config.toolkit_directories()) {
        if (directory == "~/" || normal_directory(directory) == own) {
            return words; // every cuda-* of the home directory is looked at already
        }
        directories += ' ' + shell_word(directory);
    }
    return words + fmt::format(" && cudaenv config set toolkits.directories{} $HOME/cuda-{}",
                               directories, release.str());
}

} // namespace

std::string toolkit_remedy(const Situation& situation, const WantedCuda& wanted) {
    const auto release = release_to_get(situation, wanted);
    if (!release) {
        return {};
    }
    if (situation.environment) {
        const bool conda = situation.environment->kind == facts::EnvironmentKind::Conda;
        if (conda && *release >= DottedVersion::of("11.3")) {
            return with_conda(situation, *release);
        }
        if (!conda && release->major() >= 13) {
            return with_pip(*release);
        }
    }
    return with_runfile(situation, *release);
}

std::string compiler_remedy(const Situation& situation, int gcc_major) {
    const char* const machine = situation.host.machine == "aarch64" ? "aarch64" : "64";
    // conda-forge has 7 and newer; defaults one older.
    return gcc_major >= 7
               ? fmt::format("{} -c conda-forge gxx_linux-{}={}", conda_words(situation), machine,
                             gcc_major)
               : fmt::format("{} -c defaults gxx_linux-{}=5.4", conda_words(situation), machine);
}

} // namespace cudaenv::plan
