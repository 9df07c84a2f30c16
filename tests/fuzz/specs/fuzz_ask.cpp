// What a user types, and on a further line a version: conda's, Python's or both, never neither.
#include "solver/specs/ask.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace cudaenv::specs;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const std::size_t line = input.find('\n');
    const auto ask = Ask::parse(input.substr(0, line));
    if (!ask) {
        return 0;
    }
    if (ask->conda() == nullptr && ask->pip() == nullptr) {
        std::abort();
    }
    const std::string_view version =
        line == std::string_view::npos ? std::string_view("1.0") : input.substr(line + 1);
    static_cast<void>(ask->satisfied_by(version, VersionRules::Conda));
    static_cast<void>(ask->satisfied_by(version, VersionRules::Pep440));
    static_cast<void>(ask->constrains_version());
    return 0;
}
