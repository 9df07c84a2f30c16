#include "host/inventory/kept_inventory.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

namespace cudaenv::host {

Result<void> KeptInventory::refresh(unsigned threads) {
    // What the inventory has of the records goes back to them, and is taken from those that are as
    // they were.
    for (auto& package : m_inventory.conda) {
        m_records[package.record].record.conda = std::move(package);
    }
    for (auto& distribution : m_inventory.distributions) {
        m_records[distribution.metadata].record.distribution = std::move(distribution);
    }
    m_inventory = {};
    m_records_read = 0;
    std::error_code ignored; // of a prefix that is not there, as reading it will say
    auto real_prefix = std::filesystem::canonical(m_prefix, ignored).string();
    if (real_prefix != std::exchange(m_real_prefix, real_prefix)) {
        m_records.clear();
    }
    auto refreshed = read_inventory(m_prefix, std::exchange(m_records, {}), threads);
    if (!refreshed) {
        return tl::unexpected(std::move(refreshed).error());
    }
    m_inventory = std::move(refreshed->inventory);
    m_records = std::move(refreshed->records);
    m_records_read = refreshed->records_read;
    return {};
}

} // namespace cudaenv::host
