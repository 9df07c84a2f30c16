#include "check/repair/conda_source.hpp"

#include "base/ascii.hpp"
#include "base/json_members.hpp"
#include "base/prefix_directory.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "check/repair/file_copy.hpp"
#include "host/conda_installs.hpp"
#include "host/file_system.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <span>
#include <unistd.h>

namespace cudaenv::repair {

namespace {

constexpr std::size_t k_longest_list = std::size_t{64} << 20U;
constexpr std::size_t k_longest_with_prefix = std::size_t{2} << 30U;
constexpr std::string_view k_old_placeholder = "/opt/anaconda1anaconda2anaconda3";

constexpr std::size_t k_longest_first_line = 127; // that Linux reads

std::string replaced(std::string_view content, std::string_view from, std::string_view to) {
    std::string out;
    out.reserve(content.size());
    std::size_t at = 0;
    for (auto found = content.find(from); found != std::string_view::npos;
         found = content.find(from, at)) {
        out += content.substr(at, found - at);
        out += to;
        at = found + from.size();
    }
    out += content.substr(at);
    return out;
}

// "#! /a/bin/python -E" as "#!/usr/bin/env python -E".
std::string by_env(std::string_view line) {
    std::string_view rest = line.substr(2);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (!rest.starts_with('/')) {
        return std::string(line);
    }
    std::size_t end = 0; // a blank after a backslash belongs to the path
    while (end < rest.size() && ((rest[end] != ' ' && rest[end] != '\t' && rest[end] != '\r') ||
                                 (end > 0 && rest[end - 1] == '\\'))) {
        ++end;
    }
    const std::string_view program = rest.substr(0, end);
    return "#!/usr/bin/env " + std::string(program.substr(program.rfind('/') + 1)) +
           std::string(rest.substr(end));
}

// "a.b_c": nothing else belongs into a line of Python.
bool is_dotted_name(std::string_view text) {
    const auto parts = split(text, '.');
    return !parts.empty() && std::ranges::all_of(parts, [](std::string_view part) {
        return !part.empty() && !is_digit(part.front()) &&
               std::ranges::all_of(part, [](char c) { return is_alnum(c) || c == '_'; });
    });
}

// The kernel takes 127 bytes and no blank; a shell takes the rest, and to Python its line is text.
std::string first_lines(std::string_view python) {
    constexpr std::size_t k_longest = 127 - 2;
    if (python.size() <= k_longest && python.find_first_of(" \t") == std::string_view::npos) {
        return fmt::format("#!{}\n", python);
    }
    return fmt::format("#!/bin/sh\n'''exec' \"{}\" \"$0\" \"$@\" #'''\n", python);
}

} // namespace

std::map<std::string, PackagedFile> read_paths_json(const std::string& text) {
    std::map<std::string, PackagedFile> files;
    const auto document = nlohmann::json::parse(text, nullptr, false);
    if (!document.is_object() || !document.contains("paths") || !document["paths"].is_array()) {
        return files;
    }
    for (const auto& entry : document["paths"]) {
        if (!entry.is_object()) {
            continue;
        }
        files[text_at(entry, "_path")] = {
            text_at(entry, "prefix_placeholder"),
            text_at(entry, "file_mode") == "binary" ? PrefixMode::Binary : PrefixMode::Text};
    }
    return files;
}

std::map<std::string, PackagedFile> read_has_prefix(std::string_view text) {
    std::map<std::string, PackagedFile> files;
    for (auto line : split(text, '\n')) {
        line = trim(line);
        const auto unquoted = [](std::string_view word) {
            return word.size() >= 2 && word.front() == '"' && word.back() == '"'
                       ? word.substr(1, word.size() - 2)
                       : word;
        };
        const auto first = line.find(' ');
        const auto second = first == std::string_view::npos ? first : line.find(' ', first + 1);
        if (second == std::string_view::npos) {
            if (!line.empty()) {
                files[std::string(unquoted(line))] = {std::string(k_old_placeholder),
                                                      PrefixMode::Text};
            }
            continue;
        }
        const auto mode = line.substr(first + 1, second - first - 1);
        files[std::string(unquoted(line.substr(second + 1)))] = {
            std::string(unquoted(line.substr(0, first))),
            mode == "binary" ? PrefixMode::Binary : PrefixMode::Text};
    }
    return files;
}

std::vector<std::string> packaged_names(std::string_view path) {
    std::vector<std::string> names{std::string(path)};
    constexpr std::string_view k_site = "/site-packages/";
    if (const auto site = path.find(k_site); site != std::string_view::npos) {
        names.emplace_back(path.substr(site + 1));
    } else if (path.starts_with("bin/")) {
        names.push_back("python-scripts/" + std::string(path.substr(4)));
    }
    return names;
}

std::optional<CondaSource> CondaSource::open(const std::string& directory,
                                             const trusted::Trust& trust) {
    CondaSource source;
    source.m_trust = trust;
    const std::string root(host::parent_path(host::parent_path(directory))); // of ROOT/pkgs/PACKAGE
    if (::access((root + "/conda-meta").c_str(), F_OK) == 0) {
        source.m_trust.add_owner_of(root);
    }
    source.m_fd.reset(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!source.m_fd) {
        return std::nullopt;
    }
    const int fd = source.m_fd.get();
    if (const auto text = read_file(fd, "info/paths.json", k_longest_list)) {
        source.m_files = read_paths_json(*text);
    } else if (const auto old = read_file(fd, "info/has_prefix", k_longest_list)) {
        source.m_files = read_has_prefix(*old);
    }
    const Fd commands(
        ::openat(fd, "info/link.json", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (commands &&
        !trusted::objection_to(commands.get(), directory + "/info/link.json", source.m_trust)) {
        if (const auto text = read_open_file(commands.get(), "info/link.json", k_longest_list)) {
            source.m_entry_points = read_entry_points(*text);
        }
    }
    return source;
}

std::optional<std::string> CondaSource::entry_point(const std::string& command) const {
    const auto found = m_entry_points.find(command);
    return found == m_entry_points.end() ? std::nullopt : std::optional(found->second);
}

Result<bool> CondaSource::stage(const std::string& path, const std::string& prefix, int into,
                                const std::string& name, const GoesOn& wanted) const {
    for (const std::string& packaged : packaged_names(path)) {
        struct stat status {};
        if (!is_inner_path(packaged) ||
            ::fstatat(m_fd.get(), packaged.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        if (S_ISLNK(status.st_mode)) {
            const Fd link(::openat(m_fd.get(), packaged.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
            if (!link || trusted::objection_to(link.get(), packaged, m_trust)) {
                continue;
            }
            CUDAENV_TRY(const auto text, read_link(link.get(), ""));
            if (::symlinkat(text.c_str(), into, name.c_str()) != 0) {
                return failed_on(errno, "cannot make the link", path);
            }
            return true;
        }
        if (!S_ISREG(status.st_mode)) {
            continue;
        }
        const auto known = m_files.find(packaged);
        if (known == m_files.end() || known->second.placeholder.empty()) {
            CUDAENV_TRY(const auto way,
                        copy_file(m_fd.get(), packaged, into, name, status.st_mode, wanted));
            static_cast<void>(way);
            return true;
        }
        CUDAENV_TRY(const auto content, read_file(m_fd.get(), packaged, k_longest_with_prefix));
        const PackagedFile& file = known->second;
        const auto made = file.mode == PrefixMode::Binary
                              ? with_prefix_in_binary(content, file.placeholder, prefix)
                              : with_prefix_in_text(content, file.placeholder, prefix);
        if (!made) {
            continue;
        }
        CUDAENV_TRY_VOID(write_file(into, name, *made, status.st_mode, status.st_mtim));
        return true;
    }
    return false;
}

std::string with_prefix_in_text(std::string_view content, std::string_view placeholder,
                                std::string_view prefix) {
    if (placeholder.empty()) {
        return std::string(content);
    }
    std::string text = replaced(content, placeholder, prefix);
    if (!content.starts_with("#!")) {
        return text;
    }
    const std::size_t end = std::min(text.find('\n'), text.size());
    const bool had_placeholder =
        content.substr(0, content.find('\n')).find(placeholder) != std::string_view::npos;
    const bool unreadable =
        end > k_longest_first_line || prefix.find(' ') != std::string_view::npos;
    return had_placeholder && unreadable
               ? by_env(std::string_view(text).substr(0, end)) + text.substr(end)
               : text;
}

std::optional<std::string> with_prefix_in_binary(std::string_view content,
                                                 std::string_view placeholder,
                                                 std::string_view prefix) {
    // No path has a NUL in it.
    if (placeholder.empty() || placeholder.find('\0') != std::string_view::npos ||
        prefix.size() > placeholder.size()) {
        return std::nullopt;
    }
    std::string out;
    out.reserve(content.size());
    std::size_t at = 0;
    for (auto found = content.find(placeholder); found != std::string_view::npos;
         found = content.find(placeholder, at)) {
        const auto end = std::min(content.find('\0', found), content.size());
        out += content.substr(at, found - at);
        const std::string text = replaced(content.substr(found, end - found), placeholder, prefix);
        out += text;
        out.append(end - found - text.size(), '\0');
        at = end;
    }
    out += content.substr(at);
    return out;
}

std::map<std::string, std::string> read_entry_points(const std::string& link_json) {
    std::map<std::string, std::string> entry_points;
    const auto document = nlohmann::json::parse(link_json, nullptr, false);
    const auto pointer = nlohmann::json::json_pointer("/noarch/entry_points");
    if (!document.is_object() || !document.contains(pointer) || !document[pointer].is_array()) {
        return entry_points;
    }
    for (const auto& entry : document[pointer]) {
        const auto line = entry.is_string() ? entry.get<std::string>() : std::string();
        if (const auto equals = line.find('='); equals != std::string::npos) {
            entry_points[std::string(trim(line.substr(0, equals)))] = trim(line.substr(equals + 1));
        }
    }
    return entry_points;
}

std::optional<std::string> entry_point_script(std::string_view python, std::string_view target) {
    const auto colon = target.find(':');
    if (colon == std::string_view::npos || python.find_first_of("\"\n$`\\") != std::string::npos) {
        return std::nullopt;
    }
    const auto module = trim(target.substr(0, colon));
    auto function = target.substr(colon + 1);
    function = trim(function.substr(0, function.find('['))); // extras
    if (!is_dotted_name(module) || !is_dotted_name(function)) {
        return std::nullopt;
    }
    const auto imported = function.substr(0, function.find('.'));
    return first_lines(python) +
           fmt::format(
               "# -*- coding: utf-8 -*-\n"
               "import re\n"
               "import sys\n"
               "\n"
               "from {} import {}\n"
               "\n"
               "if __name__ == \"__main__\":\n"
               "    sys.argv[0] = re.sub(r\"(-script\\.pyw?|\\.exe)?$\", \"\", sys.argv[0])\n"
               "    sys.exit({}())\n",
               module, imported, function);
}

std::vector<std::string> package_caches(const host::Environment& environment,
                                        const std::string& home, const std::string& prefix) {
    std::vector<std::string> caches;
    const auto add = [&](std::string directory) {
        if (directory.starts_with('/') && !is_one_of(directory, caches)) {
            caches.push_back(std::move(directory));
        }
    };
    const auto add_below = [&](const std::string& base, const char* rest) {
        if (!base.empty()) {
            add(base + rest);
        }
    };
    const std::string listed = host::value_of(environment, "CONDA_PKGS_DIRS");
    for (const char separator : {',', ':'}) { // conda has it either way
        for (const auto part : split(listed, separator)) {
            add(std::string(trim(part)));
        }
    }
    add_below(host::value_of(environment, "RATTLER_CACHE_DIR"), "/pkgs");
    add_below(host::value_of(environment, "MAMBA_ROOT_PREFIX"), "/pkgs");
    if (const auto envs = prefix.rfind("/envs/"); envs != std::string::npos) {
        add(prefix.substr(0, envs) + "/pkgs");
    }
    add_below(prefix, "/pkgs"); // a root is an environment of its own
    host::DiskFileSystem files;
    host::NoProcesses processes; // no version is needed, only the path
    host::VersionCache nothing("", 0);
    const auto found =
        host::find_conda(files, environment, home, {processes, nothing, environment});
    for (const facts::CondaInstall& install : found.installs) {
        if (install.kind == "conda" || install.kind == "mamba") {
            add(install.path + "/pkgs");
        }
    }
    const std::string cache = host::value_of(environment, "XDG_CACHE_HOME");
    add_below(cache.empty() && !home.empty() ? home + "/.cache" : cache, "/rattler/cache/pkgs");
    add_below(home, "/.conda/pkgs");
    add_below(home, "/micromamba/pkgs");
    add_below(home, "/.local/share/mamba/pkgs");
    return caches;
}

std::vector<std::string> extracted_places(const facts::CondaPackage& package,
                                          const std::vector<std::string>& caches) {
    std::vector<std::string> places;
    if (package.extracted.starts_with('/')) {
        places.push_back(package.extracted);
    }
    const std::string name = package.name + '-' + package.version + '-' + package.build;
    if (name.find('/') == std::string::npos) {
        for (const std::string& cache : caches) {
            places.push_back(cache + '/' + name);
        }
    }
    return places;
}

} // namespace cudaenv::repair
