#include "base/ascii.hpp"
#include "base/text.hpp"
#include "host/environments/cuda_libraries.hpp"
#include "host/environments/environments.hpp"
#include "host/environments/frameworks.hpp"
#include "host/environments/packages.hpp"
#include "host/toolkits.hpp"
#include "solver/specs/requirement.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace cudaenv::environments {

namespace {

// The keys of pyvenv.cfg that matter.
struct VenvConfig {
    std::string home;    // the directory of the Python it was made with
    std::string version; // "3.11.7" of that Python; empty: unknown
    bool system_sites = false;
    bool uv = false;
};

// "3.11" of "3.11.7".
std::string minor_version(std::string_view python) {
    const auto first = python.find('.');
    if (first == std::string_view::npos) {
        return {};
    }
    const auto end = python.find_first_not_of("0123456789", first + 1);
    return std::string(python.substr(0, end));
}

VenvConfig parse_venv_config(std::string_view text) {
    VenvConfig config;
    for (const auto& [name, value] : assignments_in(text)) {
        const auto key = to_lower_ascii(name);
        if (key == "home") {
            config.home = value;
        } else if (key == "version" || key == "version_info") { // venv's; virtualenv's and uv's
            config.version = leading_numbers(value);            // of "3.11.7.final.0"
        } else if (key == "include-system-site-packages") {
            config.system_sites = to_lower_ascii(value) == "true";
        } else if (key == "uv") { // the version of uv that made it
            config.uv = true;
        }
    }
    return config;
}

class EnvironmentReader {
public:
    EnvironmentReader(host::FileSystem& files, const std::string& prefix) : m_files(&files) {
        m_facts.prefix = prefix;
    }

    std::optional<facts::EnvironmentFacts> read() {
        if (!find_kind()) {
            return std::nullopt;
        }
        find_sites();
        auto found = find_frameworks(*m_files, m_packages);
        m_facts.frameworks = std::move(found.frameworks);
        m_facts.watch.insert(m_facts.watch.end(), found.watch.begin(), found.watch.end());
        m_facts.notes.insert(m_facts.notes.end(), found.notes.begin(), found.notes.end());
        find_runtime();
        find_toolkits();
        find_compilers();
        find_cudnn();
        find_sonames();
        return std::move(m_facts);
    }

private:
    [[nodiscard]] std::string in_prefix(std::string_view relative) const {
        return m_facts.prefix + '/' + std::string(relative);
    }
    [[nodiscard]] bool is_conda() const { return m_facts.kind == facts::EnvironmentKind::Conda; }

    void note(const std::string& path, const Error& error) {
        m_facts.notes.push_back(path + " cannot be read: " + host::reason_of(error));
    }

    // Empty where it cannot be listed; what is not there is no complaint.
    const std::vector<std::string>& names_in(const std::string& directory) {
        const auto [found, added] = m_listed.try_emplace(directory);
        if (added) {
            if (auto names = m_files->list_directory(directory)) {
                found->second = std::move(*names);
            } else if (names.error().code != k_not_found) {
                note(directory, names.error());
            }
        }
        return found->second;
    }

    bool find_kind() {
        const auto config_path = in_prefix("pyvenv.cfg");
        const auto meta = in_prefix("conda-meta");
        const auto meta_status = m_files->status(meta);
        const bool conda = meta_status && meta_status->kind == host::FileKind::Directory;
        // A venv in a conda environment's own directory leaves that one conda's.
        const auto config_status = m_files->status(config_path);
        const bool venv = config_status && config_status->kind == host::FileKind::Regular;
        if (!conda && !venv) {
            return false;
        }
        m_facts.kind = conda ? facts::EnvironmentKind::Conda : facts::EnvironmentKind::Venv;
        if (conda) {
            m_facts.watch.push_back(meta);
            for (const auto& name : names_in(meta)) {
                auto record = parse_conda_record(name);
                if (!record) {
                    continue;
                }
                m_facts.installed.push_back({record->name, record->version, true});
                if (matters_for_cuda(record->name)) {
                    record->path = meta + '/' + name;
                    m_packages.conda.push_back(std::move(*record));
                }
            }
            if (const auto* python = m_packages.conda_record("python")) {
                m_facts.python = python->version;
            }
        } else {
            if (const auto text = m_files->read_file(config_path, k_config_limit)) {
                m_config = parse_venv_config(*text);
                m_facts.python = m_config.version;
                m_facts.uv = m_config.uv;
            } else {
                note(config_path, text.error());
            }
        }
        m_python = minor_version(m_facts.python);
        m_facts.watch.push_back(config_path);
        return true;
    }

