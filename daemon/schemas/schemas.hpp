// The JSON Schemas (draft 2020-12) of the objects that cudaenv prints, compiled in from *.json
// here.
#pragma once

#include <span>
#include <string_view>

namespace cudaenv::daemon {

struct Schema {
    std::string_view name; // "host" describes cudaenv.host/1
    std::string_view text;
};
std::span<const Schema> schemas(); // by name

} // namespace cudaenv::daemon
