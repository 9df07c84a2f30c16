#include "host/probe/file_stamps.hpp"

#include "base/fingerprint.hpp"
#include "base/text.hpp"
#include "solver/facts/probe.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::probe {

namespace {

constexpr std::string_view k_names = "names:"; // so begins a directory's stamp
constexpr std::string_view k_loader_cache = "ld.so.cache";
constexpr std::size_t k_loader_cache_limit = std::size_t{4} * 1024 * 1024;

// A file that a probe of that depth may load; each loads libcuda and libcudart.
bool may_be_loaded(std::string_view name, VerdictDepth depth) {
    return name.starts_with("libcuda") ||
           (depth == VerdictDepth::Full &&
            std::ranges::any_of(facts::k_library_rungs, [&](const facts::RungRow& rung) {
                return name.starts_with(rung.library.file);
            }));
}

std::vector<std::string> cached_names(host::FileSystem& files, const std::string& path) {
    const std::string text = files.read_file(path, k_loader_cache_limit).value_or("");
    std::vector<std::string> names;
    for (const std::string_view name : split(text, '\0')) {
        if (name.starts_with("lib")) { // each is there a second time with its directory
            names.emplace_back(name);
        }
    }
    return names;
}

} // namespace

bool is_of_names(std::string_view stamp) {
    return stamp.starts_with(k_names);
}

const FileStamps::Look& FileStamps::look(const std::string& path) {
    if (const auto found = m_looks.find(path); found != m_looks.end()) {
        return found->second;
    }
    Look look;
    if (const auto status = m_files->status(path); !status) {
        look.stamp = "absent";
    } else if (status->kind == host::FileKind::Directory) {
        if (auto names = m_files->list_directory(path)) {
            look.names = *std::move(names);
            look.all = host::base_name(path) == "nvidia"; // of wheels: each name is a package
        } else {
            look.stamp = "closed";
        }
    } else if (host::base_name(path) == k_loader_cache) {
        look.names = cached_names(*m_files, path);
    } else {
        // Who may read it too: no change of that is a change of its times.
        look.stamp = fmt::format("{}:{}:{:o}:{}:{}", status->size, status->modified_ns,
                                 status->mode, status->owner, status->group);
    }
    return m_looks.emplace(path, std::move(look)).first->second;
}

std::string FileStamps::of(const std::string& path, VerdictDepth depth) {
    const Look& seen = look(path);
    if (!seen.stamp.empty()) {
        return seen.stamp;
    }
    std::string text;
    for (const std::string& name : seen.names) {
        if (seen.all || may_be_loaded(host::base_name(name), depth)) {
            text += name + '\n';
        }
    }
    return std::string(k_names) + fingerprint(text);
}

} // namespace cudaenv::probe
