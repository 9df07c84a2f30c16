#include "check/inventory/read_inventory.hpp"

#include "base/real_path.hpp"
#include "check/inventory/in_threads.hpp"
#include "check/inventory/record_places.hpp"
#include "host/file_system.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

namespace cudaenv::inventory {

namespace {

using facts::Inventory;
using facts::Leftover;

class InventoryReader {
public:
    InventoryReader(const std::string& prefix, std::string real_prefix)
        : m_paths(prefix, real_prefix), m_real_prefix(std::move(real_prefix)) {
        m_inventory.prefix = prefix;
    }

    // `known`: records of an earlier read; null: none, and none are to be returned.
    RefreshedInventory read(const OpenDirectory& prefix, KeptRecords* known, unsigned threads) {
        auto found = find_records(prefix, m_inventory.prefix, m_real_prefix);
        m_inventory.conda_prefix = found.conda_prefix;
        if (!prefix.has(m_inventory.python) && prefix.has("bin/python3")) {
            m_inventory.python = "bin/python3";
        }
        m_inventory.sites = std::move(found.sites);
        m_inventory.base_sites = std::move(found.base_sites);
        m_inventory.notes = std::move(found.notes);
        m_inventory.leftovers = std::move(found.leftovers);
        m_places = std::move(found.places);
        m_jobs = std::move(found.records);
        RefreshedInventory refreshed;
        auto records = work(known, threads);
        if (known != nullptr) {
            refreshed.records_read = keep(records, refreshed.records);
        }
        take(std::move(records));
        refreshed.inventory = std::move(m_inventory);
        return refreshed;
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

    // Gives back how many had to be read, leftovers aside, which are read each time.
    std::size_t keep(std::vector<Done>& records, KeptRecords& kept) const {
        std::size_t read = 0;
        for (std::size_t number = 0; number < records.size(); ++number) {
            Done& done = records[number];
            const FoundRecord& job = m_jobs[number];
            read += done.known || job.kind == RecordKind::Tilde ? 0 : 1;
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
                m_inventory.conda.push_back(std::move(*record.conda));
            }
            if (record.distribution) {
                m_inventory.distributions.push_back(std::move(*record.distribution));
            }
            if (record.path_file) {
                m_inventory.path_files.push_back(std::move(*record.path_file));
            }
            std::move(record.leftovers.begin(), record.leftovers.end(),
                      std::back_inserter(m_inventory.leftovers));
            std::move(record.notes.begin(), record.notes.end(),
                      std::back_inserter(m_inventory.notes));
        }
        take_base(std::move(base));
        const auto by_path = [](auto& list) {
            std::ranges::sort(
                list, [](const auto& left, const auto& right) { return left.path < right.path; });
        };
        by_path(m_inventory.path_files);
        std::ranges::sort(m_inventory.leftovers, [](const Leftover& left, const Leftover& right) {
            return std::tie(left.path, left.kind) < std::tie(right.path, right.kind);
        });
        std::ranges::stable_sort(m_inventory.notes, [](const auto& left, const auto& right) {
            return left.path < right.path;
        });
    }

    // What Python finds there: neither what the environment has itself, nor what an earlier site
    // has.
    void take_base(std::vector<facts::Distribution> found) {
        std::set<std::string, std::less<>> names;
        for (const auto& distribution : m_inventory.distributions) {
            names.insert(distribution.name);
        }
        for (auto& distribution : found) {
            if (distribution.has_metadata && names.insert(distribution.name).second) {
                m_inventory.base.push_back(std::move(distribution));
            }
        }
    }

    ClaimedPaths m_paths;
    std::string m_real_prefix;
    Inventory m_inventory;
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
        return bad_input("bad-prefix", "/ is not an environment");
    }
    const auto open = OpenDirectory::open(trimmed);
    if (!open) {
        auto error = open.error();
        error.path = trimmed;
        error.message = "cannot open " + trimmed + ": " + host::reason_of(error);
        return tl::unexpected(std::move(error));
    }
    return InventoryReader(trimmed, resolved_path(trimmed)).read(*open, known, threads);
}

} // namespace

Result<Inventory> read_inventory(const std::string& prefix, unsigned threads) {
    CUDAENV_TRY(auto refreshed, read(prefix, nullptr, threads));
    return std::move(refreshed.inventory);
}

Result<RefreshedInventory> read_inventory(const std::string& prefix, KeptRecords known,
                                          unsigned threads) {
    return read(prefix, &known, threads);
}

Result<void> KeptInventory::refresh(unsigned threads) {
    // What the inventory has of the records goes back to them, and is taken from those that are as
    // they were.
    for (auto& package : m_inventory.conda) {
        m_records[package.record].record.conda = std::move(package);
    }
    for (auto& distribution : m_inventory.distributions) {
        m_records[distribution.metadata].record.distribution = std::move(distribution);
    }
    const auto leftovers = std::move(m_inventory.leftovers);
    m_inventory = {};
    m_records_read = 0;
    m_changed = true;
    std::error_code ignored; // of a prefix that is not there, as reading it will say
    auto real_prefix = std::filesystem::canonical(m_prefix, ignored).string();
    if (real_prefix != std::exchange(m_real_prefix, real_prefix)) {
        m_records.clear();
    }
    const auto known = m_records.size();
    auto refreshed = read_inventory(m_prefix, std::exchange(m_records, {}), threads);
    if (!refreshed) {
        return tl::unexpected(std::move(refreshed).error());
    }
    m_inventory = std::move(refreshed->inventory);
    m_records = std::move(refreshed->records);
    m_records_read = refreshed->records_read;
    m_changed = m_records_read != 0 || m_records.size() != known ||
                !std::ranges::equal(m_inventory.leftovers, leftovers,
                                    [](const auto& left, const auto& right) {
                                        return left.path == right.path && left.name == right.name &&
                                               left.version == right.version;
                                    });
    return {};
}

} // namespace cudaenv::inventory
