#include "check/inventory/record_reader.hpp"

#include "base/ranges.hpp"
#include "base/text.hpp"
#include "check/inventory/metadata_text.hpp"
#include "host/environments/packages.hpp"
#include "host/file_system.hpp"
#include "solver/specs/requirement.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>

namespace cudaenv::inventory {

using facts::Distribution;
using facts::DistributionKind;

namespace {

using facts::Distribution;
using facts::DistributionKind;
using facts::Leftover;
using facts::LeftoverKind;

std::string without_end(std::string_view name, std::string_view end) {
    name.remove_suffix(end.size());
    return std::string(name);
}

// The records that setuptools writes: egg-info, egg-link and eggs.

// "PyYAML-6.0-py3.11.egg-info", "ours.egg-info", "apex-0.1-py3.11-linux-x86_64.egg"
void take_egg_name(Distribution& distribution, const std::string& name) {
    auto stem = name.substr(0, name.rfind('.'));
    if (const auto python = stem.rfind("-py"); python != std::string::npos) {
        stem.resize(python);
    }
    const auto dash = stem.find('-');
    take_name(distribution, stem.substr(0, dash),
              dash == std::string::npos ? std::string() : stem.substr(dash + 1));
}

} // namespace

std::int64_t laid_down_by(const FileText& record, std::int64_t other_ns) {
    return std::min({record.modified_ns, record.changed_ns, other_ns});
}

void take_name(facts::Distribution& distribution, std::string name, std::string version) {
    if (!name.empty()) {
        distribution.written = std::move(name);
    }
    if (!version.empty()) {
        distribution.version = std::move(version);
    }
    distribution.name = specs::normalize_project_name(distribution.written);
}

void take_metadata(Distribution& distribution, std::string_view text) {
    auto metadata = parse_metadata(text);
    take_name(distribution, std::move(metadata.name), std::move(metadata.version));
    distribution.requires_dist = std::move(metadata.requires_dist);
}

// What there is to know of a kind of record; the next one is a row.
struct RecordKindRow {
    RecordKind kind;
    std::string_view suffix; // of its name in site-packages; empty: it is known otherwise
    void (RecordReader::*read)(const std::string& name, const std::string& path);
    // What its reading depends on, below its name: a directory's times show added and removed
    // names, each file's times its content. Empty: more than that.
    std::vector<std::string> stamped;

