#include "host/toolkits.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "host/modulefile.hpp"

#include <algorithm>
#include <map>

namespace cudaenv::host {

namespace {

constexpr std::size_t k_modulefile_limit = std::size_t{64} * 1024;

bool starts_with_digit(std::string_view text) {
    return !text.empty() && is_digit(text.front());
}

struct PlaceSearch {
    FileSystem& files;
    const Environment& environment;
    const ToolkitSearch& search;
    std::vector<std::string>& notes;
    std::vector<std::string> silent_places{};
    std::vector<ToolkitPlace> places{};

    std::vector<ToolkitPlace> look() {
        add_silent();
        for (const auto& directory : search.directories) {
            if (answers(directory)) {
                add_configured(directory);
            }
        }
        add_beginning_with_cuda("/usr/local");
        add_beginning_with_cuda("/opt");
        add_hpc_sdk();
        add_if_there("/usr/lib/nvidia-cuda-toolkit", "Debian's nvidia-cuda-toolkit");
        add_alternatives();
        for (const auto* name : {"CUDA_HOME", "CUDA_PATH"}) {
            if (const auto path = value_of(environment, name); !path.empty()) {
                add(path, name); // whether it answers is asked with all places that were found
            }
        }
        for (const auto& directory : directories_of(value_of(environment, "PATH"))) {
            if (answers(directory)) {
                add_nvcc(directory + "/nvcc", "PATH");
            }
        }
        for (const auto& prefix : search.conda_prefixes) {
            add_nvcc(prefix + "/bin/nvcc", "conda environment " + prefix);
        }
        add_wheels();
        add_modules();
        return std::move(places);
    }

    // Places that are looked into while searching, each with who names it.
    void add_silent() {
        std::vector<std::pair<std::string, std::string>> named;
        for (const auto& directory : search.directories) {
            named.emplace_back(directory, "configured directory");
        }
        for (const auto* name : {"PATH", "MODULEPATH"}) {
            for (auto& directory : directories_of(value_of(environment, name))) {
                named.emplace_back(std::move(directory), name);
            }
        }
        for (auto& root : hpc_sdk_roots()) {
            named.emplace_back(std::move(root), "NVIDIA HPC SDK");
        }
        for (const auto* parent : {"/usr/local", "/opt"}) {
            named.emplace_back(parent, parent);
        }
        ask(named);
    }
    // What does not answer is a place all the same: it may hold what is wanted.
    void ask(const std::vector<std::pair<std::string, std::string>>& named) {
        std::vector<std::string> paths;
        for (const auto& [path, source] : named) {
            paths.push_back(path);
        }
        auto silent = files.silent(paths);
        silent_places.insert(silent_places.end(), silent.begin(), silent.end());
        for (const auto& [path, source] : named) {
            if (!answers(path)) {
                places.push_back({path, source, Naming::Named, true});
            }
        }
    }
    bool answers(const std::string& directory) const {
        return std::ranges::find(silent_places, directory) == silent_places.end();
    }
    void add(const std::string& path, const std::string& source, Naming naming = Naming::Named) {
        places.push_back({path, source, naming});
    }
    // Broken symlinks are there too.
    bool is_there(const std::string& path) {
        return files.exists(path) || files.read_link(path).has_value();
    }
    void add_if_there(const std::string& path, const std::string& source) {
        if (is_there(path)) {
            add(path, source);
        }
    }
    std::vector<std::string> names_in(const std::string& directory) {
        auto names = files.list_directory(directory);
        if (!names && names.error().code == k_permission_denied) {
            notes.push_back(directory +
                            " is not searched for toolkits: " + reason_of(names.error()));
        }
        return names ? std::move(*names) : std::vector<std::string>();
    }

    void add_configured(const std::string& directory) {
        bool inside = false;
        if (!files.exists(directory + "/bin/nvcc")) {
            std::vector<std::pair<std::string, std::string>> named;
            for (const auto& name : names_in(directory)) {
                if (name.starts_with("cuda") || starts_with_digit(name)) {
                    named.emplace_back(directory + '/' + name, "configured directory " + directory);
                }
            }
            ask(named);
            for (const auto& [path, source] : named) {
                if (!answers(path)) {
                    inside = true;
                } else if (files.exists(path + "/bin/nvcc")) {
                    add(path, source);
                    inside = true;
                }
            }
        }
        if (!inside) {
            add(directory, "configured directory");
        }
    }

    void add_beginning_with_cuda(const std::string& parent) {
        if (!answers(parent)) {
            return;
        }
        for (const auto& name : names_in(parent)) {
            if (!name.starts_with("cuda")) {
                continue;
            }
            // cuda, cuda-11.3, cuda_11.3, cuda11.3 are toolkits' names; cuda-samples is not.
            auto rest = std::string_view(name).substr(4);
            if (rest.starts_with('-') || rest.starts_with('_')) {
                rest.remove_prefix(1);
            }
            const bool named = rest.empty() || starts_with_digit(rest);
            add(parent + '/' + name, parent, named ? Naming::Named : Naming::Guessed);
        }
    }

