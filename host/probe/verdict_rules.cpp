#include "host/probe/verdict_rules.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::probe {

namespace {

bool looks_as_far(VerdictDepth depth, VerdictDepth other) {
    return depth == other || (depth == VerdictDepth::Full && other == VerdictDepth::Quick);
}

int badness(const KeptVerdict& verdict) {
    return verdict.verdict == "ok"      ? 0
           : verdict.verdict == "warns" ? 1
           : verdict.verdict == "busy"  ? 2
                                        : 3;
}

} // namespace

std::string_view name_of(VerdictDepth depth) {
    constexpr auto k_depths = std::to_array<std::string_view>({"quick", "full", "build"});
    return k_depths.at(static_cast<std::size_t>(depth));
}

bool is_transient(std::string_view verdict) {
    return verdict == "busy" || verdict == "crashed" || verdict == "timeout";
}

bool is_well(const KeptVerdict& verdict) {
    return verdict.verdict == "ok" || verdict.verdict == "warns";
}

bool passes(const KeptVerdict& verdict) {
    return is_transient(verdict.verdict) || (!is_well(verdict) && verdict.of_the_moment);
}

bool is_out_of_time(const KeptVerdict& verdict, std::int64_t now) {
    return now < verdict.at ||
           (passes(verdict) && now - verdict.at >= std::chrono::seconds(k_transient_life).count());
}

bool replaces(const KeptVerdict& verdict, const KeptVerdict& earlier) {
    const bool looked = std::ranges::find(verdict.left_out, earlier.step) == verdict.left_out.end();
    if (!looks_as_far(verdict.depth, earlier.depth) || (!looked && !is_well(earlier))) {
        return false;
    }
    // What the system's state breaks is no chance: that all was well is over.
    return !passes(verdict) || passes(earlier) ||
           (!is_transient(verdict.verdict) && is_well(earlier));
}

bool is_worth_keeping(const KeptVerdict& verdict) {
    return verdict.depth != VerdictDepth::Build || !is_well(verdict);
}

bool is_worse_than(const KeptVerdict& verdict, const KeptVerdict& other) {
    return badness(verdict) != badness(other) ? badness(verdict) > badness(other)
                                              : verdict.at >= other.at;
}

} // namespace cudaenv::probe
