// What is there and may not be opened: the loader and the driver mostly say that it is not there.
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "solver/plan/probe/scene.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::plan::probe {

namespace {

std::string whose(const facts::ClosedFile& file) {
    return fmt::format("{}, group {}, mode {:04o}",
                       file.own ? "it is yours" : "it is " + file.owner + "'s", file.group,
                       file.mode);
}

unsigned bits_of(std::string_view rights) {
    unsigned bits = 0;
    for (const char right : rights) {
        bits |= right == 'r' ? 4U : right == 'w' ? 2U : 1U;
    }
    return bits;
}

// `rights`: what is needed, "r", "rw", "rx" of a directory.
StepFix how_to_open(const Scene& scene, const facts::ClosedFile& file, std::string_view rights) {
    const unsigned bits = bits_of(rights);
    const std::string path = shell_word(file.path);
    if (file.own) {
        return {"open it to yourself", fmt::format("chmod u+{} {}", rights, path)};
    }
    if (((file.mode >> 3U) & bits) == bits && file.group != "root") {
        const std::string group = shell_word(file.group);
        return scene.in_container()
                   ? StepFix{fmt::format("start the container with that group, as with docker run "
                                         "--group-add {}",
                                         group),
                             {}}
                   : StepFix{fmt::format("ask to be in group {}, then log in anew", file.group),
                             fmt::format("sudo usermod -aG {} \"$USER\"", group)};
    }
    return {fmt::format("ask {}, or whoever runs this machine, to open it",
                        file.owner == "root" ? std::string("root") : "user " + file.owner),
            fmt::format("sudo chmod a+{} {}", rights, path)};
}

// The closed file that the loader speaks of: the whole path, or the same name.
const facts::ClosedFile* closed_file_of(const Scene& scene, std::string_view said) {
    const std::string_view named = said.substr(0, said.find(':'));
    const auto& closed = scene.context->closed_libraries;
    auto found = std::find_if(closed.begin(), closed.end(),
                              [&](const auto& file) { return file.path == named; });
    if (found == closed.end()) {
        found = std::find_if(closed.begin(), closed.end(), [&](const auto& file) {
            return file_name(file.path) == file_name(named);
        });
    }
    return found == closed.end() ? nullptr : &*found;
}

} // namespace

std::optional<Finding> explain_closed_device(const Scene& scene, const std::string& seen) {
    const auto& closed = scene.context->closed_devices;
    if (closed.empty()) {
        return std::nullopt;
    }
    const facts::ClosedFile& file = closed.front();
    std::vector<std::string> names;
    for (const facts::ClosedFile& one : closed) {
        names.push_back(one.path);
    }
    constexpr std::size_t k_most = 2;
    const std::string others =
        names.size() > k_most ? fmt::format(" and {} more", names.size() - k_most) : std::string();
    names.resize(std::min(names.size(), k_most));
    return of_the_moment(failure(
        "CE339",
        fmt::format("{}: you may not open {}{}", seen, join(names, others.empty() ? " and " : ", "),
                    others),
        fmt::format("{} is there, but {}; CUDA reads and writes it", file.path, whose(file)),
        how_to_open(scene, file, "rw"), ProbeVerdict::DriverBroken));
}

namespace {

Finding may_not_read(const Scene& scene, facts::ProbeStep step, std::string_view named,
                     const facts::ClosedFile* file) {
    const bool is_driver = step == facts::ProbeStep::Library;
    const auto* const library = facts::probed_library(step);
    Finding finding = of_the_moment({}); // a file's mode and a user's groups have no time
    finding.code = is_driver ? "CE302" : "CE356";
    finding.verdict = is_driver ? ProbeVerdict::DriverBroken : ProbeVerdict::Fails;
    finding.detail = fmt::format("{} does not load: you may not read {}",
                                 is_driver            ? "libcuda"
                                 : library != nullptr ? library->name
                                                      : "a library",
                                 file_name(named));
    if (file != nullptr) {
        finding.cause = fmt::format("{} is there, but {}", one_line(file->path, 120), whose(*file));
        finding.fix = how_to_open(scene, *file, "r");
    } else {
        finding.cause = fmt::format("{} is there, and the kernel refused: Permission denied",
                                    one_line(named, 120));
        finding.fix = StepFix{"see who owns it and its directories; have it opened",
                              "namei -lm " + shell_word(named)};
    }
    return finding;
}

// "libcudart.so.13" and "libcudart-d0da41ae.so.11.0" of "libcudart".
bool is_of_library(std::string_view name, std::string_view stem) {
    return name.size() > stem.size() && name.starts_with(stem) &&
           (name[stem.size()] == '.' || name[stem.size()] == '-');
}

// The closed file in whose place this rung's was taken; null where there is none.
const facts::ClosedFile* passed_over_for(const Scene& scene, const facts::ProbeRung& rung) {
    const auto* const library = facts::probed_library(rung.step);
    const auto& closed = scene.context->closed_libraries;
    const auto found = std::find_if(closed.begin(), closed.end(), [&](const auto& file) {
        return library != nullptr && file.was_passed_over &&
               is_of_library(file_name(file.path), library->file);
    });
    return found == closed.end() ? nullptr : &*found;
}

} // namespace

