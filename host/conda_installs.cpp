#include "host/conda_installs.hpp"

#include "base/ascii.hpp"
#include "host/package_names.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

namespace cudaenv::host {

namespace {

// Environments of one machine that are looked into; a bound, so that a broken list costs little.
constexpr std::size_t k_prefix_limit = 500;

constexpr std::array<std::string_view, 8> k_home_roots = {
    "miniforge3", "mambaforge", "miniconda3",  "anaconda3",
    "miniconda",  "anaconda",   ".conda/base", ".local/share/miniforge3"};
constexpr std::array<std::string_view, 7> k_system_roots = {
    "/opt/conda",      "/opt/miniforge3", "/opt/miniconda3",      "/opt/anaconda3",
    "/opt/mambaforge", "/opt/miniconda",  "/usr/local/miniconda3"};

struct CondaSearch {
    FileSystem& files;
    const Environment& environment;
    std::string home;
    CondaFindings findings{};
    std::set<std::string> seen_prefixes{};
    std::set<std::string> seen_roots{};
    std::set<std::string> seen_executables{};
    std::vector<std::pair<facts::CondaInstall, FileStatus>> lone{};

    void look() {
        if (const auto active = value_of(environment, "CONDA_PREFIX"); !active.empty()) {
            add_prefix(active);
        }
        if (const auto exe = value_of(environment, "CONDA_EXE"); !exe.empty()) {
            add_executable(exe, "CONDA_EXE");
        }
        if (const auto exe = value_of(environment, "MAMBA_EXE"); !exe.empty()) {
            add_executable(exe, "MAMBA_EXE");
        }
        const auto directories = directories_of(value_of(environment, "PATH"));
        const auto silent = files.silent(directories);
        for (const auto& directory : directories) {
            if (std::ranges::find(silent, directory) != silent.end()) {
                continue;
            }
            for (const auto* name : {"conda", "mamba", "micromamba", "pixi"}) {
                const auto path = directory + '/' + name;
                if (files.exists(path)) {
                    add_executable(path, "PATH");
                }
            }
        }
        for (const auto& root : usual_conda_roots(home)) {
            add_root(root, root);
        }
        if (!home.empty()) {
            for (const auto* path : {"/.local/bin/micromamba", "/bin/micromamba", "/.pixi/bin/pixi",
                                     "/.local/bin/pixi"}) {
                if (files.exists(home + path)) {
                    add_executable(home + path, home + path);
                }
            }
        }
        add_listed_prefixes();
    }

    CondaFindings conclude(const VersionAsker& asker) {
        std::vector<VersionQuestion> questions;
        for (const auto& [install, status] : lone) {
            questions.push_back({install.path, {"--version"}, parse_tool_version, status});
        }
        const auto answers = asker.ask(questions);
        for (std::size_t i = 0; i < lone.size(); ++i) {
            auto install = lone[i].first;
            if (!answers[i].version.empty()) {
                install.version = answers[i].version;
                install.source += ", version by --version";
            } else {
                findings.notes.push_back(install.path +
                                         ": its version is unknown: " + answers[i].reason);
            }
            findings.installs.push_back(std::move(install));
        }
        std::ranges::sort(findings.installs,
                          [](const facts::CondaInstall& a, const facts::CondaInstall& b) {
                              return std::tie(a.kind, a.path) < std::tie(b.kind, b.path);
                          });
        if (findings.installs.empty()) {
            findings.absent = "no conda, mamba, micromamba or pixi: not in CONDA_EXE, MAMBA_EXE, "
                              "PATH or the usual homes";
        }
        return std::move(findings);
    }

    void add_prefix(const std::string& path) {
        const auto real = files.real_path(path);
        if (!real || findings.prefixes.size() >= k_prefix_limit ||
            !seen_prefixes.insert(*real).second) {
            return;
        }
        findings.prefixes.push_back(*real);
    }