    [[nodiscard]] std::vector<std::string> hpc_sdk_roots() const {
        std::vector<std::string> roots = {"/opt/nvidia/hpc_sdk/Linux_" + search.machine};
        if (const auto root = value_of(environment, "NVHPC_ROOT"); root.starts_with('/')) {
            roots.push_back(root);
        }
        return roots;
    }

    // /opt/nvidia/hpc_sdk/Linux_x86_64/24.5/cuda/12.4
    void add_hpc_sdk() {
        for (const auto& root : hpc_sdk_roots()) {
            if (!answers(root)) {
                continue;
            }
            for (const auto& release : files.names_in(root)) {
                // NVHPC_ROOT is a release itself, and holds cuda/.
                const auto cuda =
                    release == "cuda" ? root + "/cuda" : root + '/' + release + "/cuda";
                if (release != "cuda" && !starts_with_digit(release)) {
                    continue;
                }
                for (const auto& version : files.names_in(cuda)) {
                    if (starts_with_digit(version)) {
                        add(cuda + '/' + version, "NVIDIA HPC SDK");
                    }
                }
            }
        }
    }

    void add_alternatives() {
        for (const auto& name : names_in("/etc/alternatives")) {
            const auto path = "/etc/alternatives/" + name;
            if (name == "nvcc") {
                add_nvcc(path, "/etc/alternatives");
            } else if (name == "cuda" ||
                       (name.starts_with("cuda-") && starts_with_digit(name.substr(5)))) {
                add(path, "/etc/alternatives");
            }
        }
    }

    // The toolkit around an nvcc: the parent of its bin, symlinks and wrapper scripts followed.
    void add_nvcc(const std::string& path, const std::string& source) {
        if (const auto target = files.read_link(path); target && target->starts_with('/')) {
            // The link answers; what it leads to may not.
            const auto toolkit = std::string(parent_path(parent_path(*target)));
            ask({{toolkit, source}});
            if (!answers(toolkit)) {
                return;
            }
        }
        const auto status = files.status(path);
        if (!status || status->kind != FileKind::Regular) {
            return;
        }
        auto real = files.real_path(path);
        if (!real || base_name(*real) != "nvcc") {
            return; // a masquerade: ccache and its like
        }
        constexpr std::uint64_t k_script = std::uint64_t{16} * 1024;
        if (status->size <= k_script) {
            const auto script = files.read_file(*real, k_script);
            if (script && script->starts_with("#!")) {
                const auto started = parse_nvcc_wrapper(*script);
                const auto target = started.empty() ? real : files.real_path(started);
                if (!target) {
                    notes.push_back(path + " starts " + started + ", which " +
                                    reason_of(target.error()));
                    return;
                }
                real = target;
            }
        }
        const auto bin = parent_path(*real);
        if (base_name(bin) == "bin") {
            add(std::string(parent_path(bin)), source);
        } else {
            notes.push_back(path + " is " + *real + ", which is not in a toolkit's bin");
        }
    }

    void add_wheels_of(const std::string& site_packages) {
        const auto nvidia = site_packages + "/nvidia";
        for (const auto& name : files.names_in(nvidia)) {
            // cu13 and its successors; the wheels for 11 and 12 have no nvcc.
            if (name.starts_with("cu") && starts_with_digit(std::string_view(name).substr(2))) {
                const auto path = nvidia + '/' + name;
                if (files.exists(path + "/bin/nvcc")) {
                    add(path, "pip's " + std::string("nvidia/") + name);
                }
            }
        }
    }

    // Of every python3.x under `lib`.
    void add_wheels_below(const std::string& lib) {
        for (const auto& name : files.names_in(lib)) {
            if (name.starts_with("python3")) {
                add_wheels_of(lib + '/' + name + "/site-packages");
                add_wheels_of(lib + '/' + name + "/dist-packages");
            }
        }
    }

    void add_wheels() {
        for (const auto* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
            if (const auto prefix = value_of(environment, name); prefix.starts_with('/')) {
                add_wheels_below(prefix + "/lib");
            }
        }
        add_wheels_of("/usr/lib/python3/dist-packages");
        add_wheels_below("/usr/local/lib");
        if (!search.home.empty()) {
            add_wheels_below(search.home + "/.local/lib");
        }
    }

    void add_modulefile(const std::string& path) {
        const auto text = files.read_file(path, k_modulefile_limit);
        if (!text) {
            return;
        }
        for (const auto& directory : parse_modulefile(*text, path)) {
            add(directory, "module " + path);
        }
    }

