// What the readers of this room share: a place in a file, a requirement with its marker judged, and
// the spec that a version in a table of packages means. Pure.
#pragma once

#include "solver/inputs/input.hpp"
#include "solver/pins/toml_document.hpp"
#include "solver/specs/requirement.hpp"

#include <string>
#include <string_view>

namespace cudaenv::inputs {

struct FilePlace {
    std::string path;
    int line = 0;
    int column = 0;

    [[nodiscard]] std::string origin() const; // "requirements.txt line 3"
};
inline FilePlace at(std::string_view path, pins::TomlPlace place) {
    return {std::string(path), place.line, place.column};
}

tl::unexpected<Error> error_at(const FilePlace& place, std::string code, std::string message,
                               std::string hint);
// The same for an error whose column counts within a text that begins at `place`.
tl::unexpected<Error> error_within(const FilePlace& place, Error error);

enum class Strength { Wanted, Bound };
// One line of pip's: a requirement, or a path or URL without a name. A wheel's name gives its
// version and, where it is for one Python, that Python.
Result<void> add_requirement(Input& input, std::string_view text, const FilePlace& place,
                             const Target& target, Strength strength = Strength::Wanted);
// One of conda's.
Result<void> add_match_spec(Input& input, std::string_view text, const FilePlace& place);

// An index or a page of links: its label where the last part of its URL is one of PyTorch's
// (.../whl/cu121, .../torch-2.4.0+cu121.html).
void add_index(Input& input, std::string_view url, const FilePlace& place);

// requires-python and the like. Error: "bad-requirement".
Result<void> add_python(Input& input, std::string_view specifiers, const FilePlace& place,
                        Target& target);

// The entry of that name; null where there is none.
const pins::TomlEntry* find_entry(const pins::TomlTable& table, std::string_view key);
// The value of `entry` as a table, an array or a string. Error: "bad-value", `example` as hint.
Result<const pins::TomlTable*> table_of(const pins::TomlEntry& entry, std::string_view path);
Result<const pins::TomlArray*> array_of(const pins::TomlEntry& entry, std::string_view path,
                                        std::string_view example);
Result<std::string> string_of(const pins::TomlValue& value, std::string_view path,
                              std::string_view example);

} // namespace cudaenv::inputs
