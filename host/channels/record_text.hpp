// One member of "packages" or "packages.conda", `"name-version-build.conda": {...}`: checked, and
// where it is wanted decoded. Pure.
//
// Law: a record that `read_record` accepts has a name, a version and a build, and every field that
// we use has its right type; fields that we do not use are only checked to be JSON.
#pragma once

#include "host/channels/json_cursor.hpp"
#include "solver/specs/record.hpp"

namespace cudaenv::channels {

// A record still in its text: views into it, nothing copied.
struct RecordText {
    JsonString file_name;
    JsonString name;
    JsonString version;
    JsonString build;
    JsonString subdir;
    JsonString sha256;
    JsonString track_features_text; // "nomkl pypy": older records write them in one text
    std::string_view depends;       // lists with their brackets, empty where absent
    std::string_view constrains;
    std::string_view track_features_list;
    std::uint64_t build_number = 0;
    std::int64_t timestamp_ms = 0;
    bool noarch = false;
};

// At the file name's opening quote; after Ok behind the record's closing brace. After Bad,
// `out.file_name` says which record it is, where the fault is not in that very name.
Step read_record(JsonCursor& cursor, RecordText& out);

// Where the records of one repodata file come from.
struct RecordOrigin {
    std::string channel;  // as the user named it, redacted
    std::string base_url; // that a file name is appended to, redacted, '/' at the end; empty = none
    std::string subdir;   // for records that do not name their own
};

specs::PackageRecord decode_record(const RecordText& text, const RecordOrigin& origin);

} // namespace cudaenv::channels
