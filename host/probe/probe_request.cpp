#include "host/probe/probe_request.hpp"

#include "base/ascii.hpp"
#include "host/environments/cuda_libraries.hpp"
#include "host/probe/search_path_tag.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace cudaenv::host {

namespace {

// What wheels of torch lie on: it needs every CUDA library of theirs and is a few kilobytes long.
constexpr const char* k_torch_needs = "libtorch_global_deps.so";
// Beyond these nothing is gained, and the request is one argument of a command.
constexpr std::size_t k_most_files = 16;

// "libcudart-d0da41ae.so.11.0": what torch's wheels before 1.13 carry; nothing shadows it.
bool is_mangled(std::string_view name, std::string_view stem) {
    const std::string begin = "lib" + std::string(stem) + '-';
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
    LibrarySearch(FileSystem& files, const std::optional<facts::EnvironmentFacts>& environment,
                  const std::optional<facts::ToolkitLayout>& toolkit,
                  const std::vector<std::string>& library_path)
        : m_files(files) {
        add_directories(environment, toolkit, library_path);
        m_cuda = wanted_major(environment, toolkit);
    }

    // `wanted`: the number that the soname is to begin with, where something says which.
    std::vector<std::string> find(std::string_view stem, std::optional<std::uint32_t> wanted,
                                  const std::vector<std::string>& sonames) {
        const std::string begin = "lib" + std::string(stem) + ".so.";
        std::vector<std::string> others;
        std::optional<std::string> fitting;
        for (const std::string& directory : m_directories) {
            const auto& names = names_in(directory);
            for (const std::string& name : names.all) {
                if (is_mangled(name, stem)) {
                    return {directory + '/' + name};
                }
            }
            // The highest of one directory first.
            for (auto name = names.sonames.rbegin(); name != names.sonames.rend(); ++name) {
                if (!name->starts_with(begin)) {
                    continue;
                }
                if (wanted && major_of(*name) != wanted) {
                    add(others, directory + '/' + *name);
                } else if (!fitting) {
                    fitting = directory + '/' + *name;
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

    // CUDA's major: the framework's, the carried runtime's, the toolkit's.
    [[nodiscard]] std::optional<std::uint32_t> cuda() const { return m_cuda; }

private:
    struct Names {
        std::vector<std::string> all;
        std::vector<std::string> sonames; // of CUDA's libraries, sorted
    };

    static void add(std::vector<std::string>& list, std::string path) {
        if (std::ranges::find(list, path) == list.end()) {
            list.push_back(std::move(path));
        }
    }

    void add_directories(const std::optional<facts::EnvironmentFacts>& environment,
                         const std::optional<facts::ToolkitLayout>& toolkit,
                         const std::vector<std::string>& library_path) {
        std::vector<std::string> wheels;
        bool before_library_path = false;
        for (const std::string& site :
             environment ? environment->site_packages : std::vector<std::string>()) {
            const std::string torch = site + "/torch/lib";
            if (m_files.exists(torch)) {
                wheels.push_back(torch);
                const auto needs = m_files.read_file(torch + '/' + k_torch_needs);
                before_library_path = before_library_path ||
                                      (needs && search_path_tag(*needs) == SearchPathTag::Rpath);
            }
            const auto packages = m_files.list_directory(site + "/nvidia");
            for (const std::string& package : packages ? *packages : std::vector<std::string>()) {
                if (m_files.exists(site + "/nvidia/" + package + "/lib")) {
                    wheels.push_back(site + "/nvidia/" + package + "/lib");
                }
            }
        }
        std::vector<std::string> conda;
        if (environment && environment->kind == facts::EnvironmentKind::Conda) {
            conda.push_back(environment->prefix + "/lib");
        }
        const auto take = [this](const std::vector<std::string>& directories) {
            for (const std::string& directory : directories) {
                add(m_directories, directory);
            }
        };
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
        if (toolkit && !toolkit->library.empty()) {
            take({toolkit->library});
        }
        if (toolkit && toolkit->cudnn && !toolkit->cudnn->library_dir.empty()) {
            take({toolkit->cudnn->library_dir});
        }
    }

    static std::optional<std::uint32_t>
    wanted_major(const std::optional<facts::EnvironmentFacts>& environment,
                 const std::optional<facts::ToolkitLayout>& toolkit) {
        if (environment) {
            for (const facts::FrameworkBuild& framework : environment->frameworks) {
                if (framework.cuda) {
                    return framework.cuda->major();
                }
            }
            if (environment->runtime) {
                return environment->runtime->version.major();
            }
        }
        for (const std::string& soname : toolkit ? toolkit->sonames : std::vector<std::string>()) {
            if (soname.starts_with("libcudart.so.")) {
                return major_of(soname);
            }
        }
        return std::nullopt;
    }

    const Names& names_in(const std::string& directory) {
        const auto [found, added] = m_names.try_emplace(directory);
        if (added) {
            if (auto names = m_files.list_directory(directory)) {
                found->second = {*names, cuda_sonames(*names)};
            }
        }
        return found->second;
    }

    FileSystem& m_files;
    std::vector<std::string> m_directories;
    std::optional<std::uint32_t> m_cuda;
    std::map<std::string, Names> m_names;
};

// Whose number is not CUDA's: that of the one which the environment carries, since an older one on
// LD_LIBRARY_PATH does not stand in for it.
std::optional<std::uint32_t>
cudnn_major(const std::optional<facts::EnvironmentFacts>& environment) {
    for (const std::string& soname :
         environment ? environment->sonames : std::vector<std::string>()) {
        if (soname.starts_with("libcudnn.so.")) {
            return major_of(soname);
        }
    }
    return std::nullopt;
}

} // namespace

ProbeLibraries probe_libraries(FileSystem& files,
                               const std::optional<facts::EnvironmentFacts>& environment,
                               const std::optional<facts::ToolkitLayout>& toolkit,
                               const std::vector<std::string>& library_path) {
    LibrarySearch search(files, environment, toolkit, library_path);
    // The sonames of every release since 9.0, newest first.
    ProbeLibraries libraries;
    libraries.cudart = search.find("cudart", search.cuda(),
                                   {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0",
                                    "libcudart.so.10.2", "libcudart.so.10.1", "libcudart.so.10.0",
                                    "libcudart.so.9.2", "libcudart.so.9.1", "libcudart.so.9.0"});
    libraries.nvrtc =
        search.find("nvrtc", search.cuda(),
                    {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so.11.1",
                     "libnvrtc.so.11.0", "libnvrtc.so.10.2", "libnvrtc.so.10.1", "libnvrtc.so.10.0",
                     "libnvrtc.so.9.2", "libnvrtc.so.9.1", "libnvrtc.so.9.0"});
    libraries.cublas = search.find("cublas", search.cuda(),
                                   {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                                    "libcublas.so.10", "libcublas.so.10.0", "libcublas.so.9.2",
                                    "libcublas.so.9.1", "libcublas.so.9.0"});
    libraries.cudnn = search.find("cudnn", cudnn_major(environment),
                                  {"libcudnn.so.9", "libcudnn.so.8", "libcudnn.so.7"});
    libraries.nccl = search.find("nccl", 2, {"libnccl.so.2"});
    return libraries;
}

std::string write_probe_request(const ProbeRequest& request) {
    const ProbeLibraries& libraries = request.libraries;
    const nlohmann::json object = {{"depth", request.depth == ProbeDepth::Full ? "full" : "quick"},
                                   {"all_gpus", request.all_gpus},
                                   {"libraries",
                                    {{"cudart", libraries.cudart},
                                     {"nvrtc", libraries.nvrtc},
                                     {"cublas", libraries.cublas},
                                     {"cudnn", libraries.cudnn},
                                     {"nccl", libraries.nccl}}}};
    // A path that is no UTF-8 cannot be asked for; the others still can.
    return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace cudaenv::host
