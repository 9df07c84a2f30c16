// Any bytes as the lists of an extracted conda package and as a manifest of a kept copy: read or
// passed over; a command is a call of one dotted name and nothing else; a manifest that is read
// writes as one that reads the same.
#include "check/repair/conda_source.hpp"
#include "check/repair/kept_store.hpp"
#include "tests/fuzz/require.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cudaenv::repair;
    // The fuzzer's bytes are text here.
    const std::string text(reinterpret_cast<const char*>(data), size);
    static_cast<void>(read_paths_json(text));
    static_cast<void>(read_has_prefix(text));
    constexpr auto k_lines_of_a_script = 10;
    for (const auto& [command, target] : read_entry_points(text)) {
        const auto script = entry_point_script("/e/bin/python", target);
        require(!script || std::ranges::count(*script, '\n') == k_lines_of_a_script);
    }
    if (const auto kept = read_manifest(text)) {
        const auto again = read_manifest(write_manifest(*kept));
        require(again && again->files.size() == kept->files.size() &&
                again->bytes() == kept->bytes());
        require(kept_name(kept->name, kept->version).find('/') == std::string::npos);
    }
    const auto split = size / 2;
    const std::string placeholder = text.substr(0, std::min<std::size_t>(split, 16));
    if (!placeholder.empty()) {
        const std::string content = text.substr(split) + placeholder + text;
        const auto made = with_prefix_in_binary(content, placeholder, "/e");
        require(!made || made->size() == content.size());
        static_cast<void>(with_prefix_in_text(content, placeholder, "/e"));
    }
    return 0;
}
