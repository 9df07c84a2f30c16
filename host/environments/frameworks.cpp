#include "host/environments/frameworks.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "solver/specs/cuda_label.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace cudaenv::host {

namespace {

constexpr std::size_t k_text_limit = std::size_t{64} * 1024;
// conda writes a record's keys sorted, so that the dependencies come before the long lists of
// files.
constexpr std::size_t k_record_limit = std::size_t{32} * 1024;

std::optional<DottedVersion> major_minor_of(std::string_view text) {
    const auto parsed = DottedVersion::parse(trim(text));
    return parsed ? std::optional(DottedVersion::of(parsed->major_minor())) : std::nullopt;
}

// The text between the first pair of quotes of either kind.
std::optional<std::string_view> quoted(std::string_view text) {
    const auto begin = text.find_first_of("'\"");
    if (begin == std::string_view::npos) {
        return std::nullopt;
    }
    const auto end = text.find(text[begin], begin + 1);
    return end == std::string_view::npos ? std::nullopt
                                         : std::optional(text.substr(begin + 1, end - begin - 1));
}

// What a module assigns to `name` at the beginning of a line: `cuda: Optional[str] = '12.8'`.
std::optional<std::string_view> assigned(std::string_view module, std::string_view name) {
    std::optional<std::string_view> value; // the last one counts
    for (const auto line : split(module, '\n')) {
        const auto rest = line.starts_with(name) ? line.substr(name.size()) : std::string_view();
        const auto equals = rest.find('=');
        if (equals != std::string_view::npos &&
            (rest.front() == ' ' || rest.front() == ':' || rest.front() == '=')) {
            value = trim(rest.substr(equals + 1));
        }
    }
    return value;
}

// "cu118", "cpu", "rocm5.6", "cuda12.cudnn89": the local part of a version.
ToldCuda told_by_label(std::string_view version) {
    ToldCuda told;
    told.version = version;
    const auto plus = version.find('+');
    if (plus == std::string_view::npos) {
        return told;
    }
    const auto label = version.substr(plus + 1);
    told.cuda = specs::cuda_in(label);
    told.cpu = !told.cuda &&
               (label.starts_with("cpu") || label.starts_with("rocm") || label.starts_with("xpu"));
    return told;
}

ToldCuda told_by_build(const CondaRecord& record) {
    ToldCuda told;
    told.version = record.version;
    told.cuda = specs::cuda_in(record.build);
    const auto has = [&](std::string_view word) {
        return record.build.starts_with(word) ||
               record.build.find('_' + std::string(word)) != std::string::npos;
    };
    // Builds of tensorflow that are called after their CPU library.
    const bool plain = record.name.starts_with("tensorflow") && (has("mkl") || has("eigen"));
    told.cpu = !told.cuda && (has("cpu") || plain);
    return told;
}

bool is_known(const ToldCuda& told) {
    return told.cuda || told.cpu;
}

class Search {
public:
    Search(FileSystem& files, const Packages& packages) : m_files(&files), m_packages(&packages) {}

    FrameworkFindings look() {
        find_torch();
        find_tensorflow();
        find_jaxlib();
        find_cupy();
        return std::move(m_found);
    }

private:
    void add(const char* name, ToldCuda told, std::string source) {
        m_found.frameworks.push_back(
            {name, std::move(told.version), std::move(told.cuda), told.cpu, std::move(source)});
    }

    // As `read` finds it in the file; where that does not tell, by what is on record.
    template <typename Parse>
    bool add_by_module(const char* name, const std::string& path, Parse parse,
                       const std::string& version) {
        const auto text = m_files->read_file(path, k_text_limit);
        if (!text) {
            if (text.error().code != k_not_found) {
                m_found.notes.push_back(path + " cannot be read: " + reason_of(text.error()));
            }
            return false;
        }
        auto told = parse(*text);
        if (!told) {
            m_found.notes.push_back(path + " does not tell of CUDA");
            return false;
        }
        if (told->version.empty()) {
            told->version = version;
        }
        add(name, std::move(*told), path);
        return true;
    }

