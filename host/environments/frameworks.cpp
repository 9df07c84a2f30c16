#include "host/environments/frameworks.hpp"

#include "base/json_members.hpp"
#include "base/percent.hpp"
#include "base/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace cudaenv::environments {

namespace {

using knowledge::Build;
using knowledge::BuildKind;

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

bool is_another_or_none(const Build& build) {
    return build.kind == BuildKind::Cpu || build.other_gpu();
}

// The strings of a list in a conda record, which may be cut off behind it.
void add_strings(std::string_view record, std::string_view name,
                 std::vector<std::string>& strings) {
    const auto key = record.find(name);
    auto rest = record.substr(std::min(key, record.size()));
    rest = rest.substr(std::min(rest.find('['), rest.size()));
    rest = rest.substr(0, rest.find(']'));
    for (auto begin = rest.find('"'); begin != std::string_view::npos;) {
        const auto end = rest.find('"', begin + 1);
        if (end == std::string_view::npos) {
            break;
        }
        strings.emplace_back(rest.substr(begin + 1, end - begin - 1));
        begin = rest.find('"', end + 1);
    }
}

// What it depends on, then what it only constrains: cupy-core names its CUDA there.
std::vector<std::string> depends_of(std::string_view record) {
    std::vector<std::string> depends;
    add_strings(record, "\"depends\"", depends);
    add_strings(record, "\"constrains\"", depends);
    return depends;
}

struct Search {
    host::FileSystem& files;
    const Packages& packages;
    FrameworkFindings builds{};

    FrameworkFindings look() {
        find_torch();
        find_tensorflow();
        find_jaxlib();
        find_cupy();
        return std::move(builds);
    }

    void add(const char* name, std::string version, Build build, std::string source) {
        const bool without_cuda = is_another_or_none(build);
        builds.frameworks.push_back(
            {name, std::move(version), std::move(build.cuda), without_cuda, std::move(source)});
    }

    // As the file says it; false where it does not say.
    template <typename Parse>
    bool add_by_module(const char* name, const std::string& path, Parse parse,
                       const std::string& version) {
        const auto text = files.read_file(path, k_text_limit);
        if (!text) {
            if (text.error().code != k_not_found) {
                builds.notes.push_back(path + " cannot be read: " + host::reason_of(text.error()));
            }
            return false;
        }
        BuildFile file = parse(*text);
        if (!file.build.known()) {
            builds.notes.push_back(path + " does not say which CUDA it was built with");
            return false;
        }
        add(name, file.version.empty() ? version : std::move(file.version), std::move(file.build),
            path);
        return true;
    }

    // conda's record of what is there now: pip may have put another version over it.
    const CondaRecord* conda_record(std::initializer_list<const char*> names,
                                    const DistInfo* info) {
        for (const auto* name : names) {
            const auto* record = packages.conda_record(name);
            if (record != nullptr && (info == nullptr || info->version == record->version)) {
                return record;
            }
        }
        return nullptr;
    }

    // The record is opened only where its name does not say enough.
    Build build_of(const CondaRecord& record) {
        Build build = knowledge::build_by_conda(record.build, {});
        if (build.cuda || is_another_or_none(build)) {
            return build;
        }
        const auto text = files.read_file(record.path, k_record_limit);
        if (!text) {
            builds.notes.push_back(record.path +
                                   " cannot be read: " + host::reason_of(text.error()));
            return build;
        }
        return knowledge::build_by_conda(record.build, depends_of(*text));
    }

    bool add_by_conda(const char* name, const CondaRecord* record) {
        if (record == nullptr) {
            return false;
        }
        add(name, record->version, build_of(*record), record->path);
        return true;
    }

    void add_by_label(const char* name, const DistInfo& info) {
        Build build = knowledge::build_by_name(info.name);
        if (!build.known()) {
            build = knowledge::build_by_label(info.version);
        }
        add(name, info.version, std::move(build), info.path);
    }

    void find_torch() {
        const auto* info = packages.dist_info("torch");
        const auto version = info == nullptr ? std::string() : info->version;
        for (const auto& site : packages.sites) {
            const auto package = site.path + "/torch";
            if (!site.has("torch")) {
                continue;
            }
            if (files.read_link(package)) {
                builds.watch.push_back(package + "/version.py");
            }
            if (add_by_module("torch", package + "/version.py", parse_torch_version, version)) {
                return;
            }
        }
        if (const auto source = editable("torch", info); !source.empty()) {
            const auto path = source + "/version.py"; // written by the build
            builds.watch.push_back(path);
            if (add_by_module("torch", path, parse_torch_version, version)) {
                return;
            }
            builds.notes.push_back("torch is installed from " + source +
                                   ", which contains no version.py written by a build");
        }
        const auto* record = conda_record({"pytorch"}, info);
        if (add_by_conda("torch", record)) {
            return;
        }
        if (info != nullptr) {
            add_by_label("torch", *info);
        }
    }

