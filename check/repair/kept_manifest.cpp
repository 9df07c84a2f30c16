#include "check/repair/kept_manifest.hpp"

#include "base/ascii.hpp"
#include "base/json_bytes.hpp"
#include "base/prefix_directory.hpp"
#include "check/inventory/hex_digest.hpp"
#include "check/repair/file_copy.hpp"

#include <nlohmann/json.hpp>

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

} // namespace cudaenv::repair
