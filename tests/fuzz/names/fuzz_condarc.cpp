// A condarc is the user's: whatever it holds, it is read or refused with a line, and merging it
// with itself gives each directory once.
#include "host/names/condarc.hpp"

#include <cstdint>
#include <cstdlib>
#include <set>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto list =
        cudaenv::names::parse_condarc(std::string_view(reinterpret_cast<const char*>(data), size));
    if (!list) {
        if (list.error().code != "bad-condarc" || list.error().line < 1) {
            std::abort();
        }
        return 0;
    }
    const auto merged = cudaenv::names::merge_condarc({*list, *list});
    if (std::set<std::string>(merged.begin(), merged.end()).size() != merged.size()) {
        std::abort();
    }
    return 0;
}
