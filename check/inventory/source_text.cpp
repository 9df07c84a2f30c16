#include "check/inventory/source_text.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace cudaenv::inventory {

namespace {

// No line of a path is longer; Python would fail on it as well.
constexpr std::size_t k_longest_path = 4096;

std::string absolute_path(std::string_view written, std::string_view site, ClaimedPaths& paths) {
    if (written.size() > k_longest_path || written.find('\0') != std::string_view::npos) {
        return {};
    }
    return paths.absolute(paths.resolve(site, written));
}

// "__editable___pkg_finder" of "import __editable___pkg_finder; __editable___pkg_finder.install()".
std::string_view imported_module(std::string_view line) {
    line = trim(line.substr(std::string_view("import ").size()));
    const auto end = std::ranges::find_if_not(line, [](char c) {
        return is_alnum(c) || c == '_' || c == '.' || static_cast<unsigned char>(c) >= 0x80;
    });
    return line.substr(0, static_cast<std::size_t>(end - line.begin()));
}

} // namespace

PathFileText parse_path_file(std::string_view text, std::string_view site, ClaimedPaths& paths) {
    PathFileText path_file;
    if (text.starts_with("\xef\xbb\xbf")) {
        text.remove_prefix(3);
    }
    for (const auto whole : split(text, '\n')) {
        if (whole.starts_with('#')) {
            continue;
        }
        if (whole.starts_with("import ") || whole.starts_with("import\t")) {
            const auto module = imported_module(whole);
            if (to_lower_ascii(module).find("editable") != std::string::npos) {
                path_file.finders.emplace_back(module);
            }
            continue;
        }
        auto line = whole;
        while (!line.empty() && is_space(line.back())) {
            line.remove_suffix(1);
        }
        if (trim(line).empty()) {
            continue;
        }
        if (auto path = absolute_path(line, site, paths); !path.empty()) {
            path_file.directories.push_back(std::move(path));
        }
    }
    return path_file;
}

std::string parse_egg_link(std::string_view text, std::string_view site, ClaimedPaths& paths) {
    for (const auto line : split(text, '\n')) {
        if (const auto path = trim(line); !path.empty()) {
            return absolute_path(path, site, paths);
        }
    }
    return {};
}

} // namespace cudaenv::inventory
