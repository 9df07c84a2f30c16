#include "host/inventory/read_inventory.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "host/environments/packages.hpp"
#include "host/file_system.hpp"
#include "host/inventory/in_threads.hpp"
#include "host/inventory/kept_inventory.hpp"
#include "host/inventory/record_reader.hpp"

#include <climits>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <tuple>

namespace cudaenv::host {

namespace {

using facts::Inventory;
using facts::Leftover;

struct Job {
    RecordKind kind = RecordKind::Conda;
    std::size_t place = 0;
    std::string name;
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

    // `known`: null where nothing is and nobody wants to know.
    RefreshedInventory read(const OpenDirectory& prefix, KeptRecords* known, unsigned threads) {
        find_conda_records(prefix);
        find_python_of_venv(prefix);
        find_sites(prefix);
        RefreshedInventory told;
        auto records = work(known, threads);
        if (known != nullptr) {
            told.records_read = keep(records, told.records);
        }
        take(std::move(records));
        told.inventory = std::move(m_told);
        return told;
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
            m_jobs.push_back({RecordKind::Conda, m_places.size(), std::move(name)});
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
        const auto text = files.read(prefix, "pyvenv.cfg", k_longest_small_file);
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
            if (const auto kind = kind_in_site(name)) {
                m_jobs.push_back({*kind, number, std::move(name)});
            }
        }
        m_told.sites.push_back(path);
        m_places.push_back({std::move(path), std::move(*open)});
    }

    struct Done {
        ReadRecord record;
        RecordStamps stamps;
        bool known = false;
    };

    std::vector<Done> work(KeptRecords* known, unsigned threads) {
        constexpr std::size_t k_jobs_worth_a_thread = 32;
        constexpr unsigned k_most_threads = 4;
        threads = threads_for(threads, m_jobs.size() / k_jobs_worth_a_thread + 1, k_most_threads);
        std::deque<RecordReader> readers;
        for (unsigned thread = 0; thread < threads; ++thread) {
            readers.emplace_back(m_paths);
        }
        std::vector<Done> records(m_jobs.size());
        in_threads(threads, m_jobs.size(), 1, [&](unsigned thread, std::size_t number) {
            const Job& job = m_jobs[number];
            const RecordPlace& place = m_places[job.place];
            Done& done = records[number];
            if (known != nullptr) {
                const auto now = std::chrono::system_clock::now().time_since_epoch();
                done.stamps =
                    stamps_of(job.kind, place, job.name,
                              std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
                const auto found = known->find(place.path + '/' + job.name);
                done.known = !done.stamps.empty() && found != known->end() &&
                             found->second.stamps == done.stamps;
                if (done.known) {
                    done.record = std::move(found->second.record); // each is one job's alone
                    return;
                }
            }
            done.record = readers[thread].read(job.kind, place, job.name);
        });
        return records;
    }

    // Gives back how many had to be read.
    std::size_t keep(std::vector<Done>& records, KeptRecords& kept) const {
        std::size_t read = 0;
        for (std::size_t number = 0; number < records.size(); ++number) {
            Done& done = records[number];
            read += done.known ? 0 : 1;
            const Job& job = m_jobs[number];
            if (!done.record.notes.empty()) {
                done.stamps.clear(); // it may be readable the next time
            }
            // Not what is large, which the inventory has.
            kept.emplace(
                m_places[job.place].path + '/' + job.name,
                KeptRecord{
                    std::move(done.stamps),
                    {{}, {}, done.record.path_file, done.record.leftovers, done.record.notes}});
        }
        return read;
    }

    void take(std::vector<Done> records) {
        for (auto& done : records) {
            ReadRecord& record = done.record;
            if (record.conda) {
                m_told.conda.push_back(std::move(*record.conda));
            }
            if (record.distribution) {
                m_told.distributions.push_back(std::move(*record.distribution));
            }
            if (record.path_file) {
                m_told.path_files.push_back(std::move(*record.path_file));
            }
            std::move(record.leftovers.begin(), record.leftovers.end(),
                      std::back_inserter(m_told.leftovers));
            std::move(record.notes.begin(), record.notes.end(), std::back_inserter(m_told.notes));
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
    std::vector<RecordPlace> m_places;
    std::vector<Job> m_jobs;
    std::set<std::pair<dev_t, ino_t>> m_seen;
};

// Without "." and ".." and slashes that say nothing.
std::string normal(const std::string& prefix) {
    return ClaimedPaths("").absolute(ClaimedPaths("").resolve("/", prefix));
}

Result<RefreshedInventory> read(const std::string& prefix, KeptRecords* known, unsigned threads) {
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
    return InventoryReader(trimmed, real_path(trimmed)).read(*open, known, threads);
}

} // namespace

Result<Inventory> read_inventory(const std::string& prefix, unsigned threads) {
    CUDAENV_TRY(auto told, read(prefix, nullptr, threads));
    return std::move(told.inventory);
}

Result<RefreshedInventory> read_inventory(const std::string& prefix, KeptRecords known,
                                          unsigned threads) {
    return read(prefix, &known, threads);
}

} // namespace cudaenv::host