    void add_environments_in(const std::string& directory) {
        for (const auto& name : files.names_in(directory)) {
            if (!name.starts_with('.')) {
                add_prefix(directory + '/' + name);
            }
        }
    }

    // A root prefix, where conda-meta lists conda itself; what lists none is no install.
    bool add_root(const std::string& path, const std::string& source) {
        const auto real = files.real_path(path);
        if (!real) {
            return false;
        }
        if (!seen_roots.insert(*real).second) {
            return true;
        }
        const auto metadata = *real + "/conda-meta";
        const auto names = files.list_directory(metadata);
        if (!names) {
            if (names.error().code == k_permission_denied) {
                findings.notes.push_back(metadata + " cannot be read: " + reason_of(names.error()));
            }
            return false;
        }
        bool found = false;
        for (const auto& name : *names) {
            const auto package = parse_conda_record(name);
            if (package && (package->name == "conda" || package->name == "mamba")) {
                found = true;
                findings.installs.push_back({package->name, *real, package->version,
                                             source + ", version from " + metadata + '/' + name});
            }
        }
        if (found) {
            add_prefix(*real);
            add_environments_in(*real + "/envs");
        }
        return found;
    }

    // conda and mamba belong to a root; micromamba and pixi stand alone.
    void add_executable(const std::string& path, const std::string& source) {
        const auto real = files.real_path(path);
        const auto status = files.status(path);
        if (!real || !status || status->kind != FileKind::Regular || !status->executable) {
            findings.notes.push_back(
                source + " names " + path + ", which is not a program: " +
                (real ? std::string("not an executable file") : reason_of(real.error())));
            return;
        }
        const auto name = base_name(path);
        if ((name == "conda" || name == "mamba") &&
            add_root(std::string(parent_path(parent_path(*real))), source)) {
            return;
        }
        // condabin/conda and shims such as pyenv's are scripts; mamba 2 stands alone as micromamba.
        if (name == "conda" || !seen_executables.insert(*real).second) {
            return;
        }
        const std::string kind = name == "pixi" ? "pixi" : name == "mamba" ? "mamba" : "micromamba";
        lone.emplace_back(facts::CondaInstall{kind, *real, std::nullopt, source}, *status);
    }

    void add_listed_prefixes() {
        for (const auto* name : {"CONDA_ENVS_PATH", "CONDA_ENVS_DIRS"}) {
            for (const auto& directory : directories_of(value_of(environment, name))) {
                add_environments_in(directory);
            }
        }
        const auto mamba_root = value_of(environment, "MAMBA_ROOT_PREFIX");
        if (mamba_root.starts_with('/')) {
            add_environments_in(mamba_root + "/envs");
        }
        if (home.empty()) {
            return;
        }
        for (const auto* directory :
             {"/micromamba/envs", "/.local/share/mamba/envs", "/.conda/envs"}) {
            add_environments_in(home + directory);
        }
        if (const auto list = files.read_file(home + "/.conda/environments.txt")) {
            for (const auto line : split(*list, '\n')) {
                if (const auto path = std::string(trim(line)); path.starts_with('/')) {
                    add_prefix(path);
                }
            }
        }
    }
};

} // namespace

std::string parse_tool_version(std::string_view text) {
    const auto line = trim(text.substr(0, text.find('\n')));
    for (const auto word : split(line, ' ')) {
        if (word.find('.') != std::string_view::npos && is_digit(word.front())) {
            return std::string(word);
        }
    }
    return {};
}

std::vector<std::string> usual_conda_roots(const std::string& home) {
    std::vector<std::string> roots(k_system_roots.begin(), k_system_roots.end());
    for (const auto root : k_home_roots) {
        if (!home.empty()) {
            roots.push_back(home + '/' + std::string(root));
        }
    }
    return roots;
}

CondaFindings find_conda(FileSystem& files, const Environment& environment, const std::string& home,
                         const VersionAsker& asker) {
    CondaSearch search{files, environment, home};
    search.look();
    return search.conclude(asker);
}

} // namespace cudaenv::host
