#include "check/repair/installer_at_work.hpp"

#include "base/ascii.hpp"
#include "base/directory_names.hpp"
#include "base/fd.hpp"
#include "base/ranges.hpp"
#include "base/real_path.hpp"
#include "base/text.hpp"
#include "base/whole_io.hpp"
#include "check/repair/staging.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace cudaenv::repair {

namespace {

using Words = std::vector<std::string_view>;
using Identity = std::pair<dev_t, ino_t>;
const std::vector<std::string> k_none;

// What of a file in /proc there is, up to a limit that no installer's words reach.
std::string text_of(const std::string& path) {
    constexpr std::size_t k_most = std::size_t{256} << 10U;
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return file ? read_rest(file.get(), k_most).value_or("") : std::string();
}

std::string link_of(const std::string& path) {
    std::array<char, 4096> text{};
    const auto size = ::readlink(path.c_str(), text.data(), text.size());
    return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

std::string_view base_of(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

std::optional<Identity> identity_of(int directory, const char* name = "", int flags = 0) {
    struct stat status {};
    if (::fstatat(directory, name, &status, flags) != 0) {
        return std::nullopt;
    }
    return Identity(status.st_dev, status.st_ino);
}

// The environment, and the directories that installers write into: a container may see only those.
class Target {
public:
    explicit Target(const std::string& prefix) : m_paths{prefix, real_path(prefix)} {
        add(prefix);
        add(prefix + "/conda-meta");
        for (const std::string& name : names_in(prefix + "/lib").value_or(k_none)) {
            if (name.starts_with("python")) {
                add(prefix + "/lib/" + name + "/site-packages");
            }
        }
    }

    [[nodiscard]] std::string_view name() const { return base_of(m_paths[1]); }
    [[nodiscard]] std::string_view path() const { return m_paths[1]; }
    // By the text of a path without links.
    [[nodiscard]] bool has(std::string_view path) const {
        return std::ranges::any_of(m_paths, [&](const std::string& prefix) {
            return path.starts_with(prefix) &&
                   (path.size() == prefix.size() || path[prefix.size()] == '/') &&
                   !path.substr(prefix.size()).starts_with("/envs/");
        });
    }
    // The directory, or one above it, is the environment's.
    [[nodiscard]] bool has_directory(Fd directory) const {
        constexpr int k_deepest = 100;
        Identity last{};
        for (int depth = 0; directory && depth < k_deepest; ++depth) {
            const auto identity = identity_of(directory.get(), "", AT_EMPTY_PATH);
            if (!identity || *identity == last) {
                return false; // the root
            }
            if (is_one_of(*identity, m_identities)) {
                return true;
            }
            if (::faccessat(directory.get(), "pyvenv.cfg", F_OK, 0) == 0 ||
                ::faccessat(directory.get(), "conda-meta", F_OK, 0) == 0) {
                return false; // another environment, within this one
            }
            last = *identity;
            directory.reset(::openat(directory.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
        }
        return false;
    }
    [[nodiscard]] bool is(const Identity& identity) const {
        return identity == m_identities.front();
    }
    [[nodiscard]] bool empty() const { return m_identities.empty(); }

private:
    void add(const std::string& path) {
        if (const auto identity = identity_of(AT_FDCWD, path.c_str())) {
            m_identities.push_back(*identity);
        }
    }

    std::array<std::string, 2> m_paths;
    std::vector<Identity> m_identities;
};

constexpr auto k_names = std::to_array<std::string_view>(
    {"pip", "uv", "conda", "mamba", "micromamba", "pixi", "poetry", "pdm", "hatch", "pipx",
     "easy_install", "ensurepip", "setup.py"});
// Those that work on the environment of the project that they were begun in.
constexpr auto k_of_projects =
    std::to_array<std::string_view>({"uv", "pixi", "poetry", "pdm", "hatch"});
constexpr auto k_does = std::to_array<std::string_view>(
    {"install", "uninstall", "remove", "update", "upgrade", "create", "sync", "add", "develop"});

// pip of "pip3.11".
std::string_view installer_name(std::string_view word) {
    auto name = base_of(word);
    if (name.starts_with("pip")) {
        const auto end = name.find_first_not_of("0123456789.", 3);
        name = end == std::string_view::npos ? name.substr(0, 3) : name;
    }
    return is_one_of(name, k_names) ? name : std::string_view();
}

class Process {
public:
    Process(std::string number, const Target& target)
        : m_number(std::move(number)), m_place("/proc/" + m_number), m_target(target),
          m_line(text_of(m_place + "/cmdline")), m_words(split(m_line, '\0')) {}

    // Empty: it is no installer, or not at work in the environment.
    [[nodiscard]] std::string installer() const {
        const auto name = named();
        if (!name.empty() && is_here(name)) {
            return std::string(name);
        }
        // Most are no installers and have no file there.
        return is_writing() ? std::string(base_of(program())) : std::string();
    }

private:
    [[nodiscard]] std::string program() const { return link_of(m_place + "/exe"); }

    // "pip" of "/env/bin/python -m pip", "/env/bin/python3 /env/bin/pip3.11", "pip" and
    // "python -c 'from pip._internal ...'".
    [[nodiscard]] std::string_view named() const {
        constexpr std::size_t k_first = 4; // python -I -m pip
        for (std::size_t i = 0; i < std::min(m_words.size(), k_first); ++i) {
            auto name = installer_name(m_words[i]);
            const bool is_code = i > 0 && m_words[i - 1] == "-c";
            for (const std::string_view code : {"from pip", "import pip", "conda.cli"}) {
                if (is_code && m_words[i].find(code) != std::string_view::npos) {
                    name = code.ends_with("pip") ? "pip" : "conda";
                }
            }
            if (!name.empty() && std::ranges::any_of(m_words, [&](std::string_view word) {
                    return is_one_of(word, k_does) ||
                           (is_code && word.find("install") != std::string_view::npos);
                })) {
                return name;
            }
        }
        return {};
    }

    // `path` as the process sees it.
    [[nodiscard]] bool leads_here(std::string_view path) const {
        if (path.empty()) {
            return false;
        }
        std::string whole = m_place + (path.starts_with('/') ? "/root" : "/cwd/");
        whole += path;
        constexpr int k_flags = O_PATH | O_CLOEXEC;
        Fd directory(::open(whole.c_str(), k_flags | O_DIRECTORY));
        if (!directory) {
            // bin/python itself may lead out of the environment.
            directory.reset(
                ::open(whole.substr(0, whole.rfind('/')).c_str(), k_flags | O_DIRECTORY));
        }
        return m_target.has_directory(std::move(directory));
    }

    [[nodiscard]] bool is_here(std::string_view installer) const {
        const auto is_in = [&](const char* link) {
            return m_target.has(link_of(m_place + link)) || (link == k_cwd && leads_here("."));
        };
        return is_in(k_cwd) || is_in("/exe") || has_words_here() || has_variable_here() ||
               (is_one_of(installer, k_of_projects) && is_begun_above()) ||
               has_file([](const auto&) { return true; });
    }
    // "/env", "env/bin/python" and "--prefix=/env".
    [[nodiscard]] bool has_words_here() const {
        for (std::size_t i = 0; i < m_words.size(); ++i) {
            auto word = m_words[i];
            const auto equals = word.find('=');
            if (word.starts_with('-') && equals != std::string_view::npos) {
                word.remove_prefix(equals + 1);
            }
            if (word.find('/') != std::string_view::npos && leads_here(word)) {
                return true;
            }
            // "conda install -n NAME" of the environment of that name.
            if ((word == "-n" || word == "--name") && i + 1 < m_words.size() &&
                m_words[i + 1] == m_target.name()) {
                return true;
            }
        }
        return false;
    }
    [[nodiscard]] bool has_variable_here() const {
        const std::string environment = text_of(m_place + "/environ");
        for (const std::string_view variable : split(environment, '\0')) {
            const auto equals = std::min(variable.find('='), variable.size());
            const auto name = variable.substr(0, equals);
            const auto value = variable.substr(std::min(equals + 1, variable.size()));
            if ((name == "VIRTUAL_ENV" || name == "CONDA_PREFIX" || name == "PIP_TARGET" ||
                 name == "PIP_PREFIX" || name == "UV_PROJECT_ENVIRONMENT") &&
                leads_here(value)) {
                return true;
            }
            if (name == "PATH" && !m_words.empty() &&
                m_words[0].find('/') == std::string_view::npos && is_first_found_here(value)) {
                return true;
            }
        }
        return false;
    }
    // "python -m pip": the python of this PATH.
    [[nodiscard]] bool is_first_found_here(std::string_view path) const {
        for (const std::string_view directory : split(path, ':')) {
            const std::string program = std::string(directory) + '/' + std::string(m_words[0]);
            if (directory.starts_with('/') &&
                ::faccessat(AT_FDCWD, (m_place + "/root" + program).c_str(), X_OK, 0) == 0) {
                return leads_here(program);
            }
        }
        return false;
    }
    // "uv sync", "pixi add": of the project that they were begun in.
    [[nodiscard]] bool is_begun_above() const {
        const auto directory = identity_of(AT_FDCWD, (m_place + k_cwd).c_str());
        std::string above(m_target.path());
        while (directory && above.size() > 1) {
            above.resize(above.rfind('/'));
            if (!above.empty() && identity_of(AT_FDCWD, above.c_str()) == directory) {
                return true;
            }
        }
        return false;
    }
    // One of its open files is in the environment, and counts.
    template <class Counts>
    [[nodiscard]] bool has_file(const Counts& counts) const {
        const bool same_mounts = link_of(m_place + "/ns/mnt") == link_of("/proc/self/ns/mnt");
        for (const std::string& number : names_in(m_place + "/fd").value_or(k_none)) {
            const std::string file = link_of(m_place + "/fd/" + number);
            if (!file.starts_with('/') ||
                !(same_mounts
                      ? m_target.has(file)
                      : file.find("site-packages") != std::string::npos && leads_here(file))) {
                continue;
            }
            if (counts(std::pair(number, file))) {
                return true;
            }
        }
        return false;
    }
    // Of the packages and records, or uv's lock of the environment: no kernel or editor does that.
    [[nodiscard]] bool is_writing() const {
        return has_file([&](const auto& number_and_file) {
            const auto& [number, file] = number_and_file;
            const bool of_packages = file.find("/site-packages/") != std::string::npos ||
                                     file.find("/conda-meta/") != std::string::npos ||
                                     file == std::string(m_target.path()) + "/.lock";
            if (!of_packages || file.find("/__pycache__/") != std::string::npos ||
                file.find(Staging::k_name) != std::string::npos) {
                return false;
            }
            const std::string info = text_of(m_place + "/fdinfo/" + number);
            const auto flags = info.find("flags:");
            const auto end = info.find('\n', flags);
            // Octal: the last digit holds the access mode.
            return flags != std::string::npos && end != std::string::npos && end > flags &&
                   ((info[end - 1] - '0') & O_ACCMODE) != O_RDONLY;
        });
    }

    static constexpr const char* k_cwd = "/cwd";

    std::string m_number;
    std::string m_place;
    const Target& m_target;
    std::string m_line;
    Words m_words;
};

} // namespace

std::optional<InstallerAtWork> installer_at_work(const std::string& prefix) {
    const Target target(prefix);
    const std::string own = std::to_string(::getpid());
    for (const std::string& number : names_in(std::string("/proc")).value_or(k_none)) {
        if (!std::ranges::all_of(number, is_digit) || number == own || target.empty()) {
            continue;
        }
        if (auto name = Process(number, target).installer(); !name.empty()) {
            return InstallerAtWork{std::move(name), number};
        }
    }
    return std::nullopt;
}

} // namespace cudaenv::repair
