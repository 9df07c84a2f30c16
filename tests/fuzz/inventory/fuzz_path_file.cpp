// Any bytes as a .pth file and as an egg-link: directories come back absolute.
#include "check/inventory/metadata_text.hpp"
#include "tests/fuzz/require.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cudaenv;
    // The fuzzer's bytes are text here.
    const std::string_view text(reinterpret_cast<const char*>(data), size);

    inventory::ClaimedPaths paths("/e/env");
    const auto parsed = inventory::parse_path_file(text, "lib/s", paths);
    for (const auto& directory : parsed.directories) {
        require(directory.starts_with("/"));
    }
    for (const auto& finder : parsed.finders) {
        require(!finder.empty() && finder.size() < size);
    }
    const auto link = inventory::parse_egg_link(text, "lib/s", paths);
    require(link.empty() || link.starts_with("/"));
    return 0;
}
