// The records that setuptools writes: egg-info, egg-link and eggs.
#include "base/text.hpp"
#include "check/inventory/metadata_text.hpp"
#include "check/inventory/record_reader.hpp"
#include "check/inventory/source_text.hpp"
#include "host/file_system.hpp"

#include <algorithm>

namespace cudaenv::inventory {

using facts::Distribution;
using facts::DistributionKind;

namespace {

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
