#include "check/inventory/metadata_text.hpp"

#include "base/ascii.hpp"
#include "base/json_members.hpp"
#include "base/percent.hpp"
#include "base/raw_bytes.hpp"
#include "base/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace cudaenv::inventory {

namespace {

std::string_view take_line(std::string_view& text) {
    const auto newline = text.find('\n');
    auto line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    if (line.ends_with('\r')) {
        line.remove_suffix(1);
    }
    return line;
}

// Calls take(name in lower case, value) for each header; a value that goes over lines has blanks
// where they ended.
template <typename Take>
void for_each_header(std::string_view text, const Take& take) {
    if (text.starts_with("\xef\xbb\xbf")) {
        text.remove_prefix(3);
    }
    std::string name;
    std::string value;
    const auto tell = [&] {
        if (!name.empty()) {
            take(std::string_view(name), std::move(value));
        }
        name.clear();
        value.clear();
    };
    while (!text.empty()) {
        const auto line = take_line(text);
        if (line.empty()) {
            break;
        }
        if (line.front() == ' ' || line.front() == '\t') {
            // Descriptions are folded too, are long, and are not needed here.
            if (!name.empty() && name != "description") {
                value += ' ';
                value += trim(line);
            }
            continue;
        }
        tell();
        const auto colon = line.find(':');
        if (colon == std::string_view::npos || colon == 0) {
            continue; // damaged, or no header
        }
        name = to_lower_ascii(trim(line.substr(0, colon)));
        value = trim(line.substr(colon + 1));
    }
    tell();
}

// "/home/me/a b" of "file:///home/me/a%20b"; empty where it is no URL of this machine's files.
std::string path_of_file_url(std::string_view url) {
    constexpr std::string_view k_scheme = "file://";
    if (!url.starts_with(k_scheme)) {
        return {};
    }
    url.remove_prefix(k_scheme.size());
    if (url.starts_with("localhost/")) {
        url.remove_prefix(9);
    }
    if (!url.starts_with('/')) {
        return {};
    }
    std::string path = percent_decode(url);
    return path.find('\0') == std::string::npos ? path : std::string();
}

std::string archive_hash(const nlohmann::json& archive) {
    if (const auto hashes = archive.find("hashes");
        hashes != archive.end() && hashes->is_object() && !hashes->empty()) {
        auto best = hashes->find("sha256");
        best = best == hashes->end() ? hashes->begin() : best;
        if (best->is_string()) {
            return best.key() + '=' + best->get<std::string>();
        }
    }
    return text_at(archive, "hash"); // as it was written before there was `hashes`
}

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

std::size_t end_of_headers(std::string_view text, std::size_t from) {
    if (from < 2 && text.starts_with('\n')) {
        return 1;
    }
    if (from < 2 && text.starts_with("\r\n")) {
        return 2;
    }
    // The end may lie across `from`.
    for (auto at = text.find('\n', from < 3 ? 0 : from - 3); at != std::string_view::npos;
         at = text.find('\n', at + 1)) {
        const auto rest = text.substr(at + 1);
        if (rest.starts_with('\n')) {
            return at + 2;
        }
        if (rest.starts_with("\r\n")) {
            return at + 3;
        }
    }
    return std::string_view::npos;
}

MetadataText parse_metadata(std::string_view text) {
    MetadataText metadata;
    for_each_header(text, [&](std::string_view name, std::string value) {
        if (name == "requires-dist") {
            metadata.requires_dist.push_back(std::move(value));
        } else if (name == "name" && metadata.name.empty()) {
            metadata.name = std::move(value);
        } else if (name == "version" && metadata.version.empty()) {
            metadata.version = std::move(value);
        }
    });
    return metadata;
}

WheelText parse_wheel(std::string_view text) {
    WheelText wheel;
    for_each_header(text, [&](std::string_view name, std::string value) {
        if (name == "tag") {
            wheel.tags.push_back(std::move(value));
        } else if (name == "generator" && wheel.generator.empty()) {
            wheel.generator = std::move(value);
        }
    });
    return wheel;
}

std::vector<std::string> parse_requires_txt(std::string_view text) {
    std::vector<std::string> requirements;
    std::string condition;
    while (!text.empty()) {
        const auto line = trim(take_line(text));
        if (line.empty() || line.starts_with('#')) {
            continue;
        }
        if (line.starts_with('[') && line.ends_with(']')) {
            const auto section = line.substr(1, line.size() - 2);
            const auto colon = section.find(':');
            const auto extra = section.substr(0, colon);
            const auto marker =
                colon == std::string_view::npos ? std::string_view() : section.substr(colon + 1);
            condition.clear();
            if (!marker.empty()) {
                condition = extra.empty() ? std::string(marker) : '(' + std::string(marker) + ')';
            }
            if (!extra.empty()) {
                condition += condition.empty() ? "" : " and ";
                condition += "extra == \"" + std::string(extra) + '"';
            }
            continue;
        }
        auto requirement = std::string(line);
        if (!condition.empty()) {
            // Behind a URL the semicolon would be part of it.
            requirement += line.find('@') == std::string_view::npos ? "; " : " ; ";
            requirement += condition;
        }
        requirements.push_back(std::move(requirement));
    }
    return requirements;
}

Result<facts::DirectUrl> parse_direct_url(std::string_view text) {
    const auto document = nlohmann::json::parse(text, nullptr, false);
    if (!document.is_object()) {
        return bad_input("bad-json", "is not a JSON object");
    }
    const auto url = text_at(document, "url");
    if (url.empty()) {
        return bad_input("bad-record", "names no url");
    }
    facts::DirectUrl direct_url;
    direct_url.local_directory = path_of_file_url(url);
    // A file's path holds no secret, and what looks like one in it (".../t/...") is a directory.
    direct_url.url = direct_url.local_directory.empty() ? redact_secrets(url) : url;
    if (const auto vcs = document.find("vcs_info"); vcs != document.end() && vcs->is_object()) {
        direct_url.vcs = text_at(*vcs, "vcs");
        direct_url.commit = text_at(*vcs, "commit_id");
    }
    if (const auto archive = document.find("archive_info");
        archive != document.end() && archive->is_object()) {
        direct_url.archive_hash = archive_hash(*archive);
        direct_url.local_directory.clear(); // it leads to a file
    }
    if (const auto directory = document.find("dir_info");
        directory != document.end() && directory->is_object()) {
        const auto editable = directory->find("editable");
        direct_url.editable =
            editable != directory->end() && editable->is_boolean() && editable->get<bool>();
    }
    return direct_url;
}

bool is_of_conda_build(const facts::DirectUrl& direct_url) {
    std::string_view rest = direct_url.url;
    constexpr std::string_view k_work = "/work";
    for (auto at = rest.find(k_work); rest.starts_with("file:") && at != std::string_view::npos;
         at = rest.find(k_work, at + 1)) {
        const auto after = rest.substr(at + k_work.size());
        const auto above = rest.substr(0, at);
        const auto name = above.substr(above.rfind('/') + 1);
        const auto stamp = name.substr(name.rfind('_') + 1);
        constexpr std::size_t k_seconds = 10; // and with milliseconds, 13
        if ((after.empty() || after.starts_with('/')) && name.size() > stamp.size() &&
            stamp.size() >= k_seconds && std::ranges::all_of(stamp, is_digit)) {
            return true;
        }
    }
    return false;
}

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
