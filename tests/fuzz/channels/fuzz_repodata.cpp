// Any bytes as a repodata.json: read or refused, in windows of any size the same, and every record
// that is read is found again under its name and decodes.
#include "host/channels/record_text.hpp"
#include "host/channels/repodata_scan.hpp"

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

using namespace cudaenv::channels;

struct Scanned {
    std::optional<IndexBuilder::Tables> tables;
    RepodataFault fault;
};

Scanned scanned(std::span<const char> text, std::size_t window) {
    RepodataScan scan;
    for (std::size_t at = 0; at < text.size(); at += window) {
        // Its own allocation, so that a byte read behind the window is seen.
        const auto part = text.subspan(at, std::min(window, text.size() - at));
        const std::vector<char> piece(part.begin(), part.end());
        if (!scan.feed(piece)) {
            break;
        }
    }
    auto tables = scan.finish();
    return {std::move(tables), scan.fault()};
}

void expect(bool condition) {
    if (!condition) {
        std::abort();
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span<const char> text(reinterpret_cast<const char*>(data), size);
    const Scanned whole = scanned(text, size + 1);
    const Scanned pieces = scanned(text, size == 0 ? 1 : 1 + data[0] % 23);
    expect(whole.tables.has_value() == pieces.tables.has_value());
    if (!whole.tables) {
        expect(whole.fault.offset == pieces.fault.offset && whole.fault.what == pieces.fault.what &&
               whole.fault.record == pieces.fault.record);
        expect(whole.fault.offset <= size && !whole.fault.what.empty());
        return 0;
    }
    expect(whole.tables->bytes == pieces.tables->bytes);
    const auto index = RecordIndex::over(whole.tables->bytes, whole.tables->shape);
    expect(index.has_value());
    std::uint32_t found = 0;
    for (std::uint32_t i = 0; i < index->name_count(); ++i) {
        for (const RecordPlace& place : index->places_of(index->name(i))) {
            const char* begin = text.data() + place.offset;
            const std::vector<char> slice(begin, begin + place.length);
            JsonCursor cursor(slice.data(), slice.data() + slice.size());
            RecordText record;
            expect(read_record(cursor, record) == Step::Ok);
            expect(cursor.at() == slice.data() + slice.size());
            expect(record.name.is(index->name(i)));
            expect(decode_record(record, {"c", "file:///c/", "linux-64"}).name == index->name(i));
            ++found;
        }
    }
    expect(found == index->shape().record_count);
    return 0;
}
