// Where the records of each package name lie in a repodata text: the tables that are kept in memory
// or mapped from a cache file. Pure: bytes in, bytes out.
//
// Layout, all numbers little-endian u32, in this order and without gaps:
//   names[name_count + 1]   {first byte in `strings`, first record}; the last one closes the ranges
//   records[record_count]   {offset in the text, length}: `"file.conda":{...}`, by name, then as in
//   the text strings                 the names in ascending order, one after the other, then subdir
//   and base_url
#pragma once

#include "base/result.hpp"

#include <bit>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cudaenv::channels {

static_assert(std::endian::native == std::endian::little, "the tables are mapped as they are");

// A piece of the text.
struct RecordPlace {
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
    friend bool operator==(const RecordPlace&, const RecordPlace&) = default;
};

struct IndexShape {
    std::uint64_t text_size = 0; // that the records lie in
    std::uint32_t name_count = 0;
    std::uint32_t record_count = 0;
    std::uint32_t strings_size = 0;
    std::uint32_t subdir_size = 0;
    std::uint32_t base_url_size = 0;
    std::uint32_t unused = 0;

    [[nodiscard]] std::uint64_t tables_size() const;
};

// A view of such tables; the bytes must outlive it.
class RecordIndex {
public:
    RecordIndex() = default;
    // Checks every count, order and bound, so that no look-up can leave the bytes or the text.
    // `bytes` must be aligned to 4. Error: Defect, one line of what is wrong (for logs; a bad cache
    // is not the user's business).
    static Result<RecordIndex> over(std::span<const char> bytes, const IndexShape& shape);

    [[nodiscard]] std::span<const RecordPlace> places_of(std::string_view name) const;
    [[nodiscard]] std::uint32_t name_count() const { return m_shape.name_count; }
    [[nodiscard]] std::string_view name(std::uint32_t i) const; // ascending
    [[nodiscard]] std::string_view subdir() const;
    [[nodiscard]] std::string_view base_url() const;
    [[nodiscard]] const IndexShape& shape() const { return m_shape; }

private:
    struct NameEntry {
        std::uint32_t first_byte = 0;
        std::uint32_t first_record = 0;
    };

    IndexShape m_shape;
    const NameEntry* m_names = nullptr;
    const RecordPlace* m_records = nullptr;
    const char* m_strings = nullptr;
};

// Gathers records and writes the tables.
class IndexBuilder {
public:
    void add(std::string_view name, RecordPlace place);

    struct Tables {
        IndexShape shape;
        std::vector<char> bytes;
    };
    [[nodiscard]] Tables finish(std::string_view subdir, std::string_view base_url,
                                std::uint64_t text_size) const;

private:
    struct Added {
        std::uint32_t name = 0;
        RecordPlace place;
    };
    std::deque<std::string> m_names; // a deque: the map's keys point into it
    std::unordered_map<std::string_view, std::uint32_t> m_ids;
    std::vector<Added> m_records;
    std::uint32_t m_last = 0;
};

} // namespace cudaenv::channels
