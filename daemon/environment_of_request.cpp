#include "daemon/environment_of_request.hpp"

#include "base/text.hpp"
#include "daemon/host_of_request.hpp"
#include "host/project/project.hpp"
#include "host/toolkit_text.hpp"
#include "protocol/json_field.hpp"
#include "solver/specs/requirement.hpp"

#include <filesystem>
#include <set>

namespace cudaenv::daemon {

namespace {

namespace fs = std::filesystem;

// Directories below which conda, mamba and micromamba keep environments by name, likely ones first.
std::vector<std::string> environment_roots(const protocol::Caller& caller) {
    std::vector<std::string> roots;
    const auto add_install = [&](const std::string& install) {
        if (install.starts_with('/')) {
            roots.push_back(install + "/envs");
        }
    };
    add_install(caller.variable("MAMBA_ROOT_PREFIX").value_or(""));
    if (const auto executable = caller.variable("CONDA_EXE")) {
        add_install(fs::path(*executable).parent_path().parent_path().string());
    }
    if (const auto active = caller.variable("CONDA_PREFIX")) {
        const fs::path prefix(*active);
        if (prefix.parent_path().filename() == "envs") {
            roots.push_back(prefix.parent_path().string());
        } else {
            add_install(*active);
        }
    }
    if (const auto home = caller.variable("HOME")) {
        roots.push_back(*home + "/.conda/envs");
        for (const char* install :
             {"/miniforge3", "/mambaforge", "/miniconda3", "/anaconda3", "/micromamba"}) {
            add_install(*home + install);
        }
    }
    std::set<std::string> seen;
    std::erase_if(roots, [&](const std::string& root) { return !seen.insert(root).second; });
    return roots;
}

bool is_environment(const std::string& prefix) {
    std::error_code failed;
    return fs::is_directory(prefix + "/conda-meta", failed) ||
           fs::exists(prefix + "/pyvenv.cfg", failed);
}

// Names of a directory's entries; none where it cannot be listed.
std::vector<std::string> entries_of(const fs::path& directory) {
    std::vector<std::string> names;
    std::error_code failed;
    for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        names.push_back(entry->path().filename().string());
    }
    return names;
}

} // namespace

Result<std::string> prefix_of(const nlohmann::json& params, const protocol::Caller& caller) {
    CUDAENV_TRY(const auto prefix, protocol::path_field(params, "prefix"));
    CUDAENV_TRY(const auto name, protocol::string_field(params, "name"));
    if (prefix) {
        std::string path = absolute_for(caller, *prefix);
        if (!is_environment(path)) {
            return tl::unexpected(Error{ErrorKind::BadInput, "no-such-environment",
                                        "is not an environment", path, 0, 0,
                                        "expected a directory with conda-meta or pyvenv.cfg"});
        }
        return path;
    }
    if (!name) {
        return project::active_prefix(caller.environment);
    }
    const std::vector<std::string> roots = environment_roots(caller);
    for (const std::string& root : roots) {
        if (name->find('/') == std::string::npos && is_environment(root + '/' + *name)) {
            return root + '/' + *name;
        }
    }
    return bad_input("no-such-environment", "there is no environment named \"" + *name + '"',
                     (roots.empty() ? std::string("there is no home to look in")
                                    : "looked in " + join(roots, ", ")) +
                         "; --prefix takes a directory");
}

std::vector<std::string> installed_in(const std::string& prefix) {
    std::set<std::string> installed;
    if (prefix.empty()) {
        return {};
    }
    for (const std::string& file : entries_of(prefix + "/conda-meta")) {
        if (const auto package = host::parse_conda_meta_name(file)) {
            installed.insert(package->name + "==" + package->version);
        }
    }
    for (const std::string& library : entries_of(prefix + "/lib")) {
        if (library.starts_with("python")) {
            for (const std::string& entry :
                 entries_of(prefix + "/lib/" + library + "/site-packages")) {
                if (const auto package = host::parse_dist_info_name(entry)) {
                    installed.insert(specs::normalize_project_name(package->name) +
                                     "==" + package->version);
                }
            }
        }
    }
    return {installed.begin(), installed.end()};
}

} // namespace cudaenv::daemon
