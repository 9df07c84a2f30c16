// Any bytes as an index file that is kept between runs: whatever passes its checks answers look-ups
// within its own bounds. The input is a header and what follows it; the checksums are made right,
// as fuzzing would never guess them.
#include "host/channels/index_cache.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

using namespace cudaenv::channels;

void expect(bool condition) {
    if (!condition) {
        std::abort();
    }
}

// Looks everything up that can be.
void look_up_all(const RecordIndex& index) {
    std::uint64_t found = 0;
    for (std::uint32_t i = 0; i < index.name_count(); ++i) {
        const std::string name(index.name(i));
        const auto places = index.places_of(name);
        expect(!places.empty());
        for (const RecordPlace& place : places) {
            expect(std::uint64_t{place.offset} + place.length <= index.shape().text_size);
        }
        found += places.size();
    }
    expect(found == index.shape().record_count);
    expect(index.places_of("").empty() || index.name(0).empty());
    (void)std::string(index.subdir());
    (void)std::string(index.base_url());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // As it lies on disk.
    const std::vector<char> file(data, data + size);
    (void)read_cache_header(file, size, cudaenv::FileIdentity{});

    // Six numbers of a shape, then tables: past the checksums.
    IndexBuilder::Tables tables;
    std::uint32_t numbers[6] = {};
    if (size < sizeof numbers) {
        return 0;
    }
    std::memcpy(numbers, data, sizeof numbers);
    tables.shape = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
    tables.bytes.assign(file.begin() + sizeof numbers, file.end());
    const cudaenv::FileIdentity stamp{1, 2, tables.shape.text_size, 4, 5};
    std::string whole = cache_header(stamp, tables, false);
    whole.append(tables.bytes.begin(), tables.bytes.end());
    const auto layout = read_cache_header(whole, whole.size(), stamp);
    if (!layout) {
        return 0;
    }
    const std::vector<char> mapped(
        whole.begin() + static_cast<std::ptrdiff_t>(layout->tables_offset), whole.end());
    expect(tables_are_whole(whole, mapped));
    if (const auto index = RecordIndex::over(mapped, layout->shape)) {
        look_up_all(*index);
    }
    return 0;
}