    // The site-packages of the environment's Python; of every Python that is there where none is on
    // record, or the one on record has none.
    void find_sites() {
        for (const auto* lib : {"lib", "lib64"}) {
            add_sites_below(in_prefix(lib), {"site-packages"}, m_python);
        }
        if (m_packages.sites.empty() && !m_python.empty()) {
            for (const auto* lib : {"lib", "lib64"}) {
                add_sites_below(in_prefix(lib), {"site-packages"}, "");
            }
        }
        for (const auto& site : m_packages.sites) {
            m_facts.site_packages.push_back(site.path);
            m_facts.watch.push_back(site.path);
        }
        if (m_packages.sites.empty()) {
            m_facts.watch.push_back(in_prefix("lib")); // where they will be
        }
        if (!is_conda() && m_config.system_sites && m_config.home.starts_with('/')) {
            const auto own = m_packages.sites.size();
            add_system_sites();
            for (auto i = own; i < m_packages.sites.size(); ++i) {
                m_facts.site_packages.push_back(m_packages.sites[i].path);
                m_facts.watch.push_back(m_packages.sites[i].path);
            }
        }
    }

    // What the Python that a venv was made with sees by itself.
    void add_system_sites() {
        const auto base = std::string(host::parent_path(m_config.home));
        auto python = m_python;
        if (python.empty() && !m_packages.sites.empty()) {
            const auto own = host::parent_path(m_packages.sites.front().path);
            const auto name = host::base_name(own);
            python = name.starts_with("python") ? std::string(name.substr(6)) : std::string();
        }
        if (python.empty()) {
            return;
        }
        // Debian's Python looks into local/ and dist-packages.
        for (const auto* lib : {"local/lib", "lib", "lib64"}) {
            add_sites_below(base + '/' + lib, {"site-packages", "dist-packages"}, python);
        }
        add_site(base + "/lib/python3/dist-packages");
    }

    // `python`: "3.11", or empty for each that is there.
    void add_sites_below(const std::string& lib, const std::vector<const char*>& names,
                         const std::string& python) {
        const auto add = [&](const std::string& directory) {
            for (const auto* name : names) {
                add_site(lib + '/' + directory + '/' + name);
            }
        };
        if (!python.empty()) {
            add("python" + python);
            add("python" + python + 't'); // built without the global lock
            return;
        }
        for (const auto& name : names_in(lib)) {
            if (name.starts_with("python3") || name.starts_with("pypy3")) {
                add(name);
            }
        }
    }

    void add_site(const std::string& path) {
        const auto status = m_files->status(path);
        // lib64 is mostly a link to lib, and conda has python3.1 lead to python3.10.
        if (!status || status->kind != host::FileKind::Directory ||
            !m_seen.emplace(status->device, status->inode).second) {
            return;
        }
        Site site;
        site.path = path;
        site.names = names_in(path);
        for (const auto& name : site.names) {
            if (!name.ends_with(".dist-info")) {
                continue;
            }
            auto info = parse_dist_info(name);
            if (!info) {
                continue;
            }
            m_facts.installed.push_back(
                {specs::normalize_project_name(info->name), info->version, false});
            if (matters_for_cuda(info->name)) {
                info->path = path + '/' + name;
                site.packages.push_back(std::move(*info));
            }
        }
        m_packages.sites.push_back(std::move(site));
    }

    bool take_runtime(const std::string& package, const std::string& version,
                      const std::string& source) {
        auto parsed = DottedVersion::parse(version);
        if (!parsed || parsed->major() == 0) {
            return false; // PyPI's placeholders, 0.0.1
        }
        m_facts.runtime = facts::CarriedRuntime{package, std::move(*parsed), source};
        return true;
    }

    // The package that is the runtime before the one that only names its release.
    void find_runtime() {
        for (const auto* name : {"cudatoolkit", "cuda-cudart"}) {
            const auto* record = m_packages.conda_record(name);
            if (record != nullptr && take_runtime(record->name, record->version, record->path)) {
                return;
            }
        }
        if (take_runtime_of_pip()) {
            return;
        }
        if (const auto* record = m_packages.conda_record("cuda-version")) {
            take_runtime(record->name, record->version, record->path);
        }
    }

