#include "check/rules/file_kind.hpp"

#include "base/ranges.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::rules {

namespace {

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

// The lines by which packages that share a name say so, as setuptools' and Python's own documents
// write them: with pkgutil or pkg_resources, with either quote. A test computes them.
constexpr auto k_declarations = std::to_array<facts::Sha256Digest>({
    known_digest("8efd9817ffdbb1e9254f739613396a279a84db8738696779178af44d38cead64"),
    known_digest("103ea31dc622b98a6bff4be31b3d33c7696bae6253f6c0c90b32258e80df9a53"),
    known_digest("4032724b98ed267185b12b8ec78dd9bcb0423ab1c89a6f0dad99397fd51159d9"),
    known_digest("a8415eab7cae7f7950295b1e00b98bf1a3ccf1fa424b9e01ff9a6bcb4d0cde19"),
    known_digest("4c0c4cbf3cde70751b6127a667b8016ea8bede1626b0e0cb2ab6e6c6bb5b6944"),
    known_digest("ff66d9007b83540c7b30ceca03ba6ddc3629eb8d4d6384734a8440c1eb1629f5"),
    known_digest("1be778dfcbcfc7b9bf92ce5ef574ed337bbb2c344ee5d492ba489bba45a6c8f3"),
    known_digest("ab724d9879f408c3ed12a90c478d25923290cee594b53dfdc48154609f8c2881"),
    known_digest("d7ed50fe23a0edac806a734ddce00b2e22ab5c26679098845b360c90f77f6864"),
    known_digest("b6a9eafd0d05fad3920814bf87c858c0469e772c4c1be2c5823382ffdecb5b1b"),
    known_digest("ac5258ea7e16ace0fb9a19a0b313949772eb1d52ed60ae84124a3463f483b715"),
    known_digest("17b0c3b576782cdc63e73a71f9006277f8d7dd215e53157bb7619b354611b533"),
});

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
    return is_library(name) || (!is_one_of(below, k_of_the_user) &&
                                std::ranges::any_of(k_code, [&](std::string_view ending) {
                                    return name.ends_with(ending);
                                }));
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
               std::ranges::any_of(
                   k_endings, [&](std::string_view ending) { return below.ends_with(ending); });
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

bool is_namespace_declaration(std::string_view path, const facts::FileClaim& claim) {
    return file_name(path) == "__init__.py" && claim.hash == facts::ClaimHash::Sha256 &&
           is_one_of(claim.sha256, k_declarations);
}

bool is_empty_init(std::string_view path, const facts::FileClaim& claim) {
    return file_name(path) == "__init__.py" && claim.size == 0;
}

} // namespace cudaenv::rules
