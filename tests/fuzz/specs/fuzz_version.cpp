// Two versions, a line each, as conda reads them: never a crash, and an order that is one.
#include "solver/specs/version.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

using cudaenv::specs::Version;

namespace {
void demand(bool holds) {
    if (!holds) {
        std::abort();
    }
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const std::size_t line = input.find('\n');
    const auto a = Version::parse(input.substr(0, line));
    if (!a) {
        demand(a.error().column > 0 && !a.error().message.empty());
        return 0;
    }
    demand(*a == *a && (*a <=> *a) == 0);
    const auto again = Version::parse(a->normal());
    demand(again && *again == *a && again->normal() == a->normal());
    if (line == std::string_view::npos) {
        return 0;
    }
    const auto b = Version::parse(input.substr(line + 1));
    if (b) {
        demand(((*a <=> *b) < 0) == ((*b <=> *a) > 0));
        demand((*a == *b) == (*b == *a));
        if (*a == *b) {
            demand(a->starts_with(*b) == again->starts_with(*b));
        }
    }
    return 0;
}
