#include "solver/plan/check/file_kind.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::plan {

namespace {

template <std::size_t n>
bool is_one_of(std::string_view word, const std::array<std::string_view, n>& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// As seen from the site that it lies in; empty: in none.
std::string_view below_site(const facts::Inventory& inventory, std::string_view path) {
    for (const auto& site : inventory.sites) {
        if (path.size() > site.size() && path.starts_with(site) && path[site.size()] == '/') {
            return path.substr(site.size() + 1);
        }
    }
    return {};
}

bool is_library(std::string_view name) {
    return name.ends_with(".so") || name.find(".so.") != std::string_view::npos;
}

// Directories at the top of site-packages that wheels bring by mistake, and that nothing imports.
bool is_stray_directory(std::string_view name) {
    constexpr auto k_names = std::to_array<std::string_view>(
        {"tests", "test", "docs", "doc", "examples", "example", "benchmarks", "benchmark"});
    return is_one_of(name, k_names);
}

} // namespace

std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

bool is_code(const facts::Inventory& inventory, std::string_view path) {
    const auto name = file_name(path);
    const auto below = below_site(inventory, path);
    if (below.empty()) {
        return is_library(name);
    }
    if (below.find(".dist-info/") != std::string_view::npos ||
        below.find(".egg-info") != std::string_view::npos) {
        return false;
    }
    for (auto rest = below; rest.find('/') != std::string_view::npos;
         rest.remove_prefix(rest.find('/') + 1)) {
        const auto directory = rest.substr(0, rest.find('/'));
        if (directory == "tests" || directory == "test") {
            return false;
        }
    }
    constexpr auto k_of_the_user =
        std::to_array<std::string_view>({"sitecustomize.py", "usercustomize.py"});
    constexpr auto k_code = std::to_array<std::string_view>({".py", ".h", ".hpp", ".cuh"});
    return is_library(name) ||
           (!is_one_of(below, k_of_the_user) &&
            std::any_of(k_code.begin(), k_code.end(),
                        [&](std::string_view ending) { return name.ends_with(ending); }));
}

bool is_stray(const facts::Inventory& inventory, std::string_view path) {
    if (const auto below = below_site(inventory, path); !below.empty()) {
        const auto slash = below.find('/');
        if (slash != std::string_view::npos) {
            return is_stray_directory(below.substr(0, slash));
        }
        constexpr auto k_endings = std::to_array<std::string_view>(
            {".md", ".rst", ".txt", ".toml", ".cfg", ".in", ".yml", ".yaml"});
        return below.find('.') == std::string_view::npos ||
               std::any_of(k_endings.begin(), k_endings.end(),
                           [&](std::string_view ending) { return below.ends_with(ending); });
    }
    return path.starts_with("share/doc/") || path.starts_with("share/man/") ||
           path.starts_with("share/licenses/") || path.find('/') == std::string_view::npos;
}

bool is_known_namespace(const facts::Inventory& inventory, std::string_view path) {
    constexpr auto k_names = std::to_array<std::string_view>(
        {"azure", "backports", "flaskext", "google", "jaraco", "mpl_toolkits", "nvidia", "paste",
         "repoze", "ruamel", "sphinxcontrib", "zope"});
    const auto below = below_site(inventory, path);
    const auto slash = below.find('/');
    return slash != std::string_view::npos && is_one_of(below.substr(0, slash), k_names) &&
           below.substr(slash + 1) == "__init__.py";
}

bool is_empty_init(std::string_view path, const facts::FileClaim& claim) {
    return file_name(path) == "__init__.py" && claim.size == 0;
}

} // namespace cudaenv::plan