    // conda's record of what is there now: pip may have put another version over it.
    const CondaRecord* conda_record(std::initializer_list<const char*> names,
                                    const DistInfo* info) {
        for (const auto* name : names) {
            const auto* record = m_packages->conda_record(name);
            if (record != nullptr && (info == nullptr || info->version == record->version)) {
                return record;
            }
        }
        return nullptr;
    }

    bool add_by_conda(const char* name, const CondaRecord* record) {
        if (record == nullptr) {
            return false;
        }
        auto told = told_by_build(*record);
        if (!is_known(told)) {
            if (const auto text = m_files->read_file(record->path, k_record_limit)) {
                told.cuda = cuda_of_dependencies(*text);
            } else {
                m_found.notes.push_back(record->path +
                                        " cannot be read: " + reason_of(text.error()));
            }
        }
        add(name, std::move(told), record->path);
        return true;
    }

    void find_torch() {
        const auto* info = m_packages->dist_info("torch");
        const auto version = info == nullptr ? std::string() : info->version;
        for (const auto& site : m_packages->sites) {
            const auto package = site.path + "/torch";
            if (!site.has("torch")) {
                continue;
            }
            if (m_files->read_link(package)) {
                m_found.watch.push_back(package + "/version.py");
            }
            if (add_by_module("torch", package + "/version.py", parse_torch_version, version)) {
                return;
            }
        }
        if (const auto source = editable("torch", info); !source.empty()) {
            const auto path = source + "/version.py"; // written by the build
            m_found.watch.push_back(path);
            if (add_by_module("torch", path, parse_torch_version, version)) {
                return;
            }
            m_found.notes.push_back("torch is installed from " + source +
                                    ", where no build has written version.py");
        }
        const auto* record = conda_record({"pytorch"}, info);
        if (add_by_conda("torch", record)) {
            return;
        }
        if (info != nullptr) {
            add("torch", told_by_label(info->version), info->path);
        }
    }

    // Where `package` lies when it is installed in place: the directory with its __init__.py.
    std::string editable(const std::string& package, const DistInfo* info) {
        if (info != nullptr) {
            if (const auto text =
                    m_files->read_file(info->path + "/direct_url.json", k_text_limit)) {
                if (const auto root = parse_direct_url(*text); !root.empty()) {
                    return in_tree(root, package);
                }
            }
        }
        for (const auto& site : m_packages->sites) {
            const auto egg_link = package + ".egg-link";
            if (site.has(egg_link)) {
                if (const auto text = m_files->read_file(site.path + '/' + egg_link, 4096)) {
                    const auto root = trim(split(*text, '\n').front());
                    if (root.starts_with('/')) {
                        return in_tree(std::string(root), package);
                    }
                }
            }
            const auto from =
                std::lower_bound(site.names.begin(), site.names.end(), "__editable__");
            for (auto at = from; at != site.names.end() && at->starts_with("__editable__"); ++at) {
                if (auto found = editable_by(site.path + '/' + *at, *at, package); !found.empty()) {
                    return found;
                }
            }
        }
        return {};
    }

    // __editable__.torch-2.3.0.pth or __editable___torch_2_3_0_finder.py.
    std::string editable_by(const std::string& path, const std::string& name,
                            const std::string& package) {
        const bool is_pth = name.starts_with("__editable__." + package + '-');
        if (!is_pth && !name.starts_with("__editable___" + package + '_')) {
            return {};
        }
        const auto text = m_files->read_file(path, k_text_limit);
        if (!text) {
            m_found.notes.push_back(path + " cannot be read: " + reason_of(text.error()));
            return {};
        }
        if (!is_pth) {
            return parse_editable_finder(*text, package);
        }
        for (const auto line : split(*text, '\n')) {
            if (const auto root = trim(line); root.starts_with('/')) {
                return in_tree(std::string(root), package);
            }
        }
        return {};
    }

    std::string in_tree(const std::string& root, const std::string& package) {
        const auto below_src = root + "/src/" + package;
        return m_files->exists(below_src) ? below_src : root + '/' + package;
    }

