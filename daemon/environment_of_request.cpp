#include "daemon/environment_of_request.hpp"

#include "base/text.hpp"
#include "daemon/host_of_request.hpp"
#include "host/project/project.hpp"
#include "protocol/json_field.hpp"

#include <algorithm>
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

// "pytorch-1.12.1-py3.9_cuda11.3_cudnn8.3.2_0.json": neither version nor build holds a '-'.
void add_conda(const std::string& file, std::set<std::string>& installed) {
    const std::size_t build = file.rfind('-');
    if (!file.ends_with(".json") || build == std::string::npos || build == 0) {
        return;
    }
    const std::size_t version = file.rfind('-', build - 1);
    if (version != std::string::npos && version > 0) {
        installed.insert(file.substr(0, version) +
                         "==" + file.substr(version + 1, build - version - 1));
    }
}

// "torch-1.12.1+cu113.dist-info"; the name as PyPI normalises it.
void add_distribution(const std::string& directory, std::set<std::string>& installed) {
    constexpr std::string_view k_ending = ".dist-info";
    const std::size_t dash = directory.find('-');
    if (!directory.ends_with(k_ending) || dash == 0 || dash + k_ending.size() > directory.size()) {
        return;
    }
    std::string name = to_lower_ascii(directory.substr(0, dash));
    std::ranges::replace(name, '_', '-');
    installed.insert(
        name + "==" + directory.substr(dash + 1, directory.size() - k_ending.size() - dash - 1));
}

} // namespace

Result<std::string> prefix_of(const nlohmann::json& params, const protocol::Caller& caller) {
    CUDAENV_TRY(const auto prefix, protocol::string_field(params, "prefix"));
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
        add_conda(file, installed);
    }
    for (const std::string& library : entries_of(prefix + "/lib")) {
        if (library.starts_with("python")) {
            for (const std::string& entry :
                 entries_of(prefix + "/lib/" + library + "/site-packages")) {
                add_distribution(entry, installed);
            }
        }
    }
    return {installed.begin(), installed.end()};
}

} // namespace cudaenv::daemon
