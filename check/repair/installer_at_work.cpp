#include "check/repair/installer_at_work.hpp"

#include "base/ascii.hpp"
#include "base/directory_names.hpp"
#include "base/fd.hpp"
#include "base/ranges.hpp"
#include "base/real_path.hpp"
#include "base/text.hpp"
#include "base/whole_io.hpp"
#include "host/file_system.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace cudaenv::repair {

namespace {

using Words = std::vector<std::string_view>;

// What of a file in /proc there is, up to a limit that no installer's words reach.
std::string text_of(const std::string& path) {
    constexpr std::size_t k_most = std::size_t{256} << 10U;
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return file ? read_rest(file.get(), k_most).value_or("") : std::string();
}

constexpr auto k_of_projects = std::to_array<std::string_view>({"uv", "pixi", "poetry", "pdm"});

// "pip" of "/env/bin/python -m pip", "/env/bin/python3 /env/bin/pip3.11" and "pip"; empty: it is
// none.
std::string_view installer_in(const Words& words) {
    constexpr auto k_names = std::to_array<std::string_view>(
        {"pip", "uv", "conda", "mamba", "micromamba", "pixi", "poetry", "pdm"});
    constexpr auto k_does = std::to_array<std::string_view>(
        {"install", "uninstall", "remove", "update", "upgrade", "create", "sync", "add"});
    if (std::ranges::none_of(words,
                             [&](std::string_view word) { return is_one_of(word, k_does); })) {
        return {};
    }
    constexpr std::size_t k_first = 4; // python -I -m pip
    for (std::size_t i = 0; i < std::min(words.size(), k_first); ++i) {
        auto name = host::base_name(words[i]);
        if (name.starts_with("pip")) {
            const auto end = name.find_first_not_of("0123456789.", 3);
            name = end == std::string_view::npos ? name.substr(0, 3) : name;
        }
        if (is_one_of(name, k_names)) {
            return name;
        }
    }
    return {};
}

// "/env", "/env/bin/python" and "--prefix=/env" of "/env".
bool is_in(std::string_view word, std::string_view prefix) {
    const auto equals = word.find('=');
    if (word.starts_with('-') && equals != std::string_view::npos) {
        word.remove_prefix(equals + 1);
    }
    return host::is_in_or_below(word, prefix);
}

// "conda install -n NAME" of the environment of that name.
bool names_environment(const Words& words, std::string_view prefix) {
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        if ((words[i] == "-n" || words[i] == "--name") && words[i + 1] == host::base_name(prefix)) {
            return true;
        }
    }
    return false;
}

// "uv sync", "pixi add": of the project that they were begun in.
bool is_begun_above(const std::string& place, std::string_view prefix) {
    const auto directory = real_path(place + "/cwd");
    return directory.size() > 1 && prefix.starts_with(directory + '/');
}

} // namespace

std::optional<InstallerAtWork> installer_at_work(const std::string& prefix) {
    const std::array<std::string, 2> prefixes{prefix, real_path(prefix)};
    const auto names = names_in("/proc");
    for (const std::string& process : names.value_or(std::vector<std::string>())) {
        if (!std::ranges::all_of(process, is_digit)) {
            continue;
        }
        const std::string place = "/proc/" + process;
        const std::string line = text_of(place + "/cmdline");
        const auto words = split(line, '\0');
        const auto installer = installer_in(words);
        if (installer.empty()) {
            continue;
        }
        bool here = std::ranges::any_of(words, [&](std::string_view word) {
            return is_in(word, prefixes[0]) || is_in(word, prefixes[1]);
        });
        here = here || names_environment(words, prefixes[1]) ||
               (is_one_of(installer, k_of_projects) && is_begun_above(place, prefixes[1]));
        if (!here) {
            const std::string environment = text_of(place + "/environ");
            for (const std::string_view variable : split(environment, '\0')) {
                const auto value = variable.substr(std::min(variable.find('='), variable.size()));
                here = here || ((variable.starts_with("VIRTUAL_ENV=") ||
                                 variable.starts_with("CONDA_PREFIX=")) &&
                                (value.substr(1) == prefixes[0] || value.substr(1) == prefixes[1]));
            }
        }
        if (here) {
            return InstallerAtWork{std::string(installer), process};
        }
    }
    return std::nullopt;
}

} // namespace cudaenv::repair