    void find_tensorflow() {
        const DistInfo* info = nullptr;
        for (const auto* name : {"tensorflow", "tensorflow_gpu", "tensorflow_cpu", "tf_nightly"}) {
            info = info == nullptr ? m_packages->dist_info(name) : info;
        }
        const auto* record =
            conda_record({"tensorflow-base", "tensorflow", "tensorflow-gpu"}, info);
        const auto version = info != nullptr     ? info->version
                             : record != nullptr ? record->version
                                                 : std::string();
        for (const auto& site : m_packages->sites) {
            if (site.has("tensorflow") &&
                add_by_module("tensorflow", site.path + "/tensorflow/python/platform/build_info.py",
                              parse_tensorflow_build, version)) {
                return;
            }
        }
        if (add_by_conda("tensorflow", record)) {
            return;
        }
        if (info != nullptr) {
            auto told = told_by_label(info->version);
            told.cpu = told.cpu || info->name == "tensorflow_cpu";
            add("tensorflow", std::move(told), info->path);
        }
    }

    void find_jaxlib() {
        const auto* info = m_packages->dist_info("jaxlib");
        const auto* record = conda_record({"jaxlib"}, info);
        if (record != nullptr && is_known(told_by_build(*record))) {
            // conda's CPU build with a plugin of pip's beside it is decided by the plugin.
            if (!told_by_build(*record).cpu || !add_by_jax_plugin(record->version)) {
                add_by_conda("jaxlib", record);
            }
            return;
        }
        if (info == nullptr && record == nullptr) {
            return;
        }
        const auto& version = info != nullptr ? info->version : record->version;
        if (add_by_jax_plugin(version) || add_by_conda("jaxlib", record)) {
            return;
        }
        auto told = told_by_label(version);
        told.cpu = !told.cuda; // PyPI's wheel without a label or plugin
        add("jaxlib", std::move(told), info->path);
    }

    // jax_cuda12_plugin: built for a major, not for one release.
    bool add_by_jax_plugin(const std::string& version) {
        const DistInfo* newest = nullptr;
        std::optional<DottedVersion> cuda;
        for (const auto& site : m_packages->sites) {
            for (const auto& package : site.packages) {
                if (!package.name.starts_with("jax_cuda") || !package.name.ends_with("_plugin")) {
                    continue;
                }
                auto of = specs::cuda_in(std::string_view(package.name).substr(4));
                if (of && (!cuda || *of > *cuda)) {
                    cuda = std::move(of);
                    newest = &package;
                }
            }
        }
        if (newest == nullptr) {
            return false;
        }
        add("jaxlib", {version, std::move(cuda), false}, newest->path);
        return true;
    }

    // cupy_cuda12x, cupy_cuda117, cupy_rocm_5_0; cupy is one built from source, or conda's.
    void find_cupy() {
        for (const auto& site : m_packages->sites) {
            for (const auto& package : site.packages) {
                if (package.name.starts_with("cupy_cuda")) {
                    add("cupy",
                        {package.version, specs::cuda_in(std::string_view(package.name).substr(5)),
                         false},
                        package.path);
                    return;
                }
                if (package.name.starts_with("cupy_rocm")) {
                    add("cupy", {package.version, std::nullopt, true}, package.path);
                    return;
                }
            }
        }
        const auto* info = m_packages->dist_info("cupy");
        if (add_by_conda("cupy", conda_record({"cupy-core", "cupy"}, info))) {
            return;
        }
        if (info != nullptr) {
            add("cupy", told_by_label(info->version), info->path);
        }
    }

    FileSystem* m_files;
    const Packages* m_packages;
    FrameworkFindings m_found;
};

std::string percent_decoded(std::string_view text) {
    const auto digit = [](char c) {
        return is_digit(c)              ? c - '0'
               : (c >= 'a' && c <= 'f') ? c - 'a' + 10
               : (c >= 'A' && c <= 'F') ? c - 'A' + 10
                                        : -1;
    };
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 &&
            digit(text[i + 2]) >= 0) {
            decoded += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
            i += 2;
        } else {
            decoded += text[i];
        }
    }
    return decoded;
}

} // namespace

FrameworkFindings find_frameworks(FileSystem& files, const Packages& packages) {
    return Search(files, packages).look();
}

