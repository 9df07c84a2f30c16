// Where in a JSON text a value stands, so that a message about it can name line and column.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::facts {

struct TextPlace {
    int line = 1;   // from 1
    int column = 1; // from 1, in bytes
};
TextPlace place_of_offset(std::string_view text, std::size_t offset);

// Offset of the value that `steps` (keys and array indexes) lead to in a valid JSON text. Where a
// key is missing, the offset of the last container that exists. Of a key given twice the last one,
// as the parser takes it.
std::size_t offset_of_value(std::string_view json, const std::vector<std::string>& steps);

} // namespace cudaenv::facts
