#include "host/file_system.hpp"
#include "host/package_names.hpp"
#include "host/toolkit_text.hpp"
#include "host/toolkits.hpp"
#include "solver/knowledge/knowledge.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace cudaenv::host {

namespace {

struct InstalledPackage {
    std::string version;
    std::string path; // of the metadata
};

using InstalledPackages = std::map<std::string, InstalledPackage>; // by name, as written

// dist-info inside the toolkit or beside pip's `nvidia`, conda-meta of the environment it is.
InstalledPackages packages_around(FileSystem& files, const std::string& toolkit);

InstalledPackages packages_around(FileSystem& files, const std::string& toolkit) {
    std::vector<std::string> directories = {toolkit + "/dist-info", toolkit + "/conda-meta"};
    const auto parent = parent_path(toolkit);
    if (base_name(parent) == "nvidia") {
        directories.emplace_back(parent_path(parent));
    }
    InstalledPackages packages;
    for (const auto& directory : directories) {
        for (const auto& name : files.names_in(directory)) {
            const std::string path = directory + '/' + name;
            if (const auto wheel = parse_dist_info(name)) {
                packages.try_emplace(wheel->name, InstalledPackage{wheel->version, path});
            } else if (const auto record = parse_conda_record(name)) {
                packages.try_emplace(record->name, InstalledPackage{record->version, path});
            }
        }
    }
    return packages;
}

constexpr const char* k_debian = "/usr/lib/nvidia-cuda-toolkit";
// The defines that are read stand in the first tenth of their headers.
constexpr std::size_t k_header_limit = std::size_t{64} * 1024;

struct Library {
    std::optional<DottedVersion> version;
    std::string source;
    std::string absent;
};

class Inspection {
public:
    Inspection(FileSystem& files, const std::string& path, const std::string& machine,
               const VersionAsker& asker)
        : m_files(&files), m_asker(&asker), m_path(path), m_machine(machine) {
        m_toolkit.path = path;
        const std::vector<std::string> targets =
            machine == "aarch64" ? std::vector<std::string>{"sbsa-linux", "aarch64-linux"}
                                 : std::vector<std::string>{machine + "-linux"};
        m_includes.push_back(path + "/include");
        m_libraries = {path + "/lib64", path + "/lib"};
        for (const auto& target : targets) {
            m_includes.push_back(path + "/targets/" + target + "/include");
            m_libraries.push_back(path + "/targets/" + target + "/lib");
        }
        const auto multiarch = machine + "-linux-gnu";
        if (path == k_debian || path == "/usr/lib/cuda" || path == "/usr") {
            m_includes.emplace_back("/usr/include");
            m_includes.push_back("/usr/include/" + multiarch);
            m_libraries.push_back("/usr/lib/" + multiarch);
        }
    }

    facts::Toolkit look() {
        if (!look_at_nvcc()) {
            return std::move(m_toolkit);
        }
        find_version();
        if (!m_toolkit.version && !m_toolkit.nvcc) {
            m_toolkit.problem =
                m_denied.empty()
                    ? "contains neither nvcc nor CUDA's headers; left over from an uninstall?"
                    : m_denied;
            return std::move(m_toolkit);
        }
        if (!m_toolkit.version) {
            m_toolkit.problem = "its version is unknown (" + m_toolkit.absent["version"] + ')';
        }
        find_compiler_bounds();
        find_library("cudnn", {"/cudnn_version.h", "/cudnn.h"}, parse_cudnn_header, m_toolkit.cudnn,
                     m_toolkit.cudnn_library);
        if (!m_toolkit.cudnn && !m_toolkit.cudnn_library && is_of_the_system()) {
            take_system_cudnn();
        }
        find_library("nccl", {"/nccl.h"}, parse_nccl_header, m_toolkit.nccl,
                     m_toolkit.nccl_library);
        return std::move(m_toolkit);
    }

private:
    // False: there is nothing more to see.
    bool look_at_nvcc() {
        const auto root = m_files->status(m_path);
        if (!root || root->kind != FileKind::Directory) {
            m_toolkit.problem = root ? "is not a directory" : reason_of(root.error());
            return false;
        }
        const auto nvcc = m_path + "/bin/nvcc";
        const auto status = m_files->status(nvcc);
        if (!status) {
            m_toolkit.absent["nvcc"] = nvcc + ": " + reason_of(status.error());
            note_denied(nvcc, status.error());
        } else if (status->kind != FileKind::Regular || !status->executable) {
            m_toolkit.problem = "bin/nvcc is not executable";
        } else {
            m_toolkit.nvcc = true;
            m_nvcc = *status;
            m_toolkit.sources["nvcc"] = nvcc;
        }
        return true;
    }

