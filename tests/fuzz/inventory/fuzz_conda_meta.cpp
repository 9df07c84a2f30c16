// Any bytes as a record of conda-meta/: refused with a reason, or read into a package whose paths
// are inside the prefix or absolute, and name a file.
#include "base/text.hpp"
#include "check/inventory/conda_meta.hpp"
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
    inventory::CondaMetaReader reader;
    const auto package = reader.read(text, paths);
    if (!package) {
        require(package.error().kind == ErrorKind::BadInput && !package.error().message.empty());
        return 0;
    }
    require(!package->name.empty());
    require(package->channel.find("://") == std::string::npos ||
            package->channel == redact_secrets(package->channel));
    for (std::size_t file = 0; file < package->files.size(); ++file) {
        const auto path = package->files.path(file);
        require(!path.empty() && path.find('\0') == std::string_view::npos);
        require(!path.starts_with("/e/env/") && !path.starts_with("../"));
        const auto& claim = package->files[file];
        require(claim.hash == facts::ClaimHash::Other || package->files.other_hash(file).empty());
    }
    return 0;
}
