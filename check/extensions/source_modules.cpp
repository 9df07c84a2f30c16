#include "check/extensions/source_modules.hpp"

#include "check/rules/foreign_modules.hpp"
#include "host/file_system.hpp"
#include "solver/specs/requirement.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <system_error>

namespace cudaenv::extensions {

namespace {

namespace fs = std::filesystem;

constexpr int k_deepest = 6;
constexpr int k_deepest_source = 12; // headers of others lie deep
constexpr std::size_t k_most_names = 20'000;

struct Walk {
    int deepest = k_deepest;
    std::size_t names = 0;

    void into(const fs::path& directory, int depth = 0) {
        std::error_code failed;
        fs::directory_iterator entries(directory, failed);
        for (; !failed && entries != fs::directory_iterator(); entries.increment(failed)) {
            if (++names > k_most_names) {
                return;
            }
            const auto name = entries->path().filename().string();
            const auto kind = entries->symlink_status(failed).type();
            if (kind == fs::file_type::directory) {
                if (depth < deepest && is_source(entries->path(), name)) {
                    into(entries->path(), depth + 1);
                }
            } else if (kind == fs::file_type::regular && name.ends_with(".so")) {
                found.insert(entries->path().string());
            } else if (kind == fs::file_type::regular && is_compiled_source(name)) {
                std::error_code unknown;
                const auto written = fs::last_write_time(entries->path(), unknown);
                newest_source =
                    unknown ? fs::file_time_type::max() : std::max(newest_source, written);
            }
            failed.clear();
        }
    }

    [[nodiscard]] bool is_whole() const { return names <= k_most_names; }

    std::set<std::string> found{};
    fs::file_time_type newest_source = fs::file_time_type::min();

    static bool is_compiled_source(std::string_view name) {
        constexpr std::array<std::string_view, 10> k_ends = {".c",   ".cc", ".cpp", ".cxx", ".cu",
                                                             ".cuh", ".h",  ".hpp", ".hh",  ".pyx"};
        return std::ranges::any_of(k_ends,
                                   [&](std::string_view end) { return name.ends_with(end); });
    }
    static bool is_source(const fs::path& directory, const std::string& name) {
        if (name.starts_with('.') || name == "build" || name == "dist" || name == "__pycache__" ||
            name == "node_modules" || name == "site-packages") {
            return false;
        }
        std::error_code ignored; // what cannot be asked is walked into, and fails there
        return !fs::exists(directory / "pyvenv.cfg", ignored) &&
               !fs::exists(directory / "conda-meta", ignored);
    }
};

// "__editable__.apex-0.1.pth", "apex.pth", "apex.egg-link"
bool is_path_file_of(const facts::PathFile& file, const facts::Distribution& distribution) {
    constexpr std::string_view k_editable = "__editable__.";
    auto name = host::base_name(file.path);
    if (name.starts_with(k_editable)) {
        name.remove_prefix(k_editable.size());
    }
    const auto end = name.find_first_of("-.");
    return specs::normalize_project_name(name.substr(0, end)) == distribution.name;
}

// setuptools' name of the directory for one Python: "lib.linux-x86_64-cpython-311", and before
// release 62.1 "lib.linux-x86_64-3.11".
bool is_build_for(std::string_view directory, const std::string& python) {
    const auto digits = "3" + python.substr(python.find('.') + 1);
    return directory.starts_with("lib.") &&
           (directory.ends_with("-cpython-" + digits) || directory.ends_with('-' + python));
}

} // namespace

std::vector<std::string> modules_of_source(const facts::Inventory& inventory,
                                           const facts::Distribution& distribution) {
    std::set<std::string> roots;
    if (distribution.kind == facts::DistributionKind::EggDirectory) {
        roots.insert(inventory.prefix + '/' + distribution.metadata);
    }
    if (distribution.direct_url && !distribution.direct_url->local_directory.empty()) {
        roots.insert(distribution.direct_url->local_directory);
    }
    if (distribution.source_directory.starts_with('/')) {
        roots.insert(distribution.source_directory);
    }
    for (const auto& file : inventory.path_files) {
        if (is_path_file_of(file, distribution)) {
            roots.insert(file.directories.begin(), file.directories.end());
        }
    }
    Walk walk;
    for (const auto& root : roots) {
        if (root.starts_with('/') && root != "/") {
            walk.into(root);
        }
    }
    return {walk.found.begin(), walk.found.end()};
}

std::vector<std::string> modules_of_build(const facts::Distribution& distribution) {
    const auto& source = distribution.direct_url ? distribution.direct_url->local_directory
                                                 : distribution.source_directory;
    const auto python = rules::python_of_site(distribution.site);
    if (!source.starts_with('/') || source == "/" || python.empty()) {
        return {};
    }
    Walk built;
    std::error_code failed;
    if (fs::symlink_status(source + "/build", failed).type() != fs::file_type::directory) {
        return {};
    }
    fs::directory_iterator entries(source + "/build", failed);
    for (; !failed && entries != fs::directory_iterator(); entries.increment(failed)) {
        if (is_build_for(entries->path().filename().string(), python) &&
            entries->symlink_status(failed).type() == fs::file_type::directory) {
            built.into(entries->path());
        }
    }
    if (built.found.empty()) {
        return {};
    }
    Walk sources{k_deepest_source};
    sources.into(source);
    if (!sources.is_whole()) {
        return {};
    }
    std::erase_if(built.found, [&](const std::string& module) {
        std::error_code unknown;
        const auto written = fs::last_write_time(module, unknown);
        return unknown || written < sources.newest_source;
    });
    return {built.found.begin(), built.found.end()};
}

} // namespace cudaenv::extensions
