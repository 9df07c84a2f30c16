#include "host/inventory/read_inventory.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "host/environments/packages.hpp"
#include "host/file_system.hpp"
#include "host/inventory/conda_meta.hpp"
#include "host/inventory/metadata_text.hpp"
#include "host/inventory/open_files.hpp"
#include "host/inventory/record_text.hpp"
#include "host/inventory/source_text.hpp"
#include "solver/specs/requirement.hpp"

#include <climits>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <tuple>

namespace cudaenv::host {

namespace {

using facts::Distribution;
using facts::DistributionKind;
using facts::Inventory;
using facts::Leftover;
using facts::LeftoverKind;

constexpr std::size_t k_small_file = std::size_t{64} << 10U;
constexpr std::size_t k_easy_install_limit = std::size_t{1} << 20U;

enum class JobKind { CondaRecord, DistInfo, EggInfo, EggLink, PathFile, Tilde };

struct Job {
    JobKind kind = JobKind::CondaRecord;
    std::size_t directory = 0; // of Places
    std::string name;
};

// A directory whose names are jobs, open while they are done.
struct Place {
    std::string path; // as the inventory has it
    OpenDirectory open;
};

struct Outcome {
    std::optional<facts::CondaPackage> conda;
    std::optional<Distribution> distribution;
    std::optional<facts::PathFile> path_file;
    std::vector<Leftover> leftovers;
    std::vector<facts::InventoryNote> notes;
};

std::string without_end(std::string_view name, std::string_view end) {
    name.remove_suffix(end.size());
    return std::string(name);
}

// Does one job after the other; one for each thread.
class Worker {
public:
    Worker(const std::vector<Place>& places, ClaimedPaths paths)
        : m_places(&places), m_paths(std::move(paths)) {}

    Outcome work(const Job& job) {
        m_outcome = {};
        m_place = &(*m_places)[job.directory];
        const auto path = m_place->path + '/' + job.name;
        switch (job.kind) {
        case JobKind::CondaRecord:
            read_conda_record(job.name, path);
            break;
        case JobKind::DistInfo:
            read_dist_info(job.name, path);
            break;
        case JobKind::EggInfo:
            read_egg_info(job.name, path);
            break;
        case JobKind::EggLink:
            read_egg_link(job.name, path);
            break;
        case JobKind::PathFile:
            read_path_file(job.name, path);
            break;
        case JobKind::Tilde:
            read_tilde(job.name, path);
            break;
        }
        return std::move(m_outcome);
    }

private:
    void note(const std::string& path, std::string reason) {
        m_outcome.notes.push_back({path, std::move(reason)});
    }
    void note(const std::string& path, const Error& error) { note(path, reason_of(error)); }

