// Any bytes as a facts file: read or refused with a place, and what is read survives a round trip.
#include "solver/facts/host_json.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // The fuzzer's bytes are text here.
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto host = cudaenv::facts::parse_host(text, "fuzz");
    if (!host) {
        if (host.error().line < 1 || host.error().column < 1 || host.error().message.empty()) {
            std::abort();
        }
        return 0;
    }
    const auto written = cudaenv::facts::to_json(*host);
    const auto again = cudaenv::facts::parse_host(written.dump(), "again");
    if (!again || cudaenv::facts::to_json(*again) != written) {
        std::abort();
    }
    return 0;
}
