#include "check/repair/conda_source.hpp"

#include "base/json_members.hpp"
#include "base/prefix_directory.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "check/repair/entry_point.hpp"
#include "check/repair/file_copy.hpp"
#include "check/repair/placeholder.hpp"
#include "host/file_system.hpp"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

namespace cudaenv::repair {

namespace {

constexpr std::size_t k_longest_list = std::size_t{64} << 20U;
constexpr std::size_t k_longest_with_prefix = std::size_t{2} << 30U;
constexpr std::string_view k_old_placeholder = "/opt/anaconda1anaconda2anaconda3";

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

} // namespace cudaenv::repair