    // Nothing where it is not there, or cannot be read, which is noted. `is_there`: for the former.
    std::optional<FileText> text_of(const OpenDirectory& in, const std::string& name,
                                    const std::string& path, std::size_t limit,
                                    bool* is_there = nullptr) {
        return taken(m_files.read(in, name, limit), path, is_there);
    }
    std::optional<FileText> headers_of(const OpenDirectory& in, const std::string& name,
                                       const std::string& path, bool* is_there = nullptr) {
        auto text = taken(m_files.read_headers(in, name, k_longest_headers), path, is_there);
        if (text && text->cut) {
            note(path, "its headers are longer than 4 MiB; those beyond are not read");
        }
        return text;
    }
    std::optional<FileText> taken(Result<FileText> text, const std::string& path, bool* is_there) {
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

    void read_conda_record(const std::string& name, const std::string& path) {
        auto& package = m_outcome.conda.emplace();
        if (const auto parsed = parse_conda_record(name)) {
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
        }
        package.record = path;
        package.written_ns = text ? text->modified_ns : 0;
    }

    Distribution& begin_distribution(DistributionKind kind, const std::string& path) {
        auto& told = m_outcome.distribution.emplace();
        told.kind = kind;
        told.metadata = path;
        told.site = m_place->path;
        return told;
    }

    static void take_name(Distribution& told, std::string name, std::string version) {
        if (!name.empty()) {
            told.written = std::move(name);
        }
        if (!version.empty()) {
            told.version = std::move(version);
        }
        told.name = specs::normalize_project_name(told.written);
    }

    void take_metadata(Distribution& told, std::string_view text) {
        auto metadata = parse_metadata(text);
        take_name(told, std::move(metadata.name), std::move(metadata.version));
        told.requires_dist = std::move(metadata.requires_dist);
    }

    void take_files(Distribution& told, RecordText record, const std::string& path) {
        if (record.damaged != 0) {
            note(path, std::to_string(record.damaged) +
                           (record.damaged == 1 ? " line is" : " lines are") +
                           " damaged, the first is line " +
                           std::to_string(record.first_damaged_line));
        }
        if (record.cut) {
            note(path, "more than a million files; those beyond are not read");
        }
        told.damaged_lines = record.damaged;
        told.files = std::move(record.files);
    }

    void read_dist_info(const std::string& name, const std::string& path) {
        auto in = m_place->open.open_below(name);
        if (!in && in.error().code == k_not_found) {
            note(path, "is no directory");
            return;
        }
        auto& told = begin_distribution(DistributionKind::DistInfo, path);
        const auto parsed = parse_dist_info(name);
        const auto stem = without_end(name, ".dist-info");
        take_name(told, parsed ? stem.substr(0, parsed->name.size()) : stem,
                  parsed ? parsed->version : std::string());
        if (!in) {
            note(path, in.error());
            return;
        }
        told.installed_ns = in->modified_ns();
        if (const auto text = headers_of(*in, "METADATA", path + "/METADATA", &told.has_metadata)) {
            take_metadata(told, text->text);
        }
        if (const auto text =
                text_of(*in, "RECORD", path + "/RECORD", k_longest_record, &told.has_record)) {
            take_files(told, parse_record(text->text, told.site, m_paths), path + "/RECORD");
        }
        if (const auto text = text_of(*in, "INSTALLER", path + "/INSTALLER", k_small_file)) {
            told.installer = trim(text->text);
        }
        if (const auto text = text_of(*in, "WHEEL", path + "/WHEEL", k_small_file)) {
            auto wheel = parse_wheel(text->text);
            told.tags = std::move(wheel.tags);
            told.generator = std::move(wheel.generator);
        }
        read_direct_url(told, *in, path);
        told.requested = in->has("REQUESTED");
        if (!told.has_metadata) {
            m_outcome.leftovers.push_back(
                {LeftoverKind::NoMetadata, path, told.name, told.version});
        }
        if (!told.has_record) {
            m_outcome.leftovers.push_back({LeftoverKind::NoRecord, path, told.name, told.version});
        }
    }

    void read_direct_url(Distribution& told, const OpenDirectory& in, const std::string& path) {
        const auto own_path = path + "/direct_url.json";
        if (const auto text = text_of(in, "direct_url.json", own_path, k_small_file)) {
            if (auto url = parse_direct_url(text->text)) {
                told.direct_url = std::move(*url);
            } else {
                note(own_path, url.error().message);
            }
        }
    }

    // "PyYAML-6.0-py3.11.egg-info", "ours.egg-info"
    static void take_egg_name(Distribution& told, const std::string& name) {
        auto stem = without_end(name, ".egg-info");
        if (const auto python = stem.rfind("-py"); python != std::string::npos) {
            stem.resize(python);
        }
        const auto dash = stem.find('-');
        take_name(told, stem.substr(0, dash),
                  dash == std::string::npos ? std::string() : stem.substr(dash + 1));
    }

    void read_egg_info(const std::string& name, const std::string& path) {
        const auto in = m_place->open.open_below(name);
        if (!in && in.error().code == k_not_found) {
            auto& told = begin_distribution(DistributionKind::EggInfoFile, path);
            take_egg_name(told, name);
            if (const auto text = headers_of(m_place->open, name, path, &told.has_metadata)) {
                take_metadata(told, text->text);
                told.installed_ns = text->modified_ns;
            } else if (!told.has_metadata) {
                note(path, "leads nowhere");
            }
            return;
        }
        auto& told = begin_distribution(DistributionKind::EggInfoDirectory, path);
        take_egg_name(told, name);
        if (!in) {
            note(path, in.error());
            return;
        }
        read_egg_directory(told, *in, path);
        const auto list = path + "/installed-files.txt";
        if (const auto text =
                text_of(*in, "installed-files.txt", list, k_longest_record, &told.has_record)) {
            take_files(told, parse_installed_files(text->text, path, m_paths), list);
        }
    }

    void read_egg_directory(Distribution& told, const OpenDirectory& in, const std::string& path) {
        told.installed_ns = in.modified_ns();
        if (const auto text = headers_of(in, "PKG-INFO", path + "/PKG-INFO", &told.has_metadata)) {
            take_metadata(told, text->text);
        }
        if (told.requires_dist.empty()) {
            if (const auto text =
                    text_of(in, "requires.txt", path + "/requires.txt", k_longest_headers)) {
                told.requires_dist = parse_requires_txt(text->text);
            }
        }
        if (const auto text = text_of(in, "INSTALLER", path + "/INSTALLER", k_small_file)) {
            told.installer = trim(text->text);
        }
        read_direct_url(told, in, path);
    }

    void read_egg_link(const std::string& name, const std::string& path) {
        auto& told = begin_distribution(DistributionKind::EggLink, path);
        const auto stem = without_end(name, ".egg-link");
        take_name(told, stem, {});
        const auto text = text_of(m_place->open, name, path, k_small_file);
        if (!text) {
            return;
        }
        told.installed_ns = text->modified_ns;
        told.source_directory = parse_egg_link(text->text, told.site, m_paths);
        if (told.source_directory.empty()) {
            note(path, "names no directory");
            return;
        }
        auto other = stem;
        std::replace(other.begin(), other.end(), '-', '_');
        for (const auto& candidate : {stem, other}) {
            const auto egg = told.source_directory + '/' + candidate + ".egg-info";
            if (const auto in = OpenDirectory::open(egg)) {
                const auto installed = told.installed_ns;
                read_egg_directory(told, *in, egg);
                told.installed_ns = installed; // the link's: the other is when it was built last
                return;
            }
        }
    }

    void read_path_file(const std::string& name, const std::string& path) {
        const auto text = text_of(m_place->open, name, path, k_easy_install_limit);
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
            m_outcome.path_file =
                facts::PathFile{path, std::move(parsed.directories), std::move(parsed.finders)};
        }
    }