    // nvidia-cuda-runtime-cu11, -cu12, nvidia-cuda-runtime (13): of several that of the major which
    // the framework was built with, else the newest.
    bool take_runtime_of_pip() {
        std::optional<std::uint32_t> wanted;
        if (!m_facts.frameworks.empty() && m_facts.frameworks.front().cuda) {
            wanted = m_facts.frameworks.front().cuda->major();
        }
        const DistInfo* best = nullptr;
        std::optional<DottedVersion> best_version;
        for (const auto& site : m_packages.sites) {
            for (const auto& package : site.packages) {
                if (!package.name.starts_with("nvidia_cuda_runtime")) {
                    continue;
                }
                const auto version = DottedVersion::parse(package.version);
                if (!version || version->major() == 0) {
                    continue;
                }
                const auto fits = [&](const DottedVersion& of) {
                    return wanted && of.major() == *wanted;
                };
                if (best == nullptr || std::pair(fits(*version), *version) >
                                           std::pair(fits(*best_version), *best_version)) {
                    best = &package;
                    best_version = *version;
                }
            }
        }
        if (best == nullptr) {
            return false;
        }
        auto name = best->name;
        std::ranges::replace(name, '_', '-');
        return take_runtime(name, best->version, best->path);
    }

    void find_toolkits() {
        if (is_conda()) {
            add_conda_toolkit();
        }
        for (const auto& site : m_packages.sites) {
            if (!site.has("nvidia")) {
                continue;
            }
            const auto nvidia = site.path + "/nvidia";
            for (const auto& name : names_in(nvidia)) {
                // cu13 and its successors; cuda_nvcc is that of 11 and 12, which has had no nvcc.
                const bool unified = name.starts_with("cu") && name.size() > 2 && is_digit(name[2]);
                if ((unified || name == "cuda_nvcc") &&
                    m_files->exists(nvidia + '/' + name + "/bin/nvcc")) {
                    add_toolkit(nvidia + '/' + name, "pip's nvidia/" + name);
                }
            }
        }
    }

    void add_conda_toolkit() {
        const auto nvcc = in_prefix("bin/nvcc");
        if (!m_files->exists(nvcc)) {
            return;
        }
        const bool recorded = std::ranges::any_of(m_packages.conda, [](const auto& record) {
            return record.name.starts_with("cuda-nvcc") || record.name == "cudatoolkit-dev";
        });
        const auto real = m_files->real_path(nvcc);
        const auto home = m_files->real_path(m_facts.prefix);
        if (!recorded && !(real && home && real->starts_with(*home + '/'))) {
            m_facts.notes.push_back(nvcc + " leads out of the environment" +
                                    (real ? ", to " + *real : std::string()) +
                                    ": it does not count as its toolkit");
            return;
        }
        add_toolkit(m_facts.prefix, "conda environment " + m_facts.prefix);
    }

    void add_toolkit(const std::string& path, const std::string& source) {
        const auto real = m_files->real_path(path);
        if (!real) {
            note(path, real.error());
            return;
        }
        host::NoProcesses processes;
        host::VersionCache cache("", 0);
        const host::Environment environment;
        const host::VersionAsker asker{processes, cache, environment};
        auto toolkit = host::inspect_toolkit(*m_files, *real, m_machine, asker);
        toolkit.source = source;
        if (path != *real) {
            toolkit.aliases.push_back(path);
        }
        m_facts.toolkits.push_back(std::move(toolkit));
    }

    // conda's compilers carry their target in their names; the version is on record, or the name of
    // the directory in which the compiler keeps its parts.
    void find_compilers() {
        if (!is_conda()) {
            return;
        }
        const auto subdir = m_machine == "x86_64" ? "linux-64" : "linux-" + m_machine;
        for (const auto* kind : {"conda", "conda_cos6", "conda_cos7"}) {
            const auto target = m_machine + '-' + kind + "-linux-gnu";
            add_compiler(facts::CompilerFamily::Gcc, target, {"g++", "c++"},
                         {"gxx_impl_" + subdir});
            add_compiler(facts::CompilerFamily::Clang, target, {"clang++"},
                         {"clangxx_impl_" + subdir, "clangxx"});
        }
    }

