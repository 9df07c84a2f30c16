// The inventory of an environment, kept from one read to the next: of 500 records one has changed
// after an install, and only that one is read. Law: a refreshed inventory is what a fresh read
// would be. No claimed file is looked at.
#pragma once

#include "base/result.hpp"
#include "check/inventory/record_reader.hpp"
#include "check/inventory/sha256_file.hpp"
#include "solver/facts/inventory.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace cudaenv::inventory {

// Of the files that a record is read from; empty: it is read again.
using RecordStamps = std::vector<FileIdentity>;

struct KeptRecord {
    RecordStamps stamps;
    ReadRecord record; // but for what the inventory has of it
};
// By the record's path, as the inventory has it.
using KeptRecords = std::map<std::string, KeptRecord, std::less<>>;

struct RefreshedInventory {
    facts::Inventory inventory;
    KeptRecords records;
    std::size_t records_read = 0;
};
// read_inventory() that takes over those of the `known` records that are as they were.
Result<RefreshedInventory> read_inventory(const std::string& prefix, KeptRecords known,
                                          unsigned threads);

class KeptInventory {
public:
    // As for read_inventory().
    explicit KeptInventory(std::string prefix) : m_prefix(std::move(prefix)) {}

    // Looks at all records and reads those that changed. After a failure, which is
    // read_inventory's, the inventory is empty.
    Result<void> refresh(unsigned threads = 0);
    // As of the last refresh; good until the next.
    [[nodiscard]] const facts::Inventory& inventory() const { return m_inventory; }
    // By the last refresh.
    [[nodiscard]] std::size_t records_read() const { return m_records_read; }
    // Whether the last refresh found another record, or one less, than the one before.
    [[nodiscard]] bool changed() const { return m_changed; }

private:
    std::string m_prefix;
    std::string m_real_prefix; // as records may name it
    facts::Inventory m_inventory;
    KeptRecords m_records;
    std::size_t m_records_read = 0;
    bool m_changed = true;
};

} // namespace cudaenv::inventory