    void read_tilde(const std::string& name, const std::string& path) {
        const auto in = m_place->open.open_below(name);
        if (!in) {
            if (in.error().code != k_not_found) { // a file of that name is no such thing
                note(path, in.error());
            }
            return;
        }
        Leftover told{LeftoverKind::InterruptedUninstall, path, {}, {}};
        if (name.ends_with(".dist-info")) {
            if (const auto text = headers_of(*in, "METADATA", path + "/METADATA")) {
                auto metadata = parse_metadata(text->text);
                told.name = specs::normalize_project_name(metadata.name);
                told.version = std::move(metadata.version);
            }
        }
        m_outcome.leftovers.push_back(std::move(told));
    }

    const std::vector<Place>* m_places;
    const Place* m_place = nullptr;
    ClaimedPaths m_paths;
    FileTexts m_files;
    CondaMetaReader m_conda_meta;
    Outcome m_outcome;
};

std::string real_path(const std::string& path) {
    const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(path.c_str(), nullptr),
                                                          &std::free);
    return resolved ? std::string(resolved.get()) : std::string();
}

class InventoryReader {
public:
    InventoryReader(const std::string& prefix, std::string real_prefix)
        : m_real_prefix(std::move(real_prefix)), m_paths(prefix, m_real_prefix) {
        m_told.prefix = prefix;
    }

    Inventory read(const OpenDirectory& prefix, unsigned threads) {
        find_conda_records(prefix);
        find_python_of_venv(prefix);
        find_sites(prefix);
        take(work(threads));
        return std::move(m_told);
    }

private:
    void note(const std::string& path, const Error& error) {
        m_told.notes.push_back({path, reason_of(error)});
    }

