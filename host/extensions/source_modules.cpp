#include "host/extensions/source_modules.hpp"

#include "host/file_system.hpp"
#include "solver/specs/requirement.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

namespace cudaenv::host {

namespace {

namespace fs = std::filesystem;

constexpr int k_deepest = 6;
constexpr std::size_t k_most_names = 20'000;

class Walk {
public:
    void into(const fs::path& directory, int depth = 0) {
        std::error_code failed;
        fs::directory_iterator entries(directory, failed);
        for (; !failed && entries != fs::directory_iterator(); entries.increment(failed)) {
            if (++m_names > k_most_names) {
                return;
            }
            const auto name = entries->path().filename().string();
            const auto kind = entries->symlink_status(failed).type();
            if (kind == fs::file_type::directory) {
                if (depth < k_deepest && is_source(entries->path(), name)) {
                    into(entries->path(), depth + 1);
                }
            } else if (kind == fs::file_type::regular && name.ends_with(".so")) {
                found.insert(entries->path().string());
            }
            failed.clear();
        }
    }

    std::set<std::string> found;

private:
    static bool is_source(const fs::path& directory, const std::string& name) {
        if (name.starts_with('.') || name == "build" || name == "dist" || name == "__pycache__" ||
            name == "node_modules" || name == "site-packages") {
            return false;
        }
        std::error_code ignored; // what cannot be asked is walked into, and fails there
        return !fs::exists(directory / "pyvenv.cfg", ignored) &&
               !fs::exists(directory / "conda-meta", ignored);
    }

    std::size_t m_names = 0;
};

// "__editable__.apex-0.1.pth", "apex.pth", "apex.egg-link"
bool is_path_file_of(const facts::PathFile& file, const facts::Distribution& distribution) {
    constexpr std::string_view k_editable = "__editable__.";
    auto name = base_name(file.path);
    if (name.starts_with(k_editable)) {
        name.remove_prefix(k_editable.size());
    }
    const auto end = name.find_first_of("-.");
    return specs::normalize_project_name(name.substr(0, end)) == distribution.name;
}

} // namespace

std::vector<std::string> modules_of_source(const facts::Inventory& inventory,
                                           const facts::Distribution& distribution) {
    std::set<std::string> roots;
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

} // namespace cudaenv::host
