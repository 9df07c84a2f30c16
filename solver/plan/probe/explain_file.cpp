// The files of libraries that do not load: which one it is, what is wrong with it, and how the
// loader comes to take another.
#include "base/text.hpp"
#include "solver/plan/probe/scene.hpp"

#include <fmt/format.h>

namespace cudaenv::plan::probe {

namespace {

constexpr std::size_t k_path = 120; // characters of one that are told

// The file that was refused: the loader's words begin with it where the probe does not tell.
std::string refused_file(const facts::ProbeRung& rung) {
    const std::string_view said = rung.message;
    const std::string_view path = !rung.path.empty()      ? std::string_view(rung.path)
                                  : said.starts_with('/') ? said.substr(0, said.find(':'))
                                                          : std::string_view();
    return path.empty() ? std::string("the file") : one_line(path, k_path);
}

} // namespace

std::string fault_of_file(const facts::ProbeRung& rung) {
    const std::string& said = rung.message;
    if (said.starts_with(k_cut_short)) {
        return one_line(std::string_view(said).substr(k_cut_short.size()), k_path + 60) +
               ": it is damaged, by a copy or an installation that was broken off";
    }
    if (contains(said, " leads to nothing")) {
        return one_line(said, 2 * k_path);
    }
    const std::string file = refused_file(rung);
    if (contains(said, "file too short") || contains(said, "truncated")) {
        return file + " is damaged: it is empty or cut short";
    }
    if (contains(said, "Is a directory")) {
        return file + " is a directory";
    }
    if (contains(said, "Is a pipe")) {
        return file + " is a pipe, at which every program would wait";
    }
    if (contains(said, "ELF class") || contains(said, "ELFCLASS")) {
        return file + " is of another architecture";
    }
    return contains(said, "ELF") ? file + " is damaged, of another architecture, or no library"
                                 : std::string();
}

std::optional<StepFix> fix_by_library_path(const Scene& scene, const std::string& file,
                                           const std::string& wanted) {
    const std::string directory = directory_of(file);
    const bool compat = is_compat(file);
    const auto entries = entries_that(*scene.context, [&](const std::string& entry) {
        const std::string_view trimmed =
            entry.ends_with('/') ? std::string_view(entry).substr(0, entry.size() - 1) : entry;
        return trimmed == directory || (compat && is_compat(entry));
    });
    if (entries.empty()) {
        return std::nullopt;
    }
    return StepFix{fmt::format("take {} out of LD_LIBRARY_PATH{}", join(entries, " and "), wanted),
                   library_path_without(*scene.context, entries)};
}

} // namespace cudaenv::plan::probe