    // Nothing where it is not there, or cannot be read, which is noted.
    std::optional<OpenDirectory> opened(const OpenDirectory& above, const std::string& name,
                                        const std::string& path) {
        auto directory = above.open_below(name);
        if (directory) {
            return std::move(*directory);
        }
        if (directory.error().code != k_not_found) {
            note(path, directory.error());
        }
        return std::nullopt;
    }

    std::vector<std::string> names_in(const OpenDirectory& directory, const std::string& path) {
        auto names = directory.names();
        if (names) {
            return std::move(*names);
        }
        note(path, names.error());
        return {};
    }

    void find_conda_records(const OpenDirectory& prefix) {
        auto open = opened(prefix, "conda-meta", "conda-meta");
        if (!open) {
            return;
        }
        m_told.conda_prefix = true;
        for (auto& name : names_in(*open, "conda-meta")) {
            const auto parsed = parse_conda_record(name);
            if (!parsed || name.starts_with('.')) {
                continue;
            }
            if (parsed->name == "python") {
                m_python = major_minor(parsed->version);
            }
            m_jobs.push_back({JobKind::CondaRecord, m_places.size(), std::move(name)});
        }
        m_places.push_back({"conda-meta", std::move(*open)});
    }

    // "3.11" of "3.11.7.final.0"; empty of what has no dot.
    static std::string major_minor(std::string_view version) {
        const auto dot = version.find('.');
        if (dot == std::string_view::npos) {
            return {};
        }
        return std::string(version.substr(0, version.find_first_not_of("0123456789", dot + 1)));
    }

    void find_python_of_venv(const OpenDirectory& prefix) {
        if (!m_python.empty()) {
            return;
        }
        FileTexts files;
        const auto text = files.read(prefix, "pyvenv.cfg", k_small_file);
        if (!text) {
            if (text.error().code != k_not_found) {
                note("pyvenv.cfg", text.error());
            }
            return;
        }
        for (const auto line : split(text->text, '\n')) {
            const auto equals = line.find('=');
            const auto key = to_lower_ascii(trim(line.substr(0, equals)));
            // venv's; virtualenv's and uv's
            if (equals != std::string_view::npos && (key == "version" || key == "version_info")) {
                m_python = major_minor(trim(line.substr(equals + 1)));
            }
        }
    }

    // Those of the environment's Python; of all that are there where none is on record, or the one
    // on record has none: what another Python left there is not imported.
    void find_sites(const OpenDirectory& prefix) {
        find_sites_of(prefix, m_python);
        if (m_told.sites.empty() && !m_python.empty()) {
            find_sites_of(prefix, {});
        }
    }

    void find_sites_of(const OpenDirectory& prefix, const std::string& python) {
        // Debian's Python looks into local/, python3/ and dist-packages.
        for (const std::string lib : {"local/lib", "lib", "lib64"}) {
            const auto open = opened(prefix, lib, lib);
            if (!open) {
                continue;
            }
            for (const auto& name : names_in(*open, lib)) {
                if (!name.starts_with("python3") && !name.starts_with("pypy3")) {
                    continue;
                }
                const auto version = name.substr(name.find('3'));
                if (!python.empty() && version != python && version != python + 't' &&
                    version != "3") {
                    continue;
                }
                for (const auto* site : {"site-packages", "dist-packages"}) {
                    add_site(prefix, lib + '/' + name + '/' + site);
                }
            }
        }
    }

    void add_site(const OpenDirectory& prefix, const std::string& written) {
        auto open = opened(prefix, written, written);
        struct stat status {};
        // lib64 is mostly a link to lib, and conda has python3.1 lead to python3.10.
        if (!open || ::fstat(open->fd(), &status) != 0 ||
            !m_seen.emplace(status.st_dev, status.st_ino).second) {
            return;
        }
        // Records call files by the real names of their directories.
        auto path = written;
        if (const auto real = real_path(m_told.prefix + '/' + written);
            real.starts_with(m_real_prefix + '/')) {
            path = real.substr(m_real_prefix.size() + 1);
        }
        const auto number = m_places.size();
        for (auto& name : names_in(*open, path)) {
            if (const auto kind = kind_of(name)) {
                m_jobs.push_back({*kind, number, std::move(name)});
            }
        }
        m_told.sites.push_back(path);
        m_places.push_back({std::move(path), std::move(*open)});
    }

