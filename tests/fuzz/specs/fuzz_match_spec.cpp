// A MatchSpec, and on further lines the version, build and channel of a record to match: never a
// crash, and no input that takes long.
#include "solver/specs/match_spec.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace cudaenv::specs;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    std::array<std::string_view, 4> lines;
    std::size_t at = 0;
    for (std::string_view& line : lines) {
        const std::size_t end = input.find('\n', at);
        line = input.substr(at, end == std::string_view::npos ? end : end - at);
        at = end == std::string_view::npos ? input.size() : end + 1;
    }
    const auto spec = MatchSpec::parse(lines[0]);
    if (!spec) {
        if (spec.error().message.empty()) {
            std::abort();
        }
        return 0;
    }
    PackageRecord record;
    record.name = spec->name();
    record.version = lines[1];
    record.build = lines[2];
    record.build_number = size % 7;
    record.subdir = "linux-64";
    record.channel = lines[3];
    const auto version = Version::parse(record.version);
    const Verdict verdict = spec->evaluate(record, version ? &*version : nullptr);
    if (!spec->constrains_anything() && verdict != Verdict::Yes) {
        std::abort();
    }
    static_cast<void>(spec->name_matches(lines[2]));
    return 0;
}
