#include "host/probe/library_search.hpp"

#include "base/ascii.hpp"
#include "base/json_bytes.hpp"
#include "base/text.hpp"
#include "host/environments/cuda_libraries.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace cudaenv::probe {

namespace {

// Requires the CUDA libraries of torch's wheels, and is a few kilobytes long.
constexpr const char* k_torch_needs = "libtorch_global_deps.so";
// By it the loader finds what is asked for by its bare soname.
constexpr const char* k_loader_cache_path = "/etc/ld.so.cache";
// More would not help, and the request is one argument of a command.
constexpr std::size_t k_most_files = 16;

// "libcudart-d0da41ae.so.11.0": what torch's wheels before 1.13 carry; nothing shadows it.
bool is_mangled(std::string_view name, std::string_view library) {
    const std::string begin = std::string(library) + '-';
    if (!name.starts_with(begin)) {
        return false;
    }
    name.remove_prefix(begin.size());
    const auto end = name.find(".so.");
    return end != std::string_view::npos && end >= 6 &&
           std::ranges::all_of(name.substr(0, end),
                               [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

// The major in libcudart.so.11.0; none for libcudnn.so and the like.
std::optional<std::uint32_t> major_of(std::string_view name) {
    const auto at = name.rfind(".so.");
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    const auto version = DottedVersion::parse(name.substr(at + 4));
    return version ? std::optional(version->major()) : std::nullopt;
}

class LibrarySearch {
public:
    LibrarySearch(host::FileSystem& files,
                  const std::optional<facts::EnvironmentFacts>& environment,
                  const std::optional<facts::ToolkitLayout>& toolkit,
                  const std::vector<std::string>& library_path)
        : m_files(files) {
        const auto carried = environment ? carried_major(*environment) : std::nullopt;
        const auto toolkits = toolkit ? runtime_major(toolkit->sonames) : std::nullopt;
        m_cuda = carried ? carried : toolkits;
        add_directories(environment, library_path);
        if (toolkit) {
            add_toolkit(*toolkit, carried && toolkits && *carried != *toolkits);
        }
        add_once(m_looked_at, k_loader_cache_path);
        // The judge weighs what the frameworks were built for.
        for (const facts::FrameworkBuild& framework :
             environment ? environment->frameworks : std::vector<facts::FrameworkBuild>()) {
            add_once(m_looked_at, framework.source);
        }
    }

    // `wanted`: the number that the soname is to begin with, where something says which.
    std::vector<std::string> find(std::string_view library, std::optional<std::uint32_t> wanted,
                                  const std::vector<std::string>& sonames) {
        return find_in(m_directories, library, wanted, sonames);
    }

    // Also where it lies in a toolkit of another CUDA: that it is all there is, and does
    // not fit, is what the probe is to show.
    std::vector<std::string> find_with_foreign(std::string_view library,
                                               std::optional<std::uint32_t> wanted,
                                               const std::vector<std::string>& sonames) {
        std::vector<std::string> directories = m_directories;
        for (const std::string& directory : m_foreign) {
            add_once(directories, directory);
        }
        return find_in(directories, library, wanted, sonames);
    }

    // What a toolkit of another CUDA has of this library; empty: nothing.
    std::string passed_over(std::string_view library) {
        const std::string begin = std::string(library) + ".so.";
        for (const std::string& directory : m_foreign) {
            for (const std::string& name : names_in(directory).sonames) {
                if (name.starts_with(begin) && meet(directory + '/' + name) == Meeting::Taken) {
                    return directory + '/' + name;
                }
            }
        }
        return {};
    }

    [[nodiscard]] const std::vector<std::string>& broken_links() const { return m_broken_links; }
    [[nodiscard]] const std::vector<std::string>& closed() const { return m_closed; }
    [[nodiscard]] const std::vector<std::string>& looked_at() const { return m_looked_at; }

    // CUDA's major: the framework's, the carried runtime's, that of the environment's libraries,
    // the toolkit's.
    [[nodiscard]] std::optional<std::uint32_t> cuda() const { return m_cuda; }

private:
    // What the loader does with a file that it finds.
    enum class Meeting { Taken, PassedOver, ListEnds };

    Meeting meet(const std::string& path, bool fits = true) {
        const auto status = m_files.status(path);
        if (!status) {
            if (fits) {
                add_once(status.error().code == k_permission_denied ? m_closed : m_broken_links,
                         path);
            }
            return status.error().code == k_symlink_loop ? Meeting::ListEnds : Meeting::PassedOver;
        }
        if (status->kind != host::FileKind::Regular) {
            return Meeting::Taken; // it is opened, and that is the end
        }
        const auto head = m_files.read_file(path, k_head_that_tells);
        if (!head && fits && head.error().code == k_permission_denied) {
            add_once(m_closed, path);
        }
        return head && loads_here(*head) ? Meeting::Taken : Meeting::PassedOver;
    }

    std::vector<std::string> find_in(const std::vector<std::string>& directories,
                                     std::string_view library, std::optional<std::uint32_t> wanted,
                                     const std::vector<std::string>& sonames) {
        const std::string begin = std::string(library) + ".so.";
        std::vector<std::string> others;
        std::optional<std::string> fitting;
        bool library_path_ended = false;
        for (const std::string& directory : directories) {
            const bool on_library_path = contains(m_library_path, directory);
            if (library_path_ended && on_library_path) {
                continue;
            }
            const auto& names = names_in(directory);
            for (const std::string& name : names.all) {
                if (is_mangled(name, library) && meet(directory + '/' + name) == Meeting::Taken) {
                    return {directory + '/' + name};
                }
            }
            // The highest of one directory first.
            for (auto name = names.sonames.rbegin(); name != names.sonames.rend(); ++name) {
                const bool fits = !wanted || major_of(*name) == wanted;
                const std::string path = directory + '/' + *name;
                if (!name->starts_with(begin) || (fits && fitting)) {
                    continue;
                }
                const Meeting meeting = meet(path, fits);
                library_path_ended =
                    library_path_ended || (fits && on_library_path && meeting == Meeting::ListEnds);
                if (meeting != Meeting::Taken) {
                    continue;
                }
                if (fits) {
                    fitting = path;
                } else {
                    add_once(others, path);
                }
            }
        }
        if (fitting) {
            return {*fitting}; // ld.so looks no further, even where this one does not load
        }
        std::vector<std::string> found;
        for (const std::string& soname : sonames) {
            if (!wanted || major_of(soname) == wanted) {
                found.push_back(soname);
            }
        }
        found.insert(found.end(), others.begin(), others.end());
        found.resize(std::min(found.size(), k_most_files));
        return found;
    }

    struct Names {
        std::vector<std::string> all;
        std::vector<std::string> sonames; // of CUDA's libraries, sorted
    };

    void add_directories(const std::optional<facts::EnvironmentFacts>& environment,
                         const std::vector<std::string>& library_path) {
        std::vector<std::string> wheels;
        bool before_library_path = false;
        for (const std::string& site :
             environment ? environment->site_packages : std::vector<std::string>()) {
            const std::string torch = site + "/torch/lib";
            m_looked_at.insert(m_looked_at.end(),
                               {torch, torch + '/' + k_torch_needs, site + "/nvidia"});
            if (m_files.exists(torch)) {
                wheels.push_back(torch);
                const auto needs = m_files.read_file(torch + '/' + k_torch_needs);
                before_library_path = before_library_path ||
                                      (needs && search_path_tag(*needs) == SearchPathTag::Rpath);
            }
            for (const std::string& package : m_files.names_in(site + "/nvidia")) {
                const std::string directory = site + "/nvidia/" + package + "/lib";
                add_once(m_looked_at, directory);
                if (m_files.exists(directory)) {
                    wheels.push_back(directory);
                }
            }
        }
        std::vector<std::string> conda;
        if (environment && environment->kind == facts::EnvironmentKind::Conda) {
            conda.push_back(environment->prefix + "/lib");
        }
        const auto take = [this](const std::vector<std::string>& directories) {
            for (const std::string& directory : directories) {
                add_once(m_directories, directory);
                add_once(m_looked_at, directory);
            }
        };
        for (const std::string& directory : library_path) {
            if (!contains(wheels, directory) && !contains(conda, directory)) {
                m_library_path.push_back(directory);
            }
        }
        // conda's packages have DT_RPATH as well.
        if (before_library_path || wheels.empty()) {
            take(wheels);
            take(conda);
            take(library_path);
        } else {
            take(library_path);
            take(wheels);
            take(conda);
        }
    }

    // Where it is another CUDA's than the environment's, it stands in for nothing, unless it is
    // where the environment's loader looks: on LD_LIBRARY_PATH, or the system's (then it is found
    // by its bare soname).
    void add_toolkit(const facts::ToolkitLayout& toolkit, bool foreign) {
        std::vector<std::string> directories{toolkit.library};
        if (toolkit.cudnn) {
            directories.push_back(toolkit.cudnn->library_dir);
        }
        for (const std::string& directory : directories) {
            if (directory.empty() || contains(m_directories, directory)) {
                continue;
            }
            add_once(foreign ? m_foreign : m_directories, directory);
            add_once(m_looked_at, directory);
        }
    }

    // The highest, where there are several.
    static std::optional<std::uint32_t> runtime_major(const std::vector<std::string>& sonames) {
        std::optional<std::uint32_t> highest;
        for (const std::string& soname : sonames) {
            if (soname.starts_with("libcudart.so.")) {
                highest = std::max(highest, major_of(soname));
            }
        }
        return highest;
    }

    static std::optional<std::uint32_t> carried_major(const facts::EnvironmentFacts& environment) {
        for (const facts::FrameworkBuild& framework : environment.frameworks) {
            if (framework.cuda) {
                return framework.cuda->major();
            }
        }
        return environment.runtime ? std::optional(environment.runtime->version.major())
                                   : runtime_major(environment.sonames);
    }

    const Names& names_in(const std::string& directory) {
        const auto [found, added] = m_names.try_emplace(directory);
        if (added) {
            auto names = m_files.names_in(directory);
            auto sonames = environments::cuda_sonames(names);
            found->second = {std::move(names), std::move(sonames)};
        }
        return found->second;
    }

    host::FileSystem& m_files;
    std::vector<std::string> m_directories;
    std::vector<std::string> m_library_path; // those of them that nothing else names
    std::vector<std::string> m_broken_links;
    std::vector<std::string> m_closed;
    std::vector<std::string> m_looked_at;
    std::vector<std::string> m_foreign; // of a toolkit of another CUDA
    std::optional<std::uint32_t> m_cuda;
    std::map<std::string, Names> m_names;
};

std::optional<std::uint32_t>
carried_number(const std::optional<facts::EnvironmentFacts>& environment,
               std::string_view library) {
    const std::string begin = std::string(library) + ".so.";
    for (const std::string& soname :
         environment ? environment->sonames : std::vector<std::string>()) {
        if (soname.starts_with(begin)) {
            return major_of(soname);
        }
    }
    return std::nullopt;
}

} // namespace

ProbeLibraries probe_libraries(host::FileSystem& files,
                               const std::optional<facts::EnvironmentFacts>& environment,
                               const std::optional<facts::ToolkitLayout>& toolkit,
                               const std::vector<std::string>& library_path) {
    LibrarySearch search(files, environment, toolkit, library_path);
    ProbeLibraries libraries;
    using facts::SonameNumber;
    for (const facts::RungRow& rung : facts::k_library_rungs) {
        const std::string_view library = rung.library.file;
        const SonameNumber number = rung.library.number;
        std::vector<std::string> sonames;
        for (const std::string_view released : split(rung.library.numbers, ' ')) {
            sonames.push_back(std::string(library) + ".so." + std::string(released));
        }
        const auto wanted = number == SonameNumber::Cuda      ? search.cuda()
                            : number == SonameNumber::Carried ? carried_number(environment, library)
                                                              : major_of(sonames.front());
        if (facts::is_quick(rung.step)) { // everything rests on it: any CUDA's is better than none
            libraries.files[rung.step] = search.find_with_foreign(library, wanted, sonames);
            continue;
        }
        libraries.files[rung.step] = search.find(library, wanted, sonames);
        if (auto file = search.passed_over(library); !file.empty()) {
            libraries.passed_over.emplace(rung.step, std::move(file));
        }
    }
    libraries.broken_links = search.broken_links();
    libraries.closed = search.closed();
    libraries.looked_at = search.looked_at();
    return libraries;
}

std::string write_probe_request(const ProbeRequest& request) {
    nlohmann::json object = {{"depth", request.depth == ProbeDepth::Full ? "full" : "quick"},
                             {"all_gpus", request.all_gpus}};
    if (request.parent) {
        object["parent"] = *request.parent;
    }
    for (const facts::RungRow& rung : facts::k_library_rungs) {
        object["libraries"][rung.library.word] = bytes_to_json(request.libraries.of(rung.step));
    }
    return object.dump();
}

} // namespace cudaenv::probe