std::optional<ToldCuda> parse_torch_version(std::string_view text) {
    ToldCuda told;
    if (const auto version = assigned(text, "__version__")) {
        told = told_by_label(quoted(*version).value_or(""));
    }
    const auto cuda = assigned(text, "cuda");
    if (!cuda) {
        return is_known(told) ? std::optional(std::move(told)) : std::nullopt;
    }
    const auto value = quoted(*cuda);
    if (*cuda == "None") {
        told.cuda.reset();
        told.cpu = true; // ROCm's builds too: nothing of CUDA
    } else if (value) {
        told.cuda = major_minor_of(*value);
        told.cpu = false;
    }
    return is_known(told) ? std::optional(std::move(told)) : std::nullopt;
}

std::optional<ToldCuda> parse_tensorflow_build(std::string_view text) {
    ToldCuda told;
    // ('is_cuda_build', True) or 'is_cuda_build': True since 2.3; `is_cuda_build = True` before.
    if (const auto at = text.find("is_cuda_build"); at != std::string_view::npos) {
        const auto rest = text.substr(at, 40);
        const auto no = rest.find("False");
        told.cpu = no != std::string_view::npos && no < rest.find("True");
    }
    for (const std::string_view key : {"cuda_version_number", "cuda_version"}) {
        const auto at = text.find(key);
        if (told.cpu || told.cuda || at == std::string_view::npos) {
            continue;
        }
        auto rest = text.substr(at + key.size(), 60);
        if (rest.starts_with('\'') || rest.starts_with('"')) {
            rest.remove_prefix(1); // the key's own closing quote
        }
        const auto value = quoted(rest.substr(0, rest.find('\n')));
        told.cuda = value ? major_minor_of(*value) : std::nullopt;
    }
    return is_known(told) ? std::optional(std::move(told)) : std::nullopt;
}

std::optional<DottedVersion> cuda_of_dependencies(std::string_view record) {
    for (const std::string_view name : {"\"cudatoolkit ", "\"cuda-version "}) {
        const auto at = record.find(name);
        if (at == std::string_view::npos) {
            continue;
        }
        const auto begin = at + name.size();
        auto spec = record.substr(begin, record.find('"', begin) - begin);
        spec = spec.substr(0, spec.find(' ')); // a build string
        std::optional<DottedVersion> lowest;
        std::optional<DottedVersion> end;
        for (auto part : split(spec, ',')) {
            const bool below = part.starts_with('<');
            part = part.substr(std::min(part.find_first_of("0123456789"), part.size()));
            // 10.1.*, 10.2.0a0
            const auto stop = part.find_first_not_of("0123456789.");
            part = part.substr(0, stop);
            while (part.ends_with('.')) {
                part.remove_suffix(1);
            }
            (below ? end : lowest) = major_minor_of(part);
        }
        if (!lowest) {
            continue;
        }
        // >=11.2,<12 runs on every 11: only the major is told.
        if (end && (end->major() != lowest->major())) {
            return DottedVersion::of(std::to_string(lowest->major()));
        }
        return lowest;
    }
    return std::nullopt;
}

std::string parse_editable_finder(std::string_view text, std::string_view package) {
    const auto at = text.find("MAPPING");
    if (at == std::string_view::npos) {
        return {};
    }
    const auto mapping = text.substr(at, text.find('}', at) - at);
    for (const char quote : {'\'', '"'}) {
        const auto key = quote + std::string(package) + quote;
        const auto found = mapping.find(key);
        if (found == std::string_view::npos) {
            continue;
        }
        const auto value = quoted(mapping.substr(found + key.size()));
        if (value && value->starts_with('/')) {
            return std::string(*value);
        }
    }
    return {};
}

std::string parse_direct_url(std::string_view text) {
    const auto document = nlohmann::json::parse(text, nullptr, false);
    if (!document.is_object()) {
        return {};
    }
    const auto url = document.find("url");
    const auto directory = document.find("dir_info");
    if (url == document.end() || !url->is_string() || directory == document.end() ||
        !directory->is_object()) {
        return {};
    }
    const auto is_editable = directory->find("editable");
    constexpr std::string_view k_file = "file://";
    std::string_view address = url->get_ref<const std::string&>();
    if (is_editable == directory->end() || *is_editable != true || !address.starts_with(k_file)) {
        return {};
    }
    address.remove_prefix(k_file.size());
    while (address.size() > 1 && address.ends_with('/')) {
        address.remove_suffix(1);
    }
    auto path = percent_decoded(address);
    return path.starts_with('/') ? path : std::string();
}

} // namespace cudaenv::host
