#include "host/inventory/read_inventory.hpp"

#include "host/file_system.hpp"
#include "host/inventory/in_threads.hpp"
#include "host/inventory/kept_inventory.hpp"
#include "host/inventory/record_places.hpp"
#include "host/inventory/record_reader.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>

namespace cudaenv::host {

namespace {

using facts::Inventory;
using facts::Leftover;

class InventoryReader {
public:
    InventoryReader(const std::string& prefix, std::string real_prefix)
        : m_paths(prefix, real_prefix), m_real_prefix(std::move(real_prefix)) {
        m_told.prefix = prefix;
    }

    // `known`: null where nothing is and nobody wants to know.
    RefreshedInventory read(const OpenDirectory& prefix, KeptRecords* known, unsigned threads) {
        auto found = find_records(prefix, m_told.prefix, m_real_prefix);
        m_told.conda_prefix = found.conda_prefix;
        if (!prefix.has(m_told.python) && prefix.has("bin/python3")) {
            m_told.python = "bin/python3";
        }
        m_told.sites = std::move(found.sites);
        m_told.base_sites = std::move(found.base_sites);
        m_told.notes = std::move(found.notes);
        m_told.leftovers = std::move(found.leftovers);
        m_places = std::move(found.places);
        m_jobs = std::move(found.records);
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
            const FoundRecord& job = m_jobs[number];
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
            const FoundRecord& job = m_jobs[number];
            if (!done.record.notes.empty()) {
                done.stamps.clear(); // it may be readable the next time
            }
            // Not what is large, which the inventory has; of a base's it has not all.
            const auto of_base =
                m_places[job.place].of_base ? done.record.distribution : std::nullopt;
            kept.emplace(m_places[job.place].path + '/' + job.name,
                         KeptRecord{std::move(done.stamps),
                                    {{},
                                     of_base,
                                     done.record.path_file,
                                     done.record.leftovers,
                                     done.record.notes}});
        }
        return read;
    }

    void take(std::vector<Done> records) {
        std::vector<facts::Distribution> base;
        for (std::size_t number = 0; number < records.size(); ++number) {
            ReadRecord& record = records[number].record;
            if (m_places[m_jobs[number].place].of_base) {
                if (record.distribution) {
                    base.push_back(std::move(*record.distribution));
                }
                continue;
            }
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
        take_base(std::move(base));
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

    // What Python finds there: neither what the environment has itself, nor what an earlier site
    // has.
    void take_base(std::vector<facts::Distribution> found) {
        std::set<std::string, std::less<>> names;
        for (const auto& distribution : m_told.distributions) {
            names.insert(distribution.name);
        }
        for (auto& distribution : found) {
            if (distribution.has_metadata && names.insert(distribution.name).second) {
                m_told.base.push_back(std::move(distribution));
            }
        }
    }

    ClaimedPaths m_paths;
    std::string m_real_prefix;
    Inventory m_told;
    std::vector<RecordPlace> m_places;
    std::vector<FoundRecord> m_jobs;
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
    return InventoryReader(trimmed, real_path_of(trimmed)).read(*open, known, threads);
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
