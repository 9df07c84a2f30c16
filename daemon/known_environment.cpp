#include "daemon/known_environment.hpp"

#include "daemon/environment_of_request.hpp"
#include "host/file_system.hpp"
#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/frameworks.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace cudaenv::daemon {

namespace {

using knowledge::Target;

std::optional<DottedVersion> version_at(std::string_view text) {
    const auto parsed = DottedVersion::parse(text);
    return parsed ? std::optional(*parsed) : std::nullopt;
}

// The project that an environment belongs to: pixi's manifest, by conda-meta/pixi; the directory of
// uv.lock beside `.venv`.
std::string project_of_environment(host::FileSystem& files, const std::string& prefix, bool conda) {
    constexpr std::size_t k_most_bytes = std::size_t{64} << 10U;
    if (conda) {
        const auto text = files.read_file(prefix + "/conda-meta/pixi", k_most_bytes);
        const auto record = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
        return record.is_object() ? record.value("manifest_path", std::string()) : std::string();
    }
    constexpr std::string_view k_venv = "/.venv";
    if (!prefix.ends_with(k_venv)) {
        return {};
    }
    std::string directory = prefix.substr(0, prefix.size() - k_venv.size());
    return files.exists(directory + "/uv.lock") ? directory : std::string();
}

std::string label_of(const facts::FrameworkBuild& framework) {
    if (framework.cpu && !knowledge::build_by_label(framework.version).other_gpu()) {
        return "cpu";
    }
    return framework.cuda && framework.cuda->parts().size() > 1
               ? knowledge::cuda_tag(*framework.cuda)
               : std::string();
}

} // namespace

DirectoryEnvironment environment_of_directory(host::FileSystem& files, std::string directory) {
    const std::string own = directory + "/.venv";
    while (directory.size() > 1) {
        const std::string manifest = directory + "/pixi.toml";
        if (files.exists(manifest)) {
            const std::string prefix = directory + "/.pixi/envs/default";
            return {files.exists(prefix + "/conda-meta") ? prefix : std::string(), manifest, true};
        }
        if (files.exists(directory + "/uv.lock")) {
            const std::string prefix = directory + "/.venv";
            return {files.exists(prefix + "/pyvenv.cfg") ? prefix : std::string(), directory};
        }
        directory = host::parent_path(directory);
    }
    return {files.exists(own + "/pyvenv.cfg") ? own : std::string(), {}};
}

std::vector<std::string> names_and_versions(const facts::EnvironmentFacts& facts) {
    std::set<std::string> installed;
    for (const facts::InstalledPackage& package : facts.installed) {
        installed.insert(package.name + "==" + package.version);
    }
    return {installed.begin(), installed.end()};
}

resolve::KnownEnvironment known_environment(const std::optional<facts::EnvironmentFacts>& facts,
                                            const facts::Host& host, const protocol::Caller& caller,
                                            const DirectoryEnvironment& of_directory) {
    resolve::KnownEnvironment known;
    if (!facts) {
        const auto kind = of_directory.project.empty() ? Target::Kind::None
                          : of_directory.conda         ? Target::Kind::Conda
                                                       : Target::Kind::Venv;
        known.target = knowledge::target_of(host, kind, {}, kind == Target::Kind::Venv);
        known.target.project = of_directory.project;
        known.shown =
            (of_directory.conda ? "the workspace of " : "the project in ") + of_directory.project;
        return known;
    }
    host::DiskFileSystem files;
    const std::string& prefix = facts->prefix;
    const bool conda = facts->kind == facts::EnvironmentKind::Conda;
    known.python = version_at(facts->python);
    known.target = knowledge::target_of(host, conda ? Target::Kind::Conda : Target::Kind::Venv,
                                        prefix, facts->uv);
    known.target.project = project_of_environment(files, prefix, conda);
    known.shown = shown_name_of(prefix, caller);
    for (const std::string& text : names_and_versions(*facts)) {
        const auto equals = text.find("==");
        resolve::Installed installed{text.substr(0, equals), text.substr(equals + 2), {}, {}};
        if (const auto plus = installed.version.find('+'); plus != std::string::npos) {
            installed.label = installed.version.substr(plus + 1);
            installed.version.erase(plus);
        }
        if (conda && installed.name == "python") {
            continue;
        }
        // conda's pytorch is PyPI's torch: one name for one thing.
        const auto* const framework = knowledge::find_framework(installed.name);
        if (framework != nullptr) {
            installed.manager = conda && framework->name != installed.name ? resolve::Manager::Conda
                                                                           : resolve::Manager::Pip;
            installed.name = framework->name;
        }
        known.installed.push_back(std::move(installed));
    }
    for (const facts::FrameworkBuild& framework : facts->frameworks) {
        const auto found =
            std::ranges::find(known.installed, framework.name, &resolve::Installed::name);
        if (found == known.installed.end()) {
            continue;
        }
        if (framework.cuda && framework.cuda->parts().size() > 1) {
            found->cuda = framework.cuda;
        }
        if (found->label.empty()) {
            found->label = label_of(framework);
        }
    }
    // Partners are builds for torch's CUDA where they do not say so themselves.
    const auto torch = std::ranges::find(known.installed, "torch", &resolve::Installed::name);
    for (resolve::Installed& installed : known.installed) {
        const auto* const framework = knowledge::find_framework(installed.name);
        if (torch != known.installed.end() && !torch->is_built_torch() && framework != nullptr &&
            framework->table == "torch" && installed.label.empty()) {
            installed.label = torch->label;
        }
    }
    return known;
}

} // namespace cudaenv::daemon
