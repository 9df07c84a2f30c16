#include "host/channels/record_text.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace cudaenv::channels {
namespace {

enum class Field {
    Name,
    Version,
    Build,
    BuildNumber,
    Depends,
    Constrains,
    TrackFeatures,
    Timestamp,
    Sha256,
    Subdir,
    Noarch,
    Other,
};

Field field_of(std::string_view key) {
    constexpr std::array k_fields = std::to_array<std::string_view>(
        {"name", "version", "build", "build_number", "depends", "constrains", "track_features",
         "timestamp", "sha256", "subdir", "noarch"});
    const auto found = std::ranges::find(k_fields, key);
    return found == k_fields.end() ? Field::Other : Field(found - k_fields.begin());
}

// Seconds became milliseconds around 2017; what as seconds would lie beyond the year 9999 is
// milliseconds (conda's own rule).
constexpr double k_last_second = 253402300799.0;

Step read_timestamp(JsonCursor& cursor, std::int64_t& out) {
    const char* begin = cursor.at();
    double value = 0;
    CUDAENV_STEP(cursor.number(value));
    if (std::abs(value) <= k_last_second) {
        value *= 1000;
    }
    if (!(std::abs(value) < 9e15)) { // whole numbers are exact in a double up to here
        return cursor.bad(begin, "not a point in time");
    }
    out = static_cast<std::int64_t>(value);
    return Step::Ok;
}

Step read_text(JsonCursor& cursor, JsonString& out) {
    if (cursor.peek() == 'n') { // null
        return cursor.skip_value();
    }
    return cursor.string(out);
}

Step read_field(JsonCursor& cursor, Field field, RecordText& out) {
    switch (field) {
    case Field::Name:
        return cursor.string(out.name);
    case Field::Version:
        return cursor.string(out.version);
    case Field::Build:
        return cursor.string(out.build);
    case Field::Sha256:
        return read_text(cursor, out.sha256);
    case Field::Subdir:
        return read_text(cursor, out.subdir);
    case Field::Depends:
        return cursor.string_list(out.depends);
    case Field::Constrains:
        return cursor.peek() == 'n' ? cursor.skip_value() : cursor.string_list(out.constrains);
    case Field::TrackFeatures:
        if (cursor.peek() == '[') {
            return cursor.string_list(out.track_features_list);
        }
        return read_text(cursor, out.track_features_text);
    case Field::BuildNumber: {
        const char* begin = cursor.at();
        std::int64_t value = 0;
        CUDAENV_STEP(cursor.integer(value));
        if (value < 0) {
            return cursor.bad(begin, "must not be negative");
        }
        out.build_number = static_cast<std::uint64_t>(value);
        return Step::Ok;
    }
    case Field::Timestamp:
        return cursor.peek() == 'n' ? cursor.skip_value()
                                    : read_timestamp(cursor, out.timestamp_ms);
    case Field::Noarch: // "python", "generic", and true in older records
        if (cursor.peek() == '"') {
            JsonString kind;
            CUDAENV_STEP(cursor.string(kind));
            out.noarch = !kind.raw.empty();
            return Step::Ok;
        }
        if (cursor.peek() != 't' && cursor.peek() != 'f' && cursor.peek() != 'n') {
            return cursor.bad(
                cursor.at(),
                std::string("expected \"python\", \"generic\", true or false, found ") +
                    cursor.kind_here());
        }
        out.noarch = cursor.peek() == 't';
        return cursor.skip_value();
    case Field::Other:
        break;
    }
    return cursor.skip_value();
}

Step check_complete(JsonCursor& cursor, const char* begin, const RecordText& record) {
    for (const auto& [value, key] :
         {std::pair{&record.name, "name"}, std::pair{&record.version, "version"},
          std::pair{&record.build, "build"}}) {
        if (value->raw.data() == nullptr) {
            return cursor.bad(begin, std::string("has no \"") + key + '"');
        }
    }
    if (record.name.raw.empty() || record.version.raw.empty()) {
        return cursor.bad(begin, "has an empty name or version");
    }
    return Step::Ok;
}

std::vector<std::string> texts_of(std::string_view list) {
    std::vector<std::string> out;
    if (!list.empty()) {
        each_string(list, [&](const JsonString& item) { out.push_back(item.text()); });
    }
    return out;
}

// "nomkl pypy" and "nomkl,pypy" are two features.
std::vector<std::string> features_of(const RecordText& text) {
    std::vector<std::string> out = texts_of(text.track_features_list);
    std::string words = text.track_features_text.text();
    std::ranges::replace(words, ',', ' ');
    for (const std::string_view word : split(words, ' ')) {
        out.emplace_back(word);
    }
    std::erase(out, "");
    return out;
}

} // namespace

Step read_record(JsonCursor& cursor, RecordText& out) {
    CUDAENV_STEP(cursor.key(out.file_name));
    const char* begin = cursor.at();
    if (cursor.peek() != '{') {
        return cursor.bad(begin,
                          std::string("a record must be an object, found ") + cursor.kind_here());
    }
    cursor.advance();
    CUDAENV_STEP(cursor.skip_space());
    bool more = cursor.peek() != '}';
    if (!more) {
        cursor.advance();
    }
    while (more) {
        JsonString key;
        CUDAENV_STEP(cursor.key(key));
        const Field field = key.escaped ? field_of(key.text()) : field_of(key.raw);
        const Step step = read_field(cursor, field, out);
        if (step == Step::Bad && field != Field::Other) {
            return cursor.bad(cursor.fault_at(), '"' + key.text() + "\": " + cursor.fault());
        }
        CUDAENV_STEP(step);
        CUDAENV_STEP(cursor.separator('}', more));
    }
    return check_complete(cursor, begin, out);
}

specs::PackageRecord decode_record(const RecordText& text, const RecordOrigin& origin) {
    specs::PackageRecord record;
    record.name = text.name.text();
    record.version = text.version.text();
    record.build = text.build.text();
    record.build_number = text.build_number;
    record.subdir = text.subdir.raw.empty() ? origin.subdir : text.subdir.text();
    record.channel = origin.channel;
    record.file_name = text.file_name.text();
    if (!origin.base_url.empty()) {
        record.url = origin.base_url + record.file_name;
    }
    record.sha256 = text.sha256.text();
    record.depends = texts_of(text.depends);
    record.constrains = texts_of(text.constrains);
    record.track_features = features_of(text);
    record.timestamp_ms = text.timestamp_ms;
    record.noarch = text.noarch || record.subdir == "noarch";
    return record;
}

} // namespace cudaenv::channels
