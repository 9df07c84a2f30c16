// The driver's library: it does not exist, does not load, lies where programs do not search, or is
// not this driver's own (a stub, cuda-compat's, another version's).
#include "base/ranges.hpp"
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "kernels/judge/scene.hpp"

#include <algorithm>

namespace cudaenv::judge {

namespace {

constexpr std::size_t k_path = 120; // characters of a path in a sentence

// The file that was refused: the loader's words begin with it where the probe does not say.
std::string refused_file(const facts::ProbeRung& rung) {
    const std::string_view said = rung.message;
    const std::string_view path = !rung.path.empty()      ? std::string_view(rung.path)
                                  : said.starts_with('/') ? said.substr(0, said.find(':'))
                                                          : std::string_view();
    return path.empty() ? std::string("the file") : one_line(path, k_path);
}

// Exists, and is not a library that loads. One on LD_LIBRARY_PATH hides the driver's own.
Finding explain_broken_libcuda(const Scene& scene, const facts::ProbeRung& rung) {
    if (rung.call == "dlsym") {
        return found("CE302", "function", {{"said", one_line(rung.message, 56)}});
    }
    const std::string fault = fault_of_file(rung);
    const Arguments out = out_of_library_path(scene, rung.path);
    Finding finding =
        found("CE302", out.empty() ? "" : "library-path",
              Arguments{{"said", loader_words(rung)},
                        {"fault", fault},
                        {"path", fault.empty() ? one_line(rung.path, k_path) : std::string()}} +
                  out);
    finding.of_the_moment = fault.empty(); // else that file will be another; what it needs, may not
    return finding;
}

// Why the loader takes that libcuda: arguments "entries", "place" and "command" that remove it.
Arguments removed_from_place(const Scene& scene) {
    Arguments out = out_of_library_path(scene, scene.libcuda);
    if (!out.empty()) {
        return out + Arguments{{"place", "LD_LIBRARY_PATH"}};
    }
    const std::string directory = directory_of(scene.libcuda);
    return {{"entries", directory.empty() ? "its directory" : directory},
            {"place", "/etc/ld.so.conf.d, then run ldconfig"},
            {"command", "sudo ldconfig"}};
}

} // namespace

std::string fault_of_file(const facts::ProbeRung& rung) {
    const std::string& said = rung.message;
    switch (rung.reason) {
    case facts::RungReason::CutShort:
        return one_line(rung.broken + " " + said, k_path + 60) +
               ": it is damaged, by an interrupted copy or installation";
    case facts::RungReason::BrokenLink:
        return one_line(said, 2 * k_path);
    default:
        break;
    }
    // glibc's words (elf/dl-load.c), in the order in which they are looked for.
    struct Words {
        std::string_view words;
        std::string_view fault;
    };
    constexpr auto k_words = std::to_array<Words>({
        {"file too short", " is damaged: it is empty or truncated"},
        {"truncated", " is damaged: it is empty or truncated"},
        {"Is a directory", " is a directory"},
        {"Is a pipe", " is a pipe, on which every program would wait"},
        {"ELF class", " is of another architecture"},
        {"ELFCLASS", " is of another architecture"},
        {"ELF", " is damaged, of another architecture, or not a library"},
    });
    const auto* const known =
        std::ranges::find_if(k_words, [&](const Words& row) { return contains(said, row.words); });
    return known == k_words.end() ? std::string() : refused_file(rung) + std::string(known->fault);
}

Arguments out_of_library_path(const Scene& scene, const std::string& file) {
    const std::string directory = directory_of(file);
    const bool compat = is_compat(file);
    const auto entries = entries_that(*scene.context, [&](const std::string& entry) {
        const std::string_view trimmed =
            entry.ends_with('/') ? std::string_view(entry).substr(0, entry.size() - 1) : entry;
        return trimmed == directory || (compat && is_compat(entry));
    });
    if (entries.empty()) {
        return {};
    }
    return {{"entries", join(entries, " and ")},
            {"command", library_path_without(*scene.context, entries)}};
}

Finding explain_missing_driver(const Scene& scene, const facts::ProbeRung& rung,
                               const std::string& seen) {
    if (auto closed = explain_closed_library(scene, rung)) {
        return std::move(*closed);
    }
    // The loader names what it misses: libcuda itself, or something that libcuda needs.
    const bool is_absent = rung.message.empty() || rung.result == facts::ProbeResult::Skipped ||
                           (contains(rung.message, "libcuda.so") &&
                            contains(rung.message, "cannot open shared object file") &&
                            contains(rung.message, "No such file"));
    if (!is_absent) {
        return explain_broken_libcuda(scene, rung);
    }
    const std::string distribution =
        scene.context->host != nullptr ? scene.context->host->distribution : std::string();
    const bool is_debian = distribution.starts_with("Debian");
    const bool has_module = scene.module && !scene.on_wsl();
    const std::string_view situation =
        has_module             ? (scene.in_container() ? "container-libraries" : "libraries")
        : scene.on_wsl()       ? "wsl"
        : scene.in_container() ? "container"
        : is_debian            ? "debian"
        : distribution.starts_with("Ubuntu") ? "ubuntu"
                                             : "";
    return with_closed_place(scene,
                             found("CE301", situation,
                                   {{"seen", seen},
                                    {"module", scene.module ? scene.module->str() : std::string()},
                                    {"debian", is_debian ? "yes" : ""}}));
}

std::optional<Finding> explain_unfound_driver(const facts::ProbeRung& rung) {
    // A stub is not a driver that programs should find; cuInit says so in the next rung.
    if (rung.found_by.empty() || rung.found_by == "loader" || is_stub(rung.path)) {
        return std::nullopt;
    }
    // WSL's libcuda.so.1 is a link into a directory of the Windows driver's, which changes.
    const std::string directory =
        rung.found_by == "wsl" ? std::string("/usr/lib/wsl/lib") : directory_of(rung.path);
    return found("CE300", rung.found_by == "linker-name" ? "linker-name" : "other-directory",
                 {{"directory", directory.empty() ? directory : shell_word(directory)},
                  {"place", one_line(directory, 56)}});
}

Finding explain_implausible(const Scene& scene, std::string seen) {
    return found("CE315", "",
                 {{"seen", std::move(seen)}, {"libcuda", one_line(scene.libcuda, 80)}});
}

Finding explain_stub(const Scene& scene, const std::string& seen) {
    auto entries = entries_that(*scene.context, is_stub);
    Arguments out = entries.empty()
                        ? out_of_library_path(scene, scene.libcuda)
                        : Arguments{{"entries", join(entries, " and ")},
                                    {"command", library_path_without(*scene.context, entries)}};
    const std::string directory = directory_of(scene.libcuda);
    Finding finding = found(
        "CE303", out.empty() ? "loader-path" : "library-path",
        Arguments{{"seen", seen}, {"directory", directory.empty() ? "its directory" : directory}} +
            out);
    return scene.module ? finding : with_verdict(std::move(finding), ProbeVerdict::NoDriver);
}

Finding explain_mismatch(const Scene& scene, const std::string& seen, int error) {
    constexpr int k_compat_not_supported = 804;
    const bool refuses_compat = error == k_compat_not_supported;
    const std::string directory = directory_of(scene.libcuda);
    const auto& entries = scene.context->library_path;
    std::string_view code = "CE306";
    std::string_view situation;
    if (is_compat(scene.libcuda)) {
        code = refuses_compat ? "CE307" : "CE304";
        situation = refuses_compat ? "compat" : "";
    } else if (scene.library && scene.module && *scene.library > *scene.module) {
        code = "CE305";
    } else if (refuses_compat) {
        code = "CE307";
    } else if (!directory.empty() && is_one_of(directory, entries)) {
        situation = "library-path";
    }
    return found(code, situation,
                 Arguments{{"seen", seen},
                           {"libcuda", scene.library           ? "libcuda " + scene.library->str()
                                       : scene.libcuda.empty() ? std::string("libcuda")
                                                               : file_name(scene.libcuda)},
                           {"module", scene.module ? scene.module->str() : std::string()}} +
                     removed_from_place(scene));
}

std::optional<Finding> explain_working_mismatch(const Scene& scene) {
    constexpr int k_mismatch = 803;
    // cuda-compat that works is as intended: forward compatibility.
    if (!scene.library || !scene.module || *scene.library == *scene.module ||
        is_compat(scene.libcuda)) {
        return std::nullopt;
    }
    return as_warning(explain_mismatch(scene, {}, k_mismatch));
}

} // namespace cudaenv::judge
