// Any bytes as METADATA, WHEEL, requires.txt and direct_url.json: read or passed over; the end of
// the headers is where it is, however the text is cut, and a URL of another machine has no
// credentials.
#include "base/text.hpp"
#include "check/inventory/metadata_text.hpp"
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

    const auto end = inventory::end_of_headers(text);
    require(end == std::string_view::npos || (end <= size && text[end - 1] == '\n'));
    for (const auto from : {size / 3, size / 2}) {
        if (from < end) {
            require(from == 0 ||
                    inventory::end_of_headers(text.substr(0, from)) == std::string_view::npos);
            require(inventory::end_of_headers(text, from) == end);
        }
    }
    // What lies behind the headers changes nothing.
    const auto whole = inventory::parse_metadata(text);
    const auto headers = inventory::parse_metadata(text.substr(0, std::min(end, size)));
    require(whole.name == headers.name && whole.version == headers.version &&
            whole.requires_dist == headers.requires_dist);
    const auto wheel = inventory::parse_wheel(text);
    require(wheel.tags.size() <= size);
    for (const auto& requirement : inventory::parse_requires_txt(text)) {
        require(!requirement.empty());
    }
    const auto url = inventory::parse_direct_url(text);
    require(!url || !url->url.empty());
    require(!url || url->local_directory.empty() || url->local_directory.front() == '/');
    require(!url || url->url.starts_with("file://") || url->url == redact_secrets(url->url));
    return 0;
}
