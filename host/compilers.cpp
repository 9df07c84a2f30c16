#include "host/compilers.hpp"

#include "base/ascii.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

namespace cudaenv::host {

namespace {

// Programs that stand in front of a compiler under its name.
constexpr std::array<std::string_view, 7> k_wrappers = {
    "ccache", "colorgcc", "distcc", "sccache", "icecc", "gomacc", "buildcache"};

bool names_wrapper(std::string_view text) {
    return std::ranges::any_of(k_wrappers, [&](std::string_view wrapper) {
        return text.find(wrapper) != std::string_view::npos;
    });
}

bool is_version(std::string_view text) {
    return !text.empty() && is_digit(text.front()) &&
           std::ranges::all_of(text, [](char c) { return c == '.' || is_digit(c); });
}

// Directories of /opt and /usr/local whose name says that they hold a compiler.
bool holds_compiler(std::string_view name) {
    return name.starts_with("gcc") || name.starts_with("llvm") || name.starts_with("clang");
}

// Where compilers are besides PATH.
std::vector<std::string> usual_places(FileSystem& files, const Environment& environment) {
    std::vector<std::string> places = {"/usr/bin", "/usr/local/bin"};
    const auto add = [&](const std::string& parent, auto accepts, const std::string& inside) {
        for (const auto& name : files.names_in(parent)) {
            if (accepts(name)) {
                places.push_back(parent + '/' + name + inside);
            }
        }
    };
    add("/opt", holds_compiler, "/bin");
    add("/usr/local", holds_compiler, "/bin");
    // Red Hat's toolsets.
    add(
        "/opt/rh", [](std::string_view) { return true; }, "/root/usr/bin");
    if (const auto prefix = value_of(environment, "CONDA_PREFIX"); prefix.starts_with('/')) {
        places.push_back(prefix + "/bin");
    }
    return places;
}

using ProgramKey = std::pair<std::uint64_t, std::uint64_t>; // device and inode

struct Candidate {
    std::string path;
    CompilerName name;
    FileStatus status;
    std::size_t order = 0; // of discovery
};

// Of several names of one program the one a user would type: versioned, then bare, then with a
// target in front.
int rank(const CompilerName& name) {
    return (name.target.empty() ? 0 : 2) + (name.version.empty() ? 1 : 0);
}

// A compiler that builds for this machine: "x86_64-linux-gnu-g++", not "aarch64-linux-gnu-g++".
bool builds_for(const CompilerName& name, const std::string& machine) {
    return name.target.empty() ||
           (name.target.starts_with(machine + '-') &&
            name.target.find("linux") != std::string::npos && !name.target.ends_with("x32"));
}

// A symlink to a wrapper, or a script that starts one. NixOS's compilers are scripts too, so being
// one is no reason.
bool is_wrapper(FileSystem& files, const Candidate& candidate) {
    if (files.read_link(candidate.path)) {
        const auto target = files.real_path(candidate.path);
        if (target && names_wrapper(base_name(*target))) {
            return true;
        }
    }
    // No compiler driver is that small.
    constexpr std::uint64_t k_script = std::uint64_t{16} * 1024;
    if (candidate.status.size > k_script) {
        return false;
    }
    const auto text = files.read_file(candidate.path, k_script);
    return text && text->starts_with("#!") && names_wrapper(*text);
}

// Every compiler program once, whatever its names.
struct Programs {
    FileSystem& files;
    std::string machine;
    std::vector<std::string>& notes;
    std::map<ProgramKey, Candidate> programs{};
    std::map<facts::CompilerFamily, ProgramKey> defaults{};
    std::set<std::string> seen{};
    std::size_t order = 0;

    void look_in(const std::string& place, bool on_path) {
        const auto real_place = files.real_path(place);
        if (!real_place || !seen.insert(*real_place).second) {
            return; // a place that is not there holds no compiler
        }
        const auto names = files.list_directory(*real_place);
        if (!names) {
            if (on_path && names.error().code == k_permission_denied) {
                notes.push_back("compilers in " + place +
                                " are skipped: " + reason_of(names.error()));
            }
            return;
        }
        for (const auto& file_name : *names) {
            const auto name = parse_compiler_name(file_name);
            if (name && builds_for(*name, machine)) {
                look_at(Candidate{*real_place + '/' + file_name, *name, {}, order++}, on_path);
            }
        }
    }