    void note_denied(const std::string& path, const Error& error) {
        if (error.code == k_permission_denied && m_denied.empty()) {
            m_denied = "permission denied: " + path;
        }
    }

    std::optional<std::string> read(const std::string& path, std::size_t limit = k_header_limit) {
        auto text = m_files->read_file(path, limit);
        if (!text) {
            note_denied(path, text.error());
            return std::nullopt;
        }
        return std::move(*text);
    }

    bool take_version(std::optional<DottedVersion> version, const std::string& source) {
        if (!version) {
            return false;
        }
        m_toolkit.version = std::move(version);
        m_toolkit.sources["version"] = source;
        return true;
    }

    // version.json, version.txt, headers made exact by package names, package names, nvcc itself.
    void find_version() {
        if (const auto text = read(m_path + "/version.json")) {
            if (take_version(parse_version_json(*text), m_path + "/version.json")) {
                return;
            }
        }
        if (const auto text = read(m_path + "/version.txt")) {
            if (take_version(parse_version_txt(*text), m_path + "/version.txt")) {
                return;
            }
        }
        const auto [header, header_source] = version_in_headers();
        for (const auto* package : {"nvidia_cuda_nvcc", "cuda-nvcc-tools", "cuda-nvcc"}) {
            auto [version, source] = version_of_package(package);
            if (version && (!header || version->begins_with(*header))) {
                take_version(std::move(version),
                             header ? header_source + " and " + source : source);
                return;
            }
        }
        if (take_version(header, header_source)) {
            return;
        }
        if (m_toolkit.nvcc) {
            const auto nvcc = m_path + "/bin/nvcc";
            const auto answer =
                m_asker->ask({VersionQuestion{nvcc,
                                              {"--version"},
                                              [](const std::string& text) {
                                                  const auto version = parse_nvcc_version(text);
                                                  return version ? version->str() : std::string();
                                              },
                                              m_nvcc}});
            auto version = DottedVersion::parse(answer.front().version);
            if (version) {
                take_version(std::move(*version), nvcc + " --version");
                return;
            }
            m_toolkit.absent["version"] = nvcc + " --version: " + answer.front().reason;
            return;
        }
        m_toolkit.absent["version"] =
            m_denied.empty() ? "no version.json, version.txt, cuda.h or package name" : m_denied;
    }

    std::pair<std::optional<DottedVersion>, std::string> version_in_headers() {
        for (const auto& include : m_includes) {
            for (const auto& [file, macro] : {std::pair("/cuda_runtime_api.h", "CUDART_VERSION"),
                                              std::pair("/cuda.h", "CUDA_VERSION")}) {
                if (const auto text = read(include + file)) {
                    if (auto version = parse_cuda_define(*text, macro)) {
                        return {std::move(version), include + file};
                    }
                }
            }
        }
        return {std::nullopt, {}};
    }

    const InstalledPackages& packages() {
        if (!m_packages) {
            m_packages = packages_around(*m_files, m_path);
        }
        return *m_packages;
    }

    std::pair<std::optional<DottedVersion>, std::string>
    version_of_package(const std::string& name) {
        const auto found = packages().find(name);
        if (found == packages().end()) {
            return {std::nullopt, {}};
        }
        auto version = DottedVersion::parse(found->second.version);
        return version ? std::pair(std::optional(std::move(*version)), found->second.path)
                       : std::pair(std::optional<DottedVersion>(), std::string());
    }

