// A requirement, and on a further line a version: never a crash, and a normal form that is stable.
#include "solver/specs/requirement.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace cudaenv::specs;

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
    const std::string_view first = input.substr(0, line);
    const std::string_view second = line == std::string_view::npos ? first : input.substr(line + 1);
    if (const auto version = Pep440Version::parse(second)) {
        const auto again = Pep440Version::parse(version->normal());
        demand(again && *again == *version && again->normal() == version->normal());
        demand(version->compare_public(*again) == 0);
    }
    static_cast<void>(Marker::parse(first));
    const auto requirement = Requirement::parse(first);
    if (!requirement) {
        demand(requirement.error().column > 0 || first.size() > 65536);
        return 0;
    }
    demand(!requirement->name.empty());
    static_cast<void>(requirement->specifiers.contains(second));
    const auto clauses = SpecifierSet::parse(requirement->specifiers.str());
    demand(clauses && clauses->contains(second) == requirement->specifiers.contains(second));
    if (requirement->marker) {
        static_cast<void>(requirement->marker->evaluate(MarkerEnvironment{}));
    }
    return 0;
}