std::optional<Finding> explain_closed_library(const Scene& scene, const facts::ProbeRung& rung) {
    const std::string_view named = std::string_view(rung.message).substr(0, rung.message.find(':'));
    if (contains(rung.message, "Permission denied")) {
        return may_not_read(scene, rung.step, named, closed_file_of(scene, rung.message));
    }
    // What it may not read the loader passes over, and so does who looks for it: in the end there
    // seems to be none.
    const bool is_driver = rung.step == facts::ProbeStep::Library;
    const auto* const library = facts::probed_library(rung.step);
    const bool seems_absent =
        is_driver ? named.starts_with("libcuda.so") && contains(rung.message, "No such file")
                  : library != nullptr && rung.result == facts::ProbeResult::Skipped;
    if (!seems_absent) {
        return std::nullopt;
    }
    const std::string_view stem = is_driver ? std::string_view("libcuda") : library->file;
    for (const facts::ClosedFile& file : scene.context->closed_libraries) {
        if (is_of_library(file_name(file.path), stem)) {
            return may_not_read(scene, rung.step, file.path, &file);
        }
    }
    return std::nullopt;
}

Finding with_closed_file(const Scene& scene, const facts::ProbeRung& rung, Finding finding) {
    const auto* const file = passed_over_for(scene, rung);
    if (file == nullptr || finding.code == "CE356") {
        return finding;
    }
    finding.cause += fmt::format("; or it is that {}, which comes first, may not be read: {}",
                                 one_line(file->path, 120), whose(*file));
    finding.fix = how_to_open(scene, *file, "r");
    return of_the_moment(std::move(finding));
}

std::optional<Finding> explain_closed_runtime(const Scene& scene, const facts::ProbeRung& rung) {
    const auto* const file = passed_over_for(scene, rung);
    if (file == nullptr) {
        return std::nullopt;
    }
    return warning(
        "CE356",
        fmt::format("another one is taken, {}: you may not read {}",
                    scene.runtime ? scene.runtime->version.major_minor() : file_name(rung.path),
                    file_name(file->path)),
        fmt::format("{} is there, but {}; {} is what is left", one_line(file->path, 120),
                    whose(*file), one_line(rung.path, 120)),
        how_to_open(scene, *file, "r"));
}

Finding with_closed_place(const Scene& scene, Finding absent) {
    const auto& closed = scene.context->closed_libraries;
    const auto place = std::find_if(closed.begin(), closed.end(),
                                    [](const auto& file) { return file.is_directory; });
    if (place == closed.end()) {
        return absent;
    }
    absent.cause += fmt::format("; or it lies in {}, which you may not search: {}",
                                one_line(place->path, 120), whose(*place));
    // What an environment lacks is mostly not in a directory of somebody else's.
    const auto* const environment = scene.context->environment;
    const bool is_of_environment =
        environment != nullptr && (environment->prefix + '/').starts_with(place->path + '/');
    const bool is_in_environment =
        environment != nullptr && place->path.starts_with(environment->prefix + '/');
    if (absent.status == StepStatus::Fails || is_of_environment || is_in_environment) {
        absent.fix = how_to_open(scene, *place, "rx");
    }
    return absent;
}

} // namespace cudaenv::plan::probe