    void find_compiler_bounds() {
        std::optional<CompilerBounds> bounds;
        std::string source;
        for (const auto& include : m_includes) {
            for (const auto* file : {"/crt/host_config.h", "/host_config.h"}) {
                if (bounds) {
                    break;
                }
                if (const auto text = read(include + file)) {
                    bounds = parse_host_config(*text);
                    source = include + file;
                }
            }
        }
        const auto table = m_toolkit.version ? knowledge::compilers_of_toolkit(DottedVersion::of(
                                                   m_toolkit.version->major_minor()))
                                             : std::nullopt;
        const auto take = [&](const char* name, std::optional<int> own, std::optional<int> known,
                              std::optional<int>& into) {
            if (own) {
                into = own;
                m_toolkit.sources[name] = source;
            } else if (known) {
                into = known;
                m_toolkit.sources[name] = "table: " + table->source;
            } else {
                m_toolkit.absent[name] =
                    bounds ? source + " sets none, nor does the table"
                           : "no readable crt/host_config.h, and no row in the table";
            }
        };
        const auto own = bounds.value_or(CompilerBounds{});
        const auto known = table.value_or(knowledge::CompilerRange{});
        take("gcc_min", own.gcc_min, known.gcc_min, m_toolkit.gcc_min);
        take("gcc_max", own.gcc_max, known.gcc_max, m_toolkit.gcc_max);
        take("clang_min", own.clang_min, known.clang_min, m_toolkit.clang_min);
        take("clang_max", own.clang_max, known.clang_max, m_toolkit.clang_max);
    }

    using HeaderParser = std::optional<DottedVersion> (*)(std::string_view);

    void find_library(const std::string& name, const std::vector<const char*>& headers,
                      HeaderParser parse, std::optional<DottedVersion>& header,
                      std::optional<DottedVersion>& library) {
        for (const auto& include : m_includes) {
            for (const auto* file : headers) {
                if (header) {
                    break;
                }
                if (const auto text = read(include + file)) {
                    header = parse(*text);
                    m_toolkit.sources[name] = include + file;
                }
            }
        }
        if (!header) {
            m_toolkit.sources.erase(name);
            m_toolkit.absent[name] =
                "no " + std::string(headers.front() + 1) + " in " + m_includes.front();
        }
        auto found = real_library("lib" + name);
        library = found.version;
        const auto key = name + "_library";
        if (library) {
            m_toolkit.sources[key] = found.source;
        } else {
            m_toolkit.absent[key] = found.absent;
        }
        if (header && library && !same_release(*header, *library)) {
            m_toolkit.warnings.push_back(m_toolkit.sources[name] + " is " + name + ' ' +
                                         header->str() + ", but " + found.source + " is " +
                                         library->str() +
                                         ": programs compiled here load another version");
        }
    }

    // Compilers and the loader find the system's headers and libraries for these too; a conda
    // environment's or a wheel's toolkit lives apart.
    [[nodiscard]] bool is_of_the_system() const {
        return m_path.starts_with("/usr/local/cuda") || m_path.starts_with("/opt/cuda");
    }

    // cuDNN as the distribution's packages install it. Which CUDA it was built for is in no file of
    // its own, so it counts only where the table does not say that it is for others.
    void take_system_cudnn() {
        Inspection system(*m_files, "/usr", m_machine, *m_asker);
        system.find_library("cudnn", {"/cudnn_version.h", "/cudnn.h"}, parse_cudnn_header,
                            system.m_toolkit.cudnn, system.m_toolkit.cudnn_library);
        auto& found = system.m_toolkit;
        if (!found.cudnn && !found.cudnn_library) {
            return;
        }
        const auto& version = found.cudnn ? *found.cudnn : *found.cudnn_library;
        if (!cudnn_serves(version, m_toolkit.version)) {
            m_toolkit.absent["cudnn"] +=
                "; the system's cuDNN " + version.str() + " is for other releases of CUDA";
            return;
        }
        m_toolkit.cudnn = found.cudnn;
        m_toolkit.cudnn_library = found.cudnn_library;
        for (const auto* key : {"cudnn", "cudnn_library"}) {
            m_toolkit.absent.erase(key);
            if (const auto source = found.sources.find(key); source != found.sources.end()) {
                m_toolkit.sources[key] = source->second;
            } else {
                m_toolkit.absent[key] = found.absent[key];
            }
        }
        m_toolkit.warnings.insert(m_toolkit.warnings.end(), found.warnings.begin(),
                                  found.warnings.end());
    }