    void add_compiler(facts::CompilerFamily family, const std::string& target,
                      std::initializer_list<const char*> drivers,
                      const std::vector<std::string>& packages) {
        for (const auto* driver : drivers) {
            const auto path = in_prefix("bin/" + target + '-' + driver);
            const auto status = m_files->status(path);
            if (!status || status->kind != host::FileKind::Regular || !status->executable) {
                continue;
            }
            facts::Compiler compiler;
            compiler.family = family;
            compiler.path = path;
            for (const auto& name : packages) {
                const auto* record = m_packages.conda_record(name);
                auto version = record == nullptr ? bad_input("none", "")
                                                 : DottedVersion::parse(record->version);
                if (version) {
                    compiler.version = std::move(*version);
                    compiler.source = record->path;
                    break;
                }
            }
            if (compiler.version.empty() && family == facts::CompilerFamily::Gcc) {
                const auto parts = in_prefix("lib/gcc/" + target);
                for (const auto& name : names_in(parts)) {
                    auto version = DottedVersion::parse(name);
                    if (version && *version > compiler.version) {
                        compiler.version = std::move(*version);
                        compiler.source = parts + '/' + name;
                    }
                }
            }
            if (compiler.version.empty()) {
                m_facts.notes.push_back(path + " is not counted: no record has its version");
                return;
            }
            m_facts.compilers.push_back(std::move(compiler));
            return;
        }
    }

    // The one of the framework's own kind first: conda's for conda's torch, else the wheels'.
    void find_cudnn() {
        const auto by_conda = [this]() -> std::optional<facts::CudnnPlace> {
            if (!is_conda()) {
                return std::nullopt;
            }
            std::vector<std::string> includes = {"include"};
            std::vector<std::string> libraries = {"lib"};
            for (const auto& target : target_directories(m_machine)) {
                includes.push_back(target + "/include");
                libraries.push_back(target + "/lib");
            }
            return cudnn_at(*m_files, m_facts.prefix, includes, libraries);
        };
        const auto by_pip = [this]() -> std::optional<facts::CudnnPlace> {
            for (const auto& site : m_packages.sites) {
                if (site.has("nvidia")) {
                    if (auto place =
                            cudnn_at(*m_files, site.path + "/nvidia/cudnn", {"include"}, {"lib"})) {
                        return place;
                    }
                }
            }
            return std::nullopt;
        };
        const bool conda_framework = m_packages.conda_record("pytorch") != nullptr ||
                                     m_packages.conda_record("tensorflow-base") != nullptr;
        m_facts.cudnn = conda_framework ? by_conda() : by_pip();
        if (!m_facts.cudnn) {
            m_facts.cudnn = conda_framework ? by_pip() : by_conda();
        }
    }

    void find_sonames() {
        std::set<std::string> found;
        const auto take = [&](const std::string& directory) {
            for (auto& name : cuda_sonames(names_in(directory))) {
                found.insert(std::move(name));
            }
        };
        if (is_conda()) {
            take(in_prefix("lib"));
        }
        for (const auto& site : m_packages.sites) {
            if (site.has("nvidia")) {
                const auto nvidia = site.path + "/nvidia";
                for (const auto& name : names_in(nvidia)) {
                    if (name.find('.') == std::string::npos && !name.starts_with("__")) {
                        take(nvidia + '/' + name + "/lib");
                    }
                }
            }
            for (const auto* package : {"torch", "cusparselt", "cutensor"}) {
                if (site.has(package)) {
                    take(site.path + '/' + package + "/lib");
                }
            }
        }
        m_facts.sonames.assign(found.begin(), found.end());
    }

    static constexpr std::size_t k_config_limit = std::size_t{64} * 1024;

    host::FileSystem* m_files;
    facts::EnvironmentFacts m_facts;
    std::string m_machine = machine_name();
    VenvConfig m_config;
    std::string m_python; // "3.11"
    Packages m_packages;
    std::set<std::pair<std::uint64_t, std::uint64_t>> m_seen; // device, inode of sites
    std::map<std::string, std::vector<std::string>> m_listed;
};

} // namespace

std::optional<facts::EnvironmentFacts> read_environment(host::FileSystem& files,
                                                        const std::string& prefix) {
    const std::string trimmed(without_end_slashes(prefix));
    if (!trimmed.starts_with('/') || trimmed.size() == 1) {
        return std::nullopt;
    }
    return EnvironmentReader(files, trimmed).read();
}

} // namespace cudaenv::environments
