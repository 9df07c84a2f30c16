#include "host/channels/record_index.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>

namespace cudaenv::channels {

std::uint64_t IndexShape::tables_size() const {
    return (std::uint64_t{name_count} + 1 + record_count) * 8 + strings_size;
}

Result<RecordIndex> RecordIndex::over(std::span<const char> bytes, const IndexShape& shape) {
    RecordIndex index;
    index.m_shape = shape;
    if (bytes.size() != shape.tables_size()) {
        return defect("index tables of the wrong size");
    }
    const std::uint64_t tail = std::uint64_t{shape.subdir_size} + shape.base_url_size;
    if (tail > shape.strings_size) {
        return defect("index strings of the wrong size");
    }
    const std::uint64_t names_size = shape.strings_size - tail;
    static_assert(sizeof(NameEntry) == 8 && sizeof(RecordPlace) == 8);
    // The tables were written as these very structs, on this kind of machine (see the
    // static_assert).
    index.m_names = reinterpret_cast<const NameEntry*>(bytes.data());
    index.m_records = reinterpret_cast<const RecordPlace*>(bytes.data() +
                                                           (std::size_t{shape.name_count} + 1) * 8);
    index.m_strings = bytes.data() + (std::size_t{shape.name_count} + 1 + shape.record_count) * 8;

    const NameEntry& first = index.m_names[0];
    const NameEntry& last = index.m_names[shape.name_count];
    if (first.first_byte != 0 || first.first_record != 0 || last.first_byte != names_size ||
        last.first_record != shape.record_count) {
        return defect("index names do not cover their tables");
    }
    for (std::uint32_t i = 0; i < shape.name_count; ++i) {
        const NameEntry& here = index.m_names[i];
        const NameEntry& next = index.m_names[i + 1];
        // Below names_size for all, as each is below the next one and the last equals it.
        if (here.first_byte >= next.first_byte || here.first_record >= next.first_record ||
            next.first_byte > names_size || next.first_record > shape.record_count) {
            return defect("index names out of order");
        }
        if (i > 0 && index.name(i - 1) >= index.name(i)) {
            return defect("index names not ascending");
        }
    }
    for (std::uint32_t i = 0; i < shape.record_count; ++i) {
        const RecordPlace& place = index.m_records[i];
        if (std::uint64_t{place.offset} + place.length > shape.text_size) {
            return defect("index record outside its text");
        }
    }
    return index;
}

std::string_view RecordIndex::name(std::uint32_t i) const {
    assert(i < m_shape.name_count);
    return {m_strings + m_names[i].first_byte, m_names[i + 1].first_byte - m_names[i].first_byte};
}

std::span<const RecordPlace> RecordIndex::places_of(std::string_view wanted) const {
    // Not std::views::iota: clang 14 of Debian 12, which builds the fuzz targets, rejects it.
    const std::span all(m_names, m_shape.name_count);
    const auto place = [this](const auto& one) {
        return static_cast<std::uint32_t>(&one - m_names);
    };
    const auto found = std::ranges::lower_bound(all, wanted, {},
                                                [&](const auto& one) { return name(place(one)); });
    if (found == all.end() || name(place(*found)) != wanted) {
        return {};
    }
    const std::uint32_t first = found->first_record;
    return {m_records + first, m_names[place(*found) + 1].first_record - first};
}

std::string_view RecordIndex::subdir() const {
    if (m_strings == nullptr) {
        return {};
    }
    return {m_strings + m_shape.strings_size - m_shape.base_url_size - m_shape.subdir_size,
            m_shape.subdir_size};
}

std::string_view RecordIndex::base_url() const {
    if (m_strings == nullptr) {
        return {};
    }
    return {m_strings + m_shape.strings_size - m_shape.base_url_size, m_shape.base_url_size};
}

void IndexBuilder::add(std::string_view name, RecordPlace place) {
    // Files are sorted by file name, so a name's records come in runs.
    if (m_names.empty() || m_names[m_last] != name) {
        if (const auto found = m_ids.find(name); found != m_ids.end()) {
            m_last = found->second;
        } else {
            m_last = static_cast<std::uint32_t>(m_names.size());
            m_ids.emplace(m_names.emplace_back(name), m_last);
        }
    }
    m_records.push_back({m_last, place});
}

IndexBuilder::Tables IndexBuilder::finish(std::string_view subdir, std::string_view base_url,
                                          std::uint64_t text_size) const {
    const auto name_count = static_cast<std::uint32_t>(m_names.size());
    std::vector<std::uint32_t> order(name_count); // ascending names
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return m_names[a] < m_names[b]; });

    Tables out;
    out.shape.name_count = name_count;
    out.shape.record_count = static_cast<std::uint32_t>(m_records.size());
    out.shape.subdir_size = static_cast<std::uint32_t>(subdir.size());
    out.shape.base_url_size = static_cast<std::uint32_t>(base_url.size());
    out.shape.text_size = text_size;
    std::size_t strings = subdir.size() + base_url.size();
    for (const std::string& name : m_names) {
        strings += name.size();
    }
    out.shape.strings_size = static_cast<std::uint32_t>(strings);
    out.bytes.resize(out.shape.tables_size());

    const auto put_pair = [&](std::size_t slot, std::uint32_t a, std::uint32_t b) {
        std::memcpy(out.bytes.data() + slot * 8, &a, 4);
        std::memcpy(out.bytes.data() + slot * 8 + 4, &b, 4);
    };
    std::vector<std::uint32_t> next(name_count); // per name: how many, then where the next goes
    for (const Added& added : m_records) {
        ++next[added.name];
    }
    char* string_at = out.bytes.data() + (std::size_t{name_count} + 1 + m_records.size()) * 8;
    const char* strings_begin = string_at;
    std::uint32_t first_record = 0;
    for (std::uint32_t i = 0; i < name_count; ++i) {
        const std::string& name = m_names[order[i]];
        put_pair(i, static_cast<std::uint32_t>(string_at - strings_begin), first_record);
        string_at = std::copy(name.begin(), name.end(), string_at);
        first_record += std::exchange(next[order[i]], first_record);
    }
    put_pair(name_count, static_cast<std::uint32_t>(string_at - strings_begin), first_record);
    string_at = std::copy(subdir.begin(), subdir.end(), string_at);
    std::copy(base_url.begin(), base_url.end(), string_at);
    for (const Added& added : m_records) {
        put_pair(std::size_t{name_count} + 1 + next[added.name]++, added.place.offset,
                 added.place.length);
    }
    return out;
}

} // namespace cudaenv::channels
