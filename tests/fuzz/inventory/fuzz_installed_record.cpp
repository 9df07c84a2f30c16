// Any bytes as RECORD and as installed-files.txt: every line is a claim, damaged or empty, and what
// is claimed is inside the prefix or absolute.
#include "check/inventory/record_text.hpp"
#include "tests/fuzz/require.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cudaenv;
    // The fuzzer's bytes are text here.
    const std::string_view text(reinterpret_cast<const char*>(data), size);

    inventory::ClaimedPaths paths("/e/env");
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    for (const auto& parsed : {inventory::parse_record(text, "lib/s", paths),
                               inventory::parse_installed_files(text, "lib/s/a.egg-info", paths)}) {
        // A line whose path is good and whose size or hash is not is both claimed and damaged.
        require(parsed.files.size() <= lines && parsed.damaged <= lines);
        require((parsed.damaged == 0) == (parsed.first_damaged_line == 0));
        require(parsed.first_damaged_line <= lines);
        for (std::size_t file = 0; file < parsed.files.size(); ++file) {
            const auto path = parsed.files.path(file);
            require(!path.empty() && path.find('\0') == std::string_view::npos);
            require(!path.starts_with("/e/env/") && !path.starts_with("../"));
        }
    }
    return 0;
}