    static const std::vector<RecordKindRow>& all();
    static const RecordKindRow& of(RecordKind kind) {
        return *find_pointer(all(), kind, &RecordKindRow::kind);
    }
};

const std::vector<RecordKindRow>& RecordKindRow::all() {
    static const std::vector<RecordKindRow> rows = {
        {RecordKind::Conda, "", &RecordReader::read_conda_record, {""}},
        {RecordKind::DistInfo,
         ".dist-info",
         &RecordReader::read_dist_info,
         {"", "/METADATA", "/RECORD", "/INSTALLER", "/WHEEL", "/direct_url.json"}},
        {RecordKind::EggInfo,
         ".egg-info",
         &RecordReader::read_egg_info,
         {"", "/PKG-INFO", "/requires.txt", "/installed-files.txt", "/INSTALLER",
          "/direct_url.json"}},
        {RecordKind::EggLink, ".egg-link", &RecordReader::read_egg_link, {}}, // leads elsewhere
        {RecordKind::Egg,
         ".egg",
         &RecordReader::read_egg,
         {"", "/EGG-INFO", "/EGG-INFO/PKG-INFO", "/EGG-INFO/requires.txt", "/EGG-INFO/WHEEL",
          "/EGG-INFO/INSTALLER", "/EGG-INFO/direct_url.json"}},
        {RecordKind::PathFile, ".pth", &RecordReader::read_path_file, {""}},
        {RecordKind::Tilde, "", &RecordReader::read_tilde, {}},
    };
    return rows;
}

std::optional<RecordKind> kind_in_site(std::string_view name) {
    if (name.starts_with('~')) {
        return RecordKind::Tilde;
    }
    const auto* const row = find_pointer_if(RecordKindRow::all(), [&](const RecordKindRow& one) {
        return !one.suffix.empty() && name.ends_with(one.suffix);
    });
    return row == nullptr ? std::nullopt : std::optional(row->kind);
}

std::vector<FileIdentity> stamps_of(RecordKind kind, const RecordPlace& place,
                                    const std::string& name, std::int64_t now_ns) {
    std::vector<FileIdentity> stamps;
    for (const std::string& part : RecordKindRow::of(kind).stamped) {
        struct stat status {};
        if (::fstatat(place.open.fd(), (name + part).c_str(), &status, 0) == 0) {
            stamps.push_back(FileIdentity::of(status));
        } else if (errno == ENOENT || errno == ENOTDIR) {
            stamps.emplace_back();
        } else {
            return {};
        }
        if (!is_settled(stamps.back(), now_ns)) {
            return {};
        }
    }
    return stamps;
}

ReadRecord RecordReader::read(RecordKind kind, const RecordPlace& place, const std::string& name) {
    m_record = {};
    m_place = &place;
    (this->*RecordKindRow::of(kind).read)(name, place.path + '/' + name);
    return std::move(m_record);
}

void RecordReader::note(const std::string& path, std::string reason) {
    m_record.notes.push_back({path, std::move(reason)});
}
void RecordReader::note(const std::string& path, const Error& error) {
    note(path, host::reason_of(error));
}

// Nothing where it is not there, or cannot be read, which is noted. `is_there`: for the former.
std::optional<FileText> RecordReader::text_of(const OpenDirectory& in, const std::string& name,
                                              const std::string& path, std::size_t limit,
                                              bool* is_there) {
    return taken(m_files.read(in, name, limit), path, is_there);
}
std::optional<FileText> RecordReader::headers_of(const OpenDirectory& in, const std::string& name,
                                                 const std::string& path, bool* is_there) {
    auto text = taken(m_files.read_headers(in, name, k_longest_headers), path, is_there);
    if (text && text->cut) {
        note(path, "its headers are longer than 4 MiB; those beyond are not read");
    }
    return text;
}
std::optional<FileText> RecordReader::taken(Result<FileText> text, const std::string& path,
                                            bool* is_there) {
    const bool absent = !text && text.error().code == k_not_found;
    if (is_there != nullptr) {
        *is_there = !absent;
    }
    if (text) {
        return *text;
    }
    if (!absent) {
        note(path, text.error());
    }
    return std::nullopt;
}

void RecordReader::read_conda_record(const std::string& name, const std::string& path) {
    auto& package = m_record.conda.emplace();
    if (const auto parsed = environments::parse_conda_record(name)) {
        package.name = parsed->name;
        package.version = parsed->version;
        package.build = parsed->build;
    }
    const auto text = m_files.read(m_place->open, name, k_longest_record);
    if (!text) {
        note(path, text.error());
    } else if (auto read = m_conda_meta.read(text->text, m_paths)) {
        if (read->files.size() == k_most_claims) {
            note(path, "more than a million files; those beyond are not read");
        }
        package = std::move(*read);
    } else {
        note(path, read.error().message);
        m_record.notes.back().damaged = true;
    }
    package.record = path;
    package.written_ns = text ? text->modified_ns : 0;
    package.laid_down_ns = text ? laid_down_by(*text, text->modified_ns) : 0;
}

facts::Distribution& RecordReader::begin_distribution(DistributionKind kind,
                                                      const std::string& path) {
    auto& distribution = m_record.distribution.emplace();
    distribution.kind = kind;
    distribution.metadata = path;
    distribution.site = m_place->path;
    return distribution;
}

void RecordReader::take_files(Distribution& distribution, RecordText record,
                              const std::string& path) {
    if (record.damaged != 0) {
        note(path, std::to_string(record.damaged) +
                       (record.damaged == 1 ? " line is" : " lines are") +
                       " damaged, the first is line " + std::to_string(record.first_damaged_line));
    }
    if (record.cut) {
        note(path, "more than a million files; those beyond are not read");
    }
    distribution.damaged_lines = record.damaged;
    distribution.files = std::move(record.files);
}

void RecordReader::read_dist_info(const std::string& name, const std::string& path) {
    auto in = m_place->open.open_below(name);
    if (!in && in.error().code == k_not_found) {
        note(path, "is not a directory");
        return;
    }
    auto& distribution = begin_distribution(DistributionKind::DistInfo, path);
    const auto parsed = environments::parse_dist_info(name);
    const auto stem = without_end(name, ".dist-info");
    take_name(distribution, parsed ? stem.substr(0, parsed->name.size()) : stem,
              parsed ? parsed->version : std::string());
    if (!in) {
        note(path, in.error());
        return;
    }
    distribution.installed_ns = in->modified_ns();
    if (const auto text =
            headers_of(*in, "METADATA", path + "/METADATA", &distribution.has_metadata)) {
        take_metadata(distribution, text->text);
    }
    if (m_place->of_base) {
        distribution.has_record = in->has("RECORD");
    } else if (const auto text = text_of(*in, "RECORD", path + "/RECORD", k_longest_record,
                                         &distribution.has_record)) {
        take_files(distribution, parse_record(text->text, distribution.site, m_paths),
                   path + "/RECORD");
        distribution.laid_down_ns = laid_down_by(*text, distribution.installed_ns);
    }
    if (const auto text = text_of(*in, "INSTALLER", path + "/INSTALLER", k_longest_small_file)) {
        distribution.installer = trim(text->text);
    }
    if (const auto text = text_of(*in, "WHEEL", path + "/WHEEL", k_longest_small_file)) {
        auto wheel = parse_wheel(text->text);
        distribution.tags = std::move(wheel.tags);
        distribution.generator = std::move(wheel.generator);
    }
    read_direct_url(distribution, *in, path);
    distribution.requested = in->has("REQUESTED");
    if (!distribution.has_metadata) {
        m_record.leftovers.push_back(
            {LeftoverKind::NoMetadata, path, distribution.name, distribution.version});
    }
    if (!distribution.has_record) {
        m_record.leftovers.push_back(
            {LeftoverKind::NoRecord, path, distribution.name, distribution.version});
    }
}

void RecordReader::read_direct_url(Distribution& distribution, const OpenDirectory& in,
                                   const std::string& path) {
    const auto own_path = path + "/direct_url.json";
    if (const auto text = text_of(in, "direct_url.json", own_path, k_longest_small_file)) {
        if (auto url = inventory::parse_direct_url(text->text)) {
            if (!is_of_conda_build(*url)) {
                distribution.direct_url = std::move(*url);
            }
        } else {
            note(own_path, url.error().message);
        }
    }
}

void RecordReader::read_path_file(const std::string& name, const std::string& path) {
    const auto text = text_of(m_place->open, name, path, k_longest_path_file);
    if (!text) {
        return;
    }
    auto parsed = parse_path_file(text->text, m_place->path, m_paths);
    // What it leads to inside of its own site-packages is the package itself.
    const auto site = m_paths.absolute(m_place->path) + '/';
    std::erase_if(parsed.directories, [&](const std::string& directory) {
        return directory.starts_with(site) || directory.size() + 1 == site.size();
    });
    if (!parsed.directories.empty() || !parsed.finders.empty()) {
        m_record.path_file =
            facts::PathFile{path, std::move(parsed.directories), std::move(parsed.finders)};
    }
}

void RecordReader::read_tilde(const std::string& name, const std::string& path) {
    const auto in = m_place->open.open_below(name);
    if (!in) {
        if (in.error().code != k_not_found) { // a file of that name is no such thing
            note(path, in.error());
        }
        return;
    }
    Leftover leftover{LeftoverKind::InterruptedUninstall, path, {}, {}};
    if (name.ends_with(".dist-info")) {
        if (const auto text = headers_of(*in, "METADATA", path + "/METADATA")) {
            auto metadata = parse_metadata(text->text);
            leftover.name = specs::normalize_project_name(metadata.name);
            leftover.version = std::move(metadata.version);
        }
    }
    m_record.leftovers.push_back(std::move(leftover));
}

void RecordReader::read_egg_info(const std::string& name, const std::string& path) {
    const auto in = m_place->open.open_below(name);
    if (!in && in.error().code == k_not_found) {
        auto& distribution = begin_distribution(DistributionKind::EggInfoFile, path);
        take_egg_name(distribution, name);
        if (const auto text = headers_of(m_place->open, name, path, &distribution.has_metadata)) {
            take_metadata(distribution, text->text);
            distribution.installed_ns = text->modified_ns;
        } else if (!distribution.has_metadata) {
            note(path, "leads nowhere");
        }
        return;
    }
    auto& distribution = begin_distribution(DistributionKind::EggInfoDirectory, path);
    take_egg_name(distribution, name);
    if (!in) {
        note(path, in.error());
        return;
    }
    read_egg_directory(distribution, *in, path);
    const auto list = path + "/installed-files.txt";
    if (m_place->of_base) {
        distribution.has_record = in->has("installed-files.txt");
    } else if (const auto text = text_of(*in, "installed-files.txt", list, k_longest_record,
                                         &distribution.has_record)) {
        take_files(distribution, parse_installed_files(text->text, path, m_paths), list);
        distribution.laid_down_ns = laid_down_by(*text, distribution.installed_ns);
    }
}

void RecordReader::read_egg_directory(Distribution& distribution, const OpenDirectory& in,
                                      const std::string& path) {
    distribution.installed_ns = in.modified_ns();
    if (const auto text =
            headers_of(in, "PKG-INFO", path + "/PKG-INFO", &distribution.has_metadata)) {
        take_metadata(distribution, text->text);
    }
    if (distribution.requires_dist.empty()) {
        if (const auto text =
                text_of(in, "requires.txt", path + "/requires.txt", k_longest_headers)) {
            distribution.requires_dist = parse_requires_txt(text->text);
        }
    }
    if (const auto text = text_of(in, "INSTALLER", path + "/INSTALLER", k_longest_small_file)) {
        distribution.installer = trim(text->text);
    }
    read_direct_url(distribution, in, path);
}

void RecordReader::read_egg_link(const std::string& name, const std::string& path) {
    auto& distribution = begin_distribution(DistributionKind::EggLink, path);
    const auto stem = name.substr(0, name.rfind('.'));
    take_name(distribution, stem, {});
    const auto text = text_of(m_place->open, name, path, k_longest_small_file);
    if (!text) {
        return;
    }
    distribution.installed_ns = text->modified_ns;
    distribution.source_directory = parse_egg_link(text->text, distribution.site, m_paths);
    if (distribution.source_directory.empty()) {
        note(path, "names no directory");
        return;
    }
    auto other = stem;
    std::ranges::replace(other, '-', '_');
    for (const auto& candidate : {stem, other}) {
        const auto egg = distribution.source_directory + '/' + candidate + ".egg-info";
        if (const auto in = OpenDirectory::open(egg)) {
            const auto installed = distribution.installed_ns;
            read_egg_directory(distribution, *in, egg);
            distribution.installed_ns =
                installed; // the link's: the other is when it was built last
            return;
        }
    }
}

// A zipped one's name says what its metadata does: setuptools itself goes by it.
void RecordReader::read_egg(const std::string& name, const std::string& path) {
    constexpr std::string_view k_zip = "PK\x03\x04";
    const auto in = m_place->open.open_below(name + "/EGG-INFO");
    if (in) {
        auto& distribution = begin_distribution(DistributionKind::EggDirectory, path);
        distribution.site = path;
        take_egg_name(distribution, name);
        read_egg_directory(distribution, *in, path + "/EGG-INFO");
        // setuptools makes eggs of the wheels that it fetches for what is being installed.
        const auto wheel = path + "/EGG-INFO/WHEEL";
        if (const auto text = text_of(*in, "WHEEL", wheel, k_longest_small_file)) {
            auto parsed = parse_wheel(text->text);
            distribution.tags = std::move(parsed.tags);
            distribution.generator = std::move(parsed.generator);
        }
        return;
    }
    if (in.error().code != k_not_found) {
        note(path, in.error());
        return;
    }
    const auto begin = m_files.read_headers(m_place->open, name, k_zip.size());
    if (begin && begin->text.starts_with(k_zip)) {
        auto& distribution = begin_distribution(DistributionKind::EggFile, path);
        distribution.site = path;
        take_egg_name(distribution, name);
        distribution.has_metadata = true;
        distribution.installed_ns = begin->modified_ns;
    } else if (!begin && begin.error().code != k_not_found && begin.error().code != "not-a-file") {
        note(path, begin.error());
    }
}

} // namespace cudaenv::inventory
