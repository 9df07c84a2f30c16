// Where an environment has records, conda's and Python's, and which. No record is read but those
// that say where others are: pyvenv.cfg, and the .pth files beside an egg.
#pragma once

#include "check/inventory/open_files.hpp"
#include "check/inventory/record_reader.hpp"
#include "solver/facts/inventory.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cudaenv::inventory {

struct FoundRecord {
    RecordKind kind = RecordKind::Conda;
    std::size_t place = 0; // of FoundRecords::places
    std::string name;
};

// As facts::Inventory has them.
struct FoundRecords {
    bool conda_prefix = false;
    std::vector<std::string> sites;
    std::vector<std::string> base_sites;
    std::vector<facts::InventoryNote> notes;
    std::vector<facts::Leftover> leftovers; // conda's records that were moved aside
    std::vector<RecordPlace> places;
    std::vector<FoundRecord> records;
};

// `prefix` is open at `path`; `real_path` is the same without symlinks.
FoundRecords find_records(const OpenDirectory& prefix, const std::string& path,
                          const std::string& real_path);

} // namespace cudaenv::inventory