    static std::optional<JobKind> kind_of(std::string_view name) {
        if (name.starts_with('~')) {
            return JobKind::Tilde;
        }
        if (name.ends_with(".dist-info")) {
            return JobKind::DistInfo;
        }
        if (name.ends_with(".egg-info")) {
            return JobKind::EggInfo;
        }
        if (name.ends_with(".egg-link")) {
            return JobKind::EggLink;
        }
        if (name.ends_with(".pth")) {
            return JobKind::PathFile;
        }
        return std::nullopt;
    }

    std::vector<Outcome> work(unsigned threads) {
        constexpr std::size_t k_jobs_worth_a_thread = 32;
        constexpr unsigned k_most_threads = 4;
        if (threads == 0) {
            threads = std::clamp(std::thread::hardware_concurrency(), 1U, k_most_threads);
        }
        threads = static_cast<unsigned>(
            std::min<std::size_t>(threads, m_jobs.size() / k_jobs_worth_a_thread + 1));
        std::vector<Outcome> outcomes(m_jobs.size());
        std::atomic<std::size_t> next{0};
        const auto run = [&] {
            Worker worker(m_places, m_paths);
            for (auto at = next.fetch_add(1); at < m_jobs.size(); at = next.fetch_add(1)) {
                outcomes[at] = worker.work(m_jobs[at]);
            }
        };
        std::vector<std::jthread> others;
        for (unsigned other = 1; other < threads; ++other) {
            try {
                others.emplace_back(run);
            } catch (const std::system_error&) {
                break; // those that are there do it all, only slower
            }
        }
        run();
        others.clear(); // waits for them
        return outcomes;
    }

    void take(std::vector<Outcome> outcomes) {
        for (auto& outcome : outcomes) {
            if (outcome.conda) {
                m_told.conda.push_back(std::move(*outcome.conda));
            }
            if (outcome.distribution) {
                m_told.distributions.push_back(std::move(*outcome.distribution));
            }
            if (outcome.path_file) {
                m_told.path_files.push_back(std::move(*outcome.path_file));
            }
            std::move(outcome.leftovers.begin(), outcome.leftovers.end(),
                      std::back_inserter(m_told.leftovers));
            std::move(outcome.notes.begin(), outcome.notes.end(), std::back_inserter(m_told.notes));
        }
        const auto by_path = [](auto& list) {
            std::sort(list.begin(), list.end(),
                      [](const auto& left, const auto& right) { return left.path < right.path; });
        };
        by_path(m_told.path_files);
        std::sort(m_told.leftovers.begin(), m_told.leftovers.end(),
                  [](const Leftover& left, const Leftover& right) {
                      return std::tie(left.path, left.kind) < std::tie(right.path, right.kind);
                  });
        std::stable_sort(
            m_told.notes.begin(), m_told.notes.end(),
            [](const auto& left, const auto& right) { return left.path < right.path; });
    }

    std::string m_real_prefix;
    ClaimedPaths m_paths;
    Inventory m_told;
    std::string m_python; // "3.11" of the environment's Python; empty: not known
    std::vector<Place> m_places;
    std::vector<Job> m_jobs;
    std::set<std::pair<dev_t, ino_t>> m_seen;
};

// Without "." and ".." and slashes that say nothing.
std::string normal(const std::string& prefix) {
    return ClaimedPaths("").absolute(ClaimedPaths("").resolve("/", prefix));
}

} // namespace

Result<Inventory> read_inventory(const std::string& prefix, unsigned threads) {
    if (!prefix.starts_with('/')) {
        return bad_input("bad-prefix",
                         "an environment is named by an absolute path, not \"" + prefix + '"');
    }
    const auto trimmed = normal(prefix);
    if (trimmed == "/") {
        return bad_input("bad-prefix", "/ is no environment");
    }
    const auto open = OpenDirectory::open(trimmed);
    if (!open) {
        auto error = open.error();
        error.path = trimmed;
        error.message = "cannot open " + trimmed + ": " + reason_of(error);
        return tl::unexpected(std::move(error));
    }
    return InventoryReader(trimmed, real_path(trimmed)).read(*open, threads);
}

} // namespace cudaenv::host