    void add_modules() {
        for (const auto& root : directories_of(value_of(environment, "MODULEPATH"))) {
            if (!answers(root)) {
                continue;
            }
            for (const auto& name : files.names_in(root)) {
                const auto word = to_lower_ascii(name);
                if (word.find("cuda") == std::string::npos && !word.starts_with("nvhpc")) {
                    continue;
                }
                const auto path = root + '/' + name;
                const auto versions = files.list_directory(path);
                if (!versions) {
                    add_modulefile(path);
                    continue;
                }
                for (const auto& version : *versions) {
                    if (!version.starts_with('.')) {
                        add_modulefile(path + '/' + version);
                    }
                }
            }
        }
    }
};

// What a symlink that leads nowhere says: "symlink to /usr/local/cuda-9.0, which does not exist".
std::string broken_reason(FileSystem& files, const std::string& path, const Error& error) {
    const auto target = files.read_link(path);
    if (target && error.code == k_not_found) {
        return "a symlink to " + *target + ", which does not exist";
    }
    return reason_of(error);
}

// /usr/local/cuda before /usr/local/cuda-11 before what is longer: the name people know first.
bool better_known(const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
}

std::vector<std::string> silent_places(FileSystem& files, const std::vector<ToolkitPlace>& places) {
    std::vector<std::string> paths;
    for (const auto& place : places) {
        if (!place.silent && place.path.starts_with('/')) {
            paths.push_back(place.path);
        }
    }
    return files.silent(paths);
}

} // namespace

std::string parse_nvcc_wrapper(std::string_view script) {
    for (std::size_t at = script.find("/nvcc"); at != std::string_view::npos;
         at = script.find("/nvcc", at + 1)) {
        const auto end = at + std::string_view("/nvcc").size();
        if (end < script.size() &&
            std::string_view(" \t\n\"';)").find(script[end]) == std::string_view::npos) {
            continue; // /nvcc.profile, /nvcc-11
        }
        const auto begin = script.find_last_of(" \t\n\"'=(", at) + 1; // npos + 1 is 0
        const auto word = script.substr(begin, end - begin);
        if (word.starts_with('/') && word.find('$') == std::string_view::npos) {
            return std::string(word);
        }
    }
    return {};
}

std::vector<ToolkitPlace> toolkit_places(FileSystem& files, const Environment& environment,
                                         const ToolkitSearch& search,
                                         std::vector<std::string>& notes) {
    return PlaceSearch{files, environment, search, notes}.look();
}

ToolkitFindings find_toolkits(FileSystem& files, const Environment& environment,
                              const ToolkitSearch& search, const VersionAsker& asker) {
    ToolkitFindings findings;
    struct Known {
        std::size_t index;
        std::vector<std::string> sources;
    };
    std::map<std::string, Known> known; // by real path, or by the broken one
    const auto places = toolkit_places(files, environment, search, findings.notes);
    const auto silent = silent_places(files, places);
    for (const auto& place : places) {
        facts::Toolkit toolkit;
        std::string key = place.path;
        if (place.silent || std::ranges::find(silent, place.path) != silent.end()) {
            toolkit.path = place.path;
            toolkit.silent = true;
            toolkit.problem = "does not answer";
        } else if (!place.path.starts_with('/')) {
            toolkit.path = place.path;
            toolkit.problem = "not an absolute path";
        } else if (const auto real = files.real_path(place.path)) {
            key = *real;
            toolkit.path = *real;
        } else {
            toolkit.path = place.path;
            toolkit.problem = broken_reason(files, place.path, real.error());
        }
        const auto found = known.find(key);
        if (found == known.end()) {
            if (toolkit.problem.empty()) {
                toolkit = inspect_toolkit(files, key, search.machine, asker);
            }
            if (place.naming == Naming::Guessed && !toolkit.version && !toolkit.nvcc) {
                continue;
            }
            known.emplace(key, Known{findings.toolkits.size(), {place.source}});
            findings.toolkits.push_back(std::move(toolkit));
        } else {
            add_once(found->second.sources, place.source);
        }
        if (place.path != key) {
            add_once(findings.toolkits[known.at(key).index].aliases, place.path);
        }
    }
    for (const auto& [key, entry] : known) {
        auto& toolkit = findings.toolkits[entry.index];
        toolkit.source = join(entry.sources, ", ");
        std::ranges::sort(toolkit.aliases, better_known);
    }
    std::ranges::stable_sort(findings.toolkits,
                             [](const facts::Toolkit& a, const facts::Toolkit& b) {
                                 if (a.problem.empty() != b.problem.empty()) {
                                     return a.problem.empty();
                                 }
                                 if (a.version.has_value() != b.version.has_value()) {
                                     return a.version.has_value();
                                 }
                                 if (a.version && *a.version != *b.version) {
                                     return *a.version > *b.version;
                                 }
                                 return a.path < b.path;
                             });
    if (findings.toolkits.empty()) {
        findings.absent = "no CUDA toolkit in /usr/local/cuda*, /opt/cuda*, /opt/nvidia/hpc_sdk, "
                          "/usr/lib/nvidia-cuda-toolkit, conda environments, pip's nvidia wheels, "
                          "CUDA_HOME, CUDA_PATH, PATH or MODULEPATH";
    }
    return findings;
}

} // namespace cudaenv::host