    [[nodiscard]] bool is_default(const Candidate& candidate) const {
        const auto found = defaults.find(candidate.name.family);
        return found != defaults.end() && found->second == key_of(candidate);
    }

    // In the order of their discovery.
    [[nodiscard]] std::vector<Candidate> take() {
        std::vector<Candidate> candidates;
        for (auto& [key, candidate] : programs) {
            candidates.push_back(std::move(candidate));
        }
        std::ranges::sort(candidates,
                          [](const Candidate& a, const Candidate& b) { return a.order < b.order; });
        return candidates;
    }

    static ProgramKey key_of(const Candidate& candidate) {
        return {candidate.status.device, candidate.status.inode};
    }

    void look_at(Candidate candidate, bool on_path) {
        const auto status = files.status(candidate.path);
        if (!status) {
            notes.push_back(candidate.path + " is not a compiler: " + reason_of(status.error()));
            return;
        }
        candidate.status = *status;
        if (status->kind != FileKind::Regular || !status->executable ||
            is_wrapper(files, candidate)) {
            return;
        }
        const bool bare = candidate.name.target.empty() && candidate.name.version.empty();
        if (on_path && bare) {
            defaults.try_emplace(candidate.name.family, key_of(candidate));
        }
        // Hard links and symlinks of one inode are one program.
        const auto [known, added] = programs.try_emplace(key_of(candidate), candidate);
        if (!added && rank(candidate.name) < rank(known->second.name)) {
            candidate.order = known->second.order;
            known->second = std::move(candidate);
        }
    }
};

} // namespace

std::optional<CompilerName> parse_compiler_name(std::string_view file_name) {
    CompilerName name;
    auto rest = file_name;
    if (const auto dash = rest.rfind('-');
        dash != std::string_view::npos && is_version(rest.substr(dash + 1))) {
        name.version = std::string(rest.substr(dash + 1));
        rest = rest.substr(0, dash);
    }
    for (const std::string_view driver : {"clang++", "g++", "c++"}) {
        if (!rest.ends_with(driver)) {
            continue;
        }
        auto target = rest.substr(0, rest.size() - driver.size());
        if (!target.empty()) {
            // x86_64-linux-gnu-: a target has at least two dashes; "my-g++" is something else.
            if (!target.ends_with('-') || std::ranges::count(target, '-') < 2) {
                continue;
            }
            target.remove_suffix(1);
            name.target = std::string(target);
        }
        // A bare c++ is another name of one of the others, or of no compiler known here.
        if (driver == "c++" && name.target.empty()) {
            return std::nullopt;
        }
        name.family =
            driver == "clang++" ? facts::CompilerFamily::Clang : facts::CompilerFamily::Gcc;
        return name;
    }
    return std::nullopt;
}

std::string parse_gcc_version(std::string_view text) {
    const auto line = trim(text.substr(0, text.find('\n')));
    return is_version(line) ? std::string(line) : std::string();
}

std::string parse_clang_version(std::string_view text) {
    constexpr std::string_view k_label = "clang version ";
    const auto at = text.find(k_label);
    if (at == std::string_view::npos) {
        return {};
    }
    // "14.0.6", "18.1.3 (1ubuntu1)", "17.0.0git".
    const auto version = leading_numbers(text.substr(at + k_label.size()));
    return is_version(version) ? std::string(version) : std::string();
}

namespace {

struct KnownVersion {
    std::string version;
    std::string source;
};

// Where a compiler keeps what is of its version alone, beside its bin: lib/clang/14.0.6 (clang up
// to 15; newer ones name only the major there) and lib/gcc/x86_64-linux-gnu/12 (conda's and
// self-built ones: 12.3.0). To ask a clang takes 25 ms, the loading of LLVM; the directory takes
// 0.1 ms.
std::vector<std::string> version_directories(FileSystem& files, const Candidate& candidate,
                                             const std::string& machine) {
    const auto real = files.real_path(candidate.path);
    if (!real) {
        return {};
    }
    const std::string lib = std::string(parent_path(parent_path(*real))) + "/lib/";
    std::vector<std::string> parents;
    if (candidate.name.family == facts::CompilerFamily::Clang) {
        parents.push_back(lib + "clang");
    } else {
        for (const std::string& target : files.names_in(lib + "gcc")) {
            if (target.starts_with(machine + '-')) {
                parents.push_back(lib + "gcc/" + target);
            }
        }
    }
    std::vector<std::string> found;
    for (const std::string& parent : parents) {
        for (const std::string& name : files.names_in(parent)) {
            if (is_version(name)) {
                found.push_back(parent + '/' + name);
            }
        }
    }
    return found;
}

// Only where one version is there, which the program's name does not contradict: several compilers
// may share a prefix.
KnownVersion version_by_directory(FileSystem& files, const Candidate& candidate,
                                  const std::string& machine, CompilerVersions versions) {
    const auto found = version_directories(files, candidate, machine);
    if (found.size() != 1) {
        return {};
    }
    const std::string name(base_name(found.front()));
    const bool full = std::ranges::count(name, '.') == 2;
    if ((!full && versions == CompilerVersions::Full) ||
        (!candidate.name.version.empty() && !name.starts_with(candidate.name.version + '.'))) {
        return {};
    }
    return {name, found.front()};
}

KnownVersion version_without_asking(FileSystem& files, const Candidate& candidate,
                                    const std::string& machine, const VersionAsker& asker,
                                    CompilerVersions versions) {
    if (asker.cache.find(version_key(candidate.status))) {
        return {}; // asking costs nothing
    }
    auto known = version_by_directory(files, candidate, machine, versions);
    if (known.version.empty() && versions == CompilerVersions::Major &&
        !candidate.name.version.empty()) {
        return {candidate.name.version, candidate.path};
    }
    return known;
}

} // namespace

CompilerFindings find_compilers(FileSystem& files, const Environment& environment,
                                const std::string& machine, const VersionAsker& asker,
                                CompilerVersions versions) {
    CompilerFindings findings;
    Programs programs{files, machine, findings.notes};
    const auto on_path = directories_of(value_of(environment, "PATH"));
    const auto usual = usual_places(files, environment);
    auto places = on_path;
    places.insert(places.end(), usual.begin(), usual.end());
    const auto silent = files.silent(places);
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (std::ranges::find(silent, places[i]) == silent.end()) {
            programs.look_in(places[i], i < on_path.size());
        } else {
            findings.notes.push_back("compilers in " + places[i] +
                                     " are skipped: it does not answer");
        }
    }
    const auto candidates = programs.take();
    const auto add = [&](const Candidate& candidate, DottedVersion version, std::string source) {
        facts::Compiler compiler;
        compiler.family = candidate.name.family;
        compiler.version = std::move(version);
        compiler.path = candidate.path;
        compiler.source = std::move(source);
        compiler.is_default = programs.is_default(candidate);
        findings.compilers.push_back(std::move(compiler));
    };
    std::vector<VersionQuestion> questions;
    std::vector<const Candidate*> asked;
    for (const auto& candidate : candidates) {
        if (auto known = version_without_asking(files, candidate, machine, asker, versions);
            !known.version.empty()) {
            if (auto version = DottedVersion::parse(known.version)) {
                add(candidate, std::move(*version), std::move(known.source));
                continue;
            }
        }
        const bool gcc = candidate.name.family == facts::CompilerFamily::Gcc;
        questions.push_back({candidate.path,
                             gcc ? std::vector<std::string>{"-dumpfullversion", "-dumpversion"}
                                 : std::vector<std::string>{"--version"},
                             gcc ? parse_gcc_version : parse_clang_version, candidate.status});
        asked.push_back(&candidate);
    }
    const auto answers = asker.ask(questions);
    for (std::size_t i = 0; i < asked.size(); ++i) {
        auto version = DottedVersion::parse(answers[i].version);
        if (!version) {
            findings.notes.push_back(asked[i]->path +
                                     " is skipped, its version is unknown: " + answers[i].reason);
            continue;
        }
        add(*asked[i], std::move(*version),
            std::string(base_name(asked[i]->path)) + ' ' + join(questions[i].arguments, " "));
    }
    std::ranges::sort(findings.compilers, [](const facts::Compiler& a, const facts::Compiler& b) {
        return std::tie(a.family, a.version, a.path) < std::tie(b.family, b.version, b.path);
    });
    if (findings.compilers.empty()) {
        findings.absent = "no g++ or clang++ in PATH or the usual places";
    }
    return findings;
}

} // namespace cudaenv::host
