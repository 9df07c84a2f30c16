#include "check/inventory/kept_inventory.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace cudaenv::inventory {

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
