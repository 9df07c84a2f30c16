#include "solver/plan/conflict.hpp"

#include "solver/plan/conflict_fixes.hpp"
#include "solver/plan/conflict_reasons.hpp"
#include "solver/plan/conflict_search.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::plan {

std::string display(const specs::PackageRecord& record, const Attempt& attempt) {
    if (attempt.catalogue) {
        if (record.build.empty() || record.build == "cpu") {
            return record.name + ' ' + record.version + (record.build.empty() ? "" : " (CPU)");
        }
        return fmt::format("{} {}+{}", record.name, record.version, record.build);
    }
    return record.build.empty()
               ? record.name + ' ' + record.version
               : fmt::format("{} {} ({})", record.name, record.version, record.build);
}

ExplainedConflict explain_conflict(const Attempt& attempt, const Request& request) {
    const ConflictSearch search(attempt, request);
    const auto cores = search.cores();
    ExplainedConflict conflict;
    for (const Core& core : cores) {
        for (Reason& reason : reasons_of(search, core)) {
            const bool told =
                std::any_of(conflict.reasons.begin(), conflict.reasons.end(),
                            [&](const Reason& other) { return other.text == reason.text; });
            if (!told) {
                conflict.reasons.push_back(std::move(reason));
            }
        }
    }
    conflict.fixes = fixes_for(search, cores);
    return conflict;
}

} // namespace cudaenv::plan
