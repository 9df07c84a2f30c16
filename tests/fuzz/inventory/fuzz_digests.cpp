// Any bytes as the store of digests: nothing of them, or what would be written again to the byte.
// And any entries: they are read as they were written.
#include "check/inventory/digest_cache.hpp"
#include "tests/fuzz/require.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cudaenv;
    // The fuzzer's bytes are text here.
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    constexpr std::string_view k_machine = "machine";

    if (const auto digests = inventory::read_digests(text, k_machine)) {
        require(inventory::write_digests(*digests, k_machine) == text);
    }
    // Past the checksum, which no change of a seed gets by.
    std::vector<inventory::KeptDigest> made;
    constexpr std::size_t k_size = sizeof(FileIdentity) + 32;
    for (auto rest = text; rest.size() >= k_size; rest.remove_prefix(k_size)) {
        auto& kept = made.emplace_back();
        std::memcpy(&kept.file, rest.data(), sizeof kept.file);
        std::memcpy(kept.sha256.data(), rest.data() + sizeof kept.file, kept.sha256.size());
        kept.used_at = kept.file.changed_ns;
    }
    const std::string machine(text.substr(0, 300));
    const auto written = inventory::write_digests(made, machine);
    require(inventory::read_digests(written, machine) == made);
    if (machine.size() < 256) {
        require(!inventory::read_digests(written, machine + 'x'));
    }
    return 0;
}
