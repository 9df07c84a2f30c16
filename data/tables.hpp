// The compatibility tables of this folder as they were when the binary was built: JSON text,
// embedded. Pure: nothing is read at run time.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace cudaenv::data {

// This many readable zero bytes follow each table's text.
inline constexpr std::size_t k_padding = 64;

// Text of data/NAME.json; empty where there is no table of that name.
std::string_view table(std::string_view name);
std::span<const std::string_view> table_names();

} // namespace cudaenv::data
