// Files that exist and may not be opened: the loader and the driver mostly say that they do not
// exist.
#include "base/ranges.hpp"
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "kernels/judge/scene.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::judge {

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

// Arguments of a closed file: "path", "whose", and "open" with "open_command", which give the
// `rights` that are needed ("r", "rw", "rx" of a directory).
Arguments closed(const Scene& scene, const facts::ClosedFile& file, std::string_view rights) {
    const unsigned bits = bits_of(rights);
    const std::string path = shell_word(file.path);
    std::string open;
    std::string command;
    if (file.own) {
        open = "give yourself access";
        command = fmt::format("chmod u+{} {}", rights, path);
    } else if (((file.mode >> 3U) & bits) == bits && file.group != "root") {
        const std::string group = shell_word(file.group);
        if (scene.in_container()) {
            open = fmt::format("start the container with that group, as with docker run "
                               "--group-add {}",
                               group);
        } else {
            open = fmt::format("ask to join group {}, then log in again", file.group);
            command = fmt::format("sudo usermod -aG {} \"$USER\"", group);
        }
    } else {
        open = fmt::format("ask {}, or the administrator, for permission",
                           file.owner == "root" ? std::string("root") : "user " + file.owner);
        command = fmt::format("sudo chmod a+{} {}", rights, path);
    }
    return {{"path", one_line(file.path, 120)},
            {"file", file_name(file.path)},
            {"whose", whose(file)},
            {"open", std::move(open)},
            {"open_command", std::move(command)}};
}

// The closed file that the loader's words name: by its path, or by its name.
const facts::ClosedFile* closed_file_of(const Scene& scene, std::string_view said) {
    const std::string_view named = said.substr(0, said.find(':'));
    const auto& files = scene.context->closed_libraries;
    auto file = std::ranges::find(files, named, &facts::ClosedFile::path);
    if (file == files.end()) {
        file = std::ranges::find_if(files, [&](const facts::ClosedFile& one) {
            return file_name(one.path) == file_name(named);
        });
    }
    return file == files.end() ? nullptr : &*file;
}

} // namespace

std::optional<Finding> explain_closed_device(const Scene& scene, const std::string& seen) {
    const auto& devices = scene.context->closed_devices;
    if (devices.empty()) {
        return std::nullopt;
    }
    const facts::ClosedFile& file = devices.front();
    auto names = each_of(devices, &facts::ClosedFile::path);
    constexpr std::size_t k_most = 2;
    const std::string others =
        names.size() > k_most ? fmt::format(" and {} more", names.size() - k_most) : std::string();
    names.resize(std::min(names.size(), k_most));
    return found("CE339", "closed",
                 Arguments{{"seen", seen},
                           {"files", join(names, others.empty() ? " and " : ", ") + others}} +
                     closed(scene, file, "rw"));
}

namespace {

Finding may_not_read(const Scene& scene, facts::ProbeStep step, std::string_view named,
                     const facts::ClosedFile* file) {
    const bool is_driver = step == facts::ProbeStep::Library;
    const auto* const library = facts::probed_library(step);
    Arguments arguments = file != nullptr ? closed(scene, *file, "r")
                                          : Arguments{{"path", one_line(named, 120)},
                                                      {"file", file_name(named)},
                                                      {"quoted", shell_word(named)}};
    arguments.emplace_back("name", library != nullptr ? library->name : "a library");
    return found(is_driver ? "CE302" : "CE356", file != nullptr ? "closed" : "refused",
                 std::move(arguments));
}

// "libcudart.so.13" and "libcudart-d0da41ae.so.11.0" of "libcudart".
bool is_of_library(std::string_view name, std::string_view stem) {
    return name.size() > stem.size() && name.starts_with(stem) &&
           (name[stem.size()] == '.' || name[stem.size()] == '-');
}

// The closed file in whose place this rung's was loaded; null where there is none.
const facts::ClosedFile* passed_over_for(const Scene& scene, const facts::ProbeRung& rung) {
    const auto* const library = facts::probed_library(rung.step);
    const auto& files = scene.context->closed_libraries;
    return find_pointer_if(files, [&](const facts::ClosedFile& one) {
        return library != nullptr && one.was_passed_over &&
               is_of_library(file_name(one.path), library->file);
    });
}

} // namespace

std::optional<Finding> explain_closed_library(const Scene& scene, const facts::ProbeRung& rung) {
    const std::string_view named = std::string_view(rung.message).substr(0, rung.message.find(':'));
    if (contains(rung.message, "Permission denied")) {
        return may_not_read(scene, rung.step, named, closed_file_of(scene, rung.message));
    }
    // The loader passes over what it may not read, as the search for the library does: in the end
    // there seems to be none.
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
    return file == nullptr || finding.text.code == "CE356"
               ? finding
               : or_because(std::move(finding), found("CE356", "first", closed(scene, *file, "r")));
}

std::optional<Finding> explain_closed_runtime(const Scene& scene, const facts::ProbeRung& rung) {
    const auto* const file = passed_over_for(scene, rung);
    if (file == nullptr) {
        return std::nullopt;
    }
    return found("CE356", "replaced",
                 Arguments{{"version", scene.runtime ? scene.runtime->version.major_minor()
                                                     : file_name(rung.path)},
                           {"used", one_line(rung.path, 120)}} +
                     closed(scene, *file, "r"));
}

Finding with_closed_place(const Scene& scene, Finding absent) {
    const auto& files = scene.context->closed_libraries;
    const auto place = std::ranges::find_if(files, &facts::ClosedFile::is_directory);
    if (place == files.end()) {
        return absent;
    }
    const auto fix = absent.text.fix;
    const bool fails = absent.status == StepStatus::Fails;
    Finding finding =
        or_because(std::move(absent), found("CE356", "place", closed(scene, *place, "rx")));
    // What an environment lacks is rarely in a directory of another user's.
    const auto* const environment = scene.context->environment;
    const bool is_of_environment =
        environment != nullptr && (environment->prefix + '/').starts_with(place->path + '/');
    const bool is_in_environment =
        environment != nullptr && place->path.starts_with(environment->prefix + '/');
    if (!fails && !is_of_environment && !is_in_environment) {
        finding.text.fix = fix;
    }
    return finding;
}

} // namespace cudaenv::judge
