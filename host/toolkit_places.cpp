#include "host/toolkit_places.hpp"

#include "base/ascii.hpp"
#include "host/modulefile.hpp"

#include <algorithm>

namespace cudaenv::host {

namespace {

constexpr std::size_t k_modulefile_limit = std::size_t{64} * 1024;

bool starts_with_digit(std::string_view text) {
    return !text.empty() && is_digit(text.front());
}

class PlaceSearch {
public:
    PlaceSearch(FileSystem& files, const Environment& environment, const ToolkitSearch& search,
                std::vector<std::string>& notes)
        : m_files(&files), m_environment(&environment), m_search(&search), m_notes(&notes) {}

    std::vector<ToolkitPlace> look() {
        add_silent();
        for (const auto& directory : m_search->directories) {
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
            if (const auto path = value_of(*m_environment, name); !path.empty()) {
                add(path, name); // whether it answers is asked with all places that were found
            }
        }
        for (const auto& directory : directories_of(value_of(*m_environment, "PATH"))) {
            if (answers(directory)) {
                add_nvcc(directory + "/nvcc", "PATH");
            }
        }
        for (const auto& prefix : m_search->conda_prefixes) {
            add_nvcc(prefix + "/bin/nvcc", "conda environment " + prefix);
        }
        add_wheels();
        add_modules();
        return std::move(m_places);
    }

private:
    // Places that are looked into while searching, each with who names it.
    void add_silent() {
        std::vector<std::pair<std::string, std::string>> named;
        for (const auto& directory : m_search->directories) {
            named.emplace_back(directory, "configured directory");
        }
        for (const auto* name : {"PATH", "MODULEPATH"}) {
            for (auto& directory : directories_of(value_of(*m_environment, name))) {
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
        auto silent = m_files->silent(paths);
        m_silent.insert(m_silent.end(), silent.begin(), silent.end());
        for (const auto& [path, source] : named) {
            if (!answers(path)) {
                m_places.push_back({path, source, Naming::Named, true});
            }
        }
    }
    bool answers(const std::string& directory) const {
        return std::ranges::find(m_silent, directory) == m_silent.end();
    }
    void add(const std::string& path, const std::string& source, Naming naming = Naming::Named) {
        m_places.push_back({path, source, naming});
    }
    // Broken symlinks are there too.
    bool is_there(const std::string& path) {
        return m_files->exists(path) || m_files->read_link(path).has_value();
    }
    void add_if_there(const std::string& path, const std::string& source) {
        if (is_there(path)) {
            add(path, source);
        }
    }
    std::vector<std::string> names_in(const std::string& directory) {
        auto names = m_files->list_directory(directory);
        if (!names && names.error().code == k_permission_denied) {
            m_notes->push_back(directory +
                               " is not searched for toolkits: " + reason_of(names.error()));
        }
        return names ? std::move(*names) : std::vector<std::string>();
    }

    void add_configured(const std::string& directory) {
        bool inside = false;
        if (!m_files->exists(directory + "/bin/nvcc")) {
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
                } else if (m_files->exists(path + "/bin/nvcc")) {
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
        std::vector<std::string> roots = {"/opt/nvidia/hpc_sdk/Linux_" + m_search->machine};
        if (const auto root = value_of(*m_environment, "NVHPC_ROOT"); root.starts_with('/')) {
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
            for (const auto& release : m_files->names_in(root)) {
                // NVHPC_ROOT is a release itself, and holds cuda/.
                const auto cuda =
                    release == "cuda" ? root + "/cuda" : root + '/' + release + "/cuda";
                if (release != "cuda" && !starts_with_digit(release)) {
                    continue;
                }
                for (const auto& version : m_files->names_in(cuda)) {
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
        if (const auto target = m_files->read_link(path); target && target->starts_with('/')) {
            // The link answers; what it leads to may not.
            const auto toolkit = std::string(parent_path(parent_path(*target)));
            ask({{toolkit, source}});
            if (!answers(toolkit)) {
                return;
            }
        }
        const auto status = m_files->status(path);
        if (!status || status->kind != FileKind::Regular) {
            return;
        }
        auto real = m_files->real_path(path);
        if (!real || base_name(*real) != "nvcc") {
            return; // a masquerade: ccache and its like
        }
        constexpr std::uint64_t k_script = std::uint64_t{16} * 1024;
        if (status->size <= k_script) {
            const auto script = m_files->read_file(*real, k_script);
            if (script && script->starts_with("#!")) {
                const auto started = parse_nvcc_wrapper(*script);
                const auto target = started.empty() ? real : m_files->real_path(started);
                if (!target) {
                    m_notes->push_back(path + " starts " + started + ", which " +
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
            m_notes->push_back(path + " is " + *real + ", which is not in a toolkit's bin");
        }
    }

    void add_wheels_of(const std::string& site_packages) {
        const auto nvidia = site_packages + "/nvidia";
        for (const auto& name : m_files->names_in(nvidia)) {
            // cu13 and its successors; the wheels for 11 and 12 have no nvcc.
            if (name.starts_with("cu") && starts_with_digit(std::string_view(name).substr(2))) {
                const auto path = nvidia + '/' + name;
                if (m_files->exists(path + "/bin/nvcc")) {
                    add(path, "pip's " + std::string("nvidia/") + name);
                }
            }
        }
    }

    // Of every python3.x under `lib`.
    void add_wheels_below(const std::string& lib) {
        for (const auto& name : m_files->names_in(lib)) {
            if (name.starts_with("python3")) {
                add_wheels_of(lib + '/' + name + "/site-packages");
                add_wheels_of(lib + '/' + name + "/dist-packages");
            }
        }
    }

    void add_wheels() {
        for (const auto* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
            if (const auto prefix = value_of(*m_environment, name); prefix.starts_with('/')) {
                add_wheels_below(prefix + "/lib");
            }
        }
        add_wheels_of("/usr/lib/python3/dist-packages");
        add_wheels_below("/usr/local/lib");
        if (!m_search->home.empty()) {
            add_wheels_below(m_search->home + "/.local/lib");
        }
    }

    void add_modulefile(const std::string& path) {
        const auto text = m_files->read_file(path, k_modulefile_limit);
        if (!text) {
            return;
        }
        for (const auto& directory : parse_modulefile(*text, path)) {
            add(directory, "module " + path);
        }
    }

    void add_modules() {
        for (const auto& root : directories_of(value_of(*m_environment, "MODULEPATH"))) {
            if (!answers(root)) {
                continue;
            }
            for (const auto& name : m_files->names_in(root)) {
                const auto word = to_lower_ascii(name);
                if (word.find("cuda") == std::string::npos && !word.starts_with("nvhpc")) {
                    continue;
                }
                const auto path = root + '/' + name;
                const auto versions = m_files->list_directory(path);
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

    FileSystem* m_files;
    const Environment* m_environment;
    const ToolkitSearch* m_search;
    std::vector<std::string>* m_notes;
    std::vector<std::string> m_silent;
    std::vector<ToolkitPlace> m_places;
};

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
    return PlaceSearch(files, environment, search, notes).look();
}

} // namespace cudaenv::host
