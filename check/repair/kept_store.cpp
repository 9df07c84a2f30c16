#include "check/repair/kept_store.hpp"

#include "base/ascii.hpp"
#include "base/directory_names.hpp"
#include "base/fingerprint.hpp"
#include "base/json_bytes.hpp"
#include "base/prefix_directory.hpp"
#include "base/private_files.hpp"
#include "base/real_path.hpp"
#include "check/inventory/sha256_file.hpp"
#include "check/repair/file_copy.hpp"
#include "check/repair/staging.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <tuple>

namespace cudaenv::repair {

namespace {

using nlohmann::json;

constexpr const char* k_schema = "cudaenv.kept-manifest/1";

std::optional<std::string> bytes_at(const json& object, const char* name) {
    const auto found = object.find(name);
    return found == object.end() ? std::nullopt : bytes_of_json(*found);
}

std::optional<KeptFile> file_of(const json& entry) {
    if (!entry.is_object()) {
        return std::nullopt;
    }
    KeptFile file;
    const auto path = bytes_at(entry, "path");
    if (!path || !is_inner_path(*path)) {
        return std::nullopt;
    }
    file.path = *path;
    if (entry.contains("link")) {
        file.link = bytes_at(entry, "link");
        return file.link && !file.link->empty() ? std::optional(file) : std::nullopt;
    }
    const auto digest = bytes_at(entry, "sha256");
    const auto size = entry.find("size");
    const auto mode = entry.find("mode");
    if (!digest || !inventory::decode_hex(*digest, file.sha256) || size == entry.end() ||
        !size->is_number_unsigned() || mode == entry.end() || !mode->is_number_unsigned()) {
        return std::nullopt;
    }
    file.size = size->get<std::uint64_t>();
    file.mode = mode->get<unsigned>() & 0777U;
    return file;
}

// Some 200 bytes a file.
constexpr std::size_t k_longest_manifest = std::size_t{64} << 20U;

} // namespace

std::string write_manifest(const KeptDistribution& kept) {
    json files = json::array();
    for (const KeptFile& file : kept.files) {
        json entry{{"path", bytes_to_json(file.path)}};
        if (file.link) {
            entry["link"] = bytes_to_json(*file.link);
        } else {
            entry["sha256"] = to_text(file.sha256);
            entry["size"] = file.size;
            entry["mode"] = file.mode;
        }
        files.push_back(std::move(entry));
    }
    return json{{"schema", k_schema},
                {"prefix", bytes_to_json(kept.prefix)},
                {"name", bytes_to_json(kept.name)},
                {"version", bytes_to_json(kept.version)},
                {"metadata", bytes_to_json(kept.metadata)},
                {"site", bytes_to_json(kept.site)},
                {"source", bytes_to_json(kept.source)},
                {"editable", kept.editable},
                {"kept_at", kept.kept_at},
                {"path_line", bytes_to_json(kept.path_line)},
                {"files", std::move(files)}}
        .dump(1);
}

std::optional<KeptDistribution> read_manifest(std::string_view text) {
    const json document = json::parse(text, nullptr, false);
    if (!document.is_object() || bytes_at(document, "schema") != k_schema) {
        return std::nullopt;
    }
    KeptDistribution kept;
    for (const auto& [name, member] :
         {std::pair("prefix", &kept.prefix), std::pair("name", &kept.name),
          std::pair("version", &kept.version), std::pair("metadata", &kept.metadata),
          std::pair("site", &kept.site), std::pair("source", &kept.source)}) {
        const auto value = bytes_at(document, name);
        if (!value) {
            return std::nullopt;
        }
        *member = *value;
    }
    const auto editable = document.find("editable");
    const auto kept_at = document.find("kept_at");
    const auto files = document.find("files");
    if (editable == document.end() || !editable->is_boolean() || kept_at == document.end() ||
        !kept_at->is_number_integer() || files == document.end() || !files->is_array() ||
        kept.name.empty() || !is_inner_path(kept.metadata)) {
        return std::nullopt;
    }
    kept.path_line = bytes_at(document, "path_line").value_or("");
    kept.editable = editable->get<bool>();
    kept.kept_at = kept_at->get<std::int64_t>();
    for (const json& entry : *files) {
        auto file = file_of(entry);
        if (!file) {
            return std::nullopt;
        }
        kept.files.push_back(std::move(*file));
    }
    return kept;
}

std::string kept_name(std::string_view name, std::string_view version) {
    std::string text = std::string(name) + '-' + std::string(version);
    for (char& c : text) {
        if (!is_alnum(c) && std::string_view("-_.+!").find(c) == std::string_view::npos) {
            c = '_';
        }
    }
    constexpr std::size_t k_longest = 200;
    text.resize(std::min(text.size(), k_longest));
    return text.starts_with('.') ? '_' + text : text;
}

std::string KeptStore::directory_of(const std::string& prefix) const {
    return m_directory + '/' + fingerprint(real_path(prefix));
}

std::vector<KeptDistribution> KeptStore::list(const std::string& prefix) const {
    std::vector<KeptDistribution> all;
    if (!usable()) {
        return all;
    }
    const std::string directory = directory_of(prefix);
    const auto names = names_in(directory);
    for (const std::string& name : names.value_or(std::vector<std::string>())) {
        if (name.starts_with('.')) {
            continue;
        }
        auto kept = read_manifest(
            read_private_file(directory + '/' + name + '/' + k_manifest, k_longest_manifest));
        if (kept && kept->prefix == real_path(prefix) &&
            kept_name(kept->name, kept->version) == name) {
            all.push_back(std::move(*kept));
        }
    }
    std::ranges::sort(all, [](const auto& left, const auto& right) {
        return std::tie(left.name, left.kept_at, left.version) <
               std::tie(right.name, right.kept_at, right.version);
    });
    return all;
}

std::optional<KeptDistribution> KeptStore::find(const std::string& prefix, std::string_view name,
                                                std::string_view version) const {
    std::optional<KeptDistribution> found;
    for (KeptDistribution& one : list(prefix)) {
        if (one.name == name && (version.empty() || one.version == version)) {
            found = std::move(one);
        }
    }
    return found;
}

std::string KeptStore::files_of(const KeptDistribution& kept) const {
    return directory_of(kept.prefix) + '/' + kept_name(kept.name, kept.version) + '/' + k_files;
}

Result<void> KeptStore::forget(const KeptDistribution& kept) const {
    const std::string directory = directory_of(kept.prefix);
    const Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::string name = kept_name(kept.name, kept.version);
    const std::string aside = ".old-" + name;
    if (!fd) {
        return failed_on(errno, "cannot open", directory);
    }
    remove_tree(fd.get(), aside);
    if (::renameat(fd.get(), name.c_str(), fd.get(), aside.c_str()) != 0) {
        return failed_on(errno, "cannot remove", directory + '/' + name);
    }
    if (const int error = remove_tree(fd.get(), aside)) {
        return failed_on(error, "cannot remove", directory + '/' + aside);
    }
    return {};
}

} // namespace cudaenv::repair