    static bool same_release(const DottedVersion& a, const DottedVersion& b) {
        const std::size_t parts = std::min({a.parts().size(), b.parts().size(), std::size_t{3}});
        for (std::size_t i = 0; i < parts; ++i) {
            if (a.part(i) != b.part(i)) {
                return false;
            }
        }
        return true;
    }

    // The version in the name of the file that `library`.so leads to. Wheels name theirs only by
    // major; there the wheel's own version stands in.
    Library real_library(const std::string& library) {
        Library result;
        result.absent = "no " + library + ".so in " + m_path + "'s library directories";
        for (const auto& directory : m_libraries) {
            const auto link = library_link(directory, library);
            if (link.empty()) {
                continue;
            }
            const auto real = m_files->real_path(directory + '/' + link);
            if (!real) {
                result.absent = directory + '/' + link + ": " + reason_of(real.error());
                continue;
            }
            const auto version = parse_library_name(base_name(*real), library);
            if (version && version->parts().size() > 1) {
                return {version, *real, {}};
            }
            for (const auto& [package, wheel] : packages()) {
                // nvidia_cudnn_cu13, nvidia_nccl_cu13
                if (package.starts_with("nvidia_" + library.substr(3) + "_cu")) {
                    auto of_wheel = DottedVersion::parse(wheel.version);
                    if (of_wheel) {
                        return {std::move(*of_wheel), *real + " of " + wheel.path, {}};
                    }
                }
            }
            result.absent = *real + " does not have its version in its name";
        }
        return result;
    }

    // libX.so, else the libX.so.N of the highest N; empty without one.
    std::string library_link(const std::string& directory, const std::string& library) {
        std::string best;
        DottedVersion best_version;
        for (const auto& name : names_in(directory)) {
            if (name == library + ".so") {
                return name;
            }
            const auto version = parse_library_name(name, library);
            if (version && (best.empty() || *version > best_version)) {
                best = name;
                best_version = *version;
            }
        }
        return best;
    }

    const std::vector<std::string>& names_in(const std::string& directory) {
        const auto [found, added] = m_listed.try_emplace(directory);
        if (added) {
            if (auto names = m_files->list_directory(directory)) {
                found->second = std::move(*names);
            } else {
                note_denied(directory, names.error());
            }
        }
        return found->second;
    }

    FileSystem* m_files;
    const VersionAsker* m_asker;
    std::string m_path;
    std::string m_machine;
    std::vector<std::string> m_includes;
    std::vector<std::string> m_libraries;
    facts::Toolkit m_toolkit;
    FileStatus m_nvcc;
    std::string m_denied;                        // first thing that may not be read
    std::optional<InstalledPackages> m_packages; // read when first needed
    std::map<std::string, std::vector<std::string>> m_listed;
};

} // namespace

bool cudnn_serves(const DottedVersion& cudnn, const std::optional<DottedVersion>& cuda) {
    bool known = false;
    for (const auto& release : knowledge::cudnn_releases()) {
        if (release.cudnn.major_minor() != cudnn.major_minor() || release.cudas.empty()) {
            continue;
        }
        known = true;
        for (const auto& served : release.cudas) {
            if (cuda && cuda->begins_with(served)) {
                return true;
            }
        }
    }
    return !known;
}

facts::Toolkit inspect_toolkit(FileSystem& files, const std::string& path,
                               const std::string& machine, const VersionAsker& asker) {
    return Inspection(files, path, machine, asker).look();
}

} // namespace cudaenv::host