    // Where `package` lies when it is installed in place: the directory with its __init__.py.
    std::string editable(const std::string& package, const DistInfo* info) {
        if (info != nullptr) {
            if (const auto text = files.read_file(info->path + "/direct_url.json", k_text_limit)) {
                if (const auto root = parse_direct_url(*text); !root.empty()) {
                    return in_tree(root, package);
                }
            }
        }
        for (const auto& site : packages.sites) {
            const auto egg_link = package + ".egg-link";
            if (site.has(egg_link)) {
                if (const auto text = files.read_file(site.path + '/' + egg_link, 4096)) {
                    const auto root = trim(split(*text, '\n').front());
                    if (root.starts_with('/')) {
                        return in_tree(std::string(root), package);
                    }
                }
            }
            const auto from =
                std::ranges::lower_bound(site.names, std::string_view("__editable__"));
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
        const auto text = files.read_file(path, k_text_limit);
        if (!text) {
            builds.notes.push_back(path + " cannot be read: " + host::reason_of(text.error()));
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
        return files.exists(below_src) ? below_src : root + '/' + package;
    }

    void find_tensorflow() {
        const DistInfo* info = nullptr;
        for (const auto* name : {"tensorflow", "tensorflow_gpu", "tensorflow_cpu", "tf_nightly"}) {
            info = info == nullptr ? packages.dist_info(name) : info;
        }
        const auto* record =
            conda_record({"tensorflow-base", "tensorflow", "tensorflow-gpu"}, info);
        const auto version = info != nullptr     ? info->version
                             : record != nullptr ? record->version
                                                 : std::string();
        for (const auto& site : packages.sites) {
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
            add_by_label("tensorflow", *info);
        }
    }

    void find_jaxlib() {
        const auto* info = packages.dist_info("jaxlib");
        const auto* record = conda_record({"jaxlib"}, info);
        if (record != nullptr && knowledge::build_by_conda(record->build, {}).cuda) {
            add_by_conda("jaxlib", record);
            return;
        }
        if (info == nullptr && record == nullptr) {
            return;
        }
        const auto& version = info != nullptr ? info->version : record->version;
        if (add_by_jax_plugin(version) || add_by_conda("jaxlib", record)) {
            return;
        }
        Build build = knowledge::build_by_label(version);
        if (!build.known()) {
            build.kind = BuildKind::Cpu; // an index's wheel without a plugin
        }
        add("jaxlib", version, std::move(build), info->path);
    }

    // jax_cuda12_plugin: built for a major, not for one release.
    bool add_by_jax_plugin(const std::string& version) {
        const DistInfo* newest = nullptr;
        std::optional<DottedVersion> cuda;
        for (const auto& site : packages.sites) {
            for (const auto& package : site.packages) {
                if (!package.name.starts_with("jax_cuda") || !package.name.ends_with("_plugin")) {
                    continue;
                }
                auto of = knowledge::build_by_name(package.name).cuda;
                if (of && (!cuda || *of > *cuda)) {
                    cuda = std::move(of);
                    newest = &package;
                }
            }
        }
        if (newest == nullptr) {
            return false;
        }
        add("jaxlib", version, {BuildKind::Cuda, std::move(cuda), {}}, newest->path);
        return true;
    }

    // cupy_cuda12x, cupy_cuda117, cupy_rocm_5_0; cupy is one built from source, or conda's.
    void find_cupy() {
        for (const auto& site : packages.sites) {
            for (const auto& package : site.packages) {
                if (package.name.starts_with("cupy_") &&
                    knowledge::build_by_name(package.name).known()) {
                    add_by_label("cupy", package);
                    return;
                }
            }
        }
        const auto* info = packages.dist_info("cupy");
        if (add_by_conda("cupy", conda_record({"cupy-core", "cupy"}, info))) {
            return;
        }
        if (info != nullptr) {
            add_by_label("cupy", *info);
        }
    }
};

} // namespace

FrameworkFindings find_frameworks(host::FileSystem& files, const Packages& packages) {
    return Search{files, packages}.look();
}

BuildFile parse_torch_version(std::string_view text) {
    BuildFile file;
    if (const auto version = assigned(text, "__version__")) {
        file.version = quoted(*version).value_or("");
    }
    file.build = knowledge::build_by_label(file.version);
    const auto cuda = assigned(text, "cuda");
    if (!cuda) {
        return file;
    }
    if (*cuda == "None") {
        const bool other = file.build.other_gpu();
        file.build = {other ? file.build.kind : BuildKind::Cpu, {}, {}};
    } else if (const auto value = quoted(*cuda)) {
        if (auto version = major_minor_of(*value)) {
            file.build = {BuildKind::Cuda, std::move(version), {}};
        }
    }
    return file;
}

BuildFile parse_tensorflow_build(std::string_view text) {
    BuildFile file;
    // ('is_cuda_build', True) or 'is_cuda_build': True since 2.3; `is_cuda_build = True` before.
    if (const auto at = text.find("is_cuda_build"); at != std::string_view::npos) {
        const auto rest = text.substr(at, 40);
        const auto no = rest.find("False");
        if (no != std::string_view::npos && no < rest.find("True")) {
            file.build.kind = BuildKind::Cpu;
            return file;
        }
    }
    for (const std::string_view key : {"cuda_version_number", "cuda_version"}) {
        const auto at = text.find(key);
        if (at == std::string_view::npos) {
            continue;
        }
        auto rest = text.substr(at + key.size(), 60);
        if (rest.starts_with('\'') || rest.starts_with('"')) {
            rest.remove_prefix(1); // the key's own closing quote
        }
        const auto value = quoted(rest.substr(0, rest.find('\n')));
        if (auto version = value ? major_minor_of(*value) : std::nullopt) {
            file.build = {BuildKind::Cuda, std::move(version), {}};
            return file;
        }
    }
    return file;
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
    constexpr std::string_view k_file = "file://";
    const std::string url = text_at(document, "url");
    if (!flag_at(member(document, "dir_info"), "editable") || !url.starts_with(k_file)) {
        return {};
    }
    auto path = percent_decode(without_end_slashes(std::string_view(url).substr(k_file.size())));
    return path.starts_with('/') ? path : std::string();
}

} // namespace cudaenv::environments
