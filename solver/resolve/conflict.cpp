#include "solver/resolve/conflict.hpp"

#include "solver/resolve/conflict_fixes.hpp"
#include "solver/resolve/conflict_reasons.hpp"
#include "solver/resolve/conflict_search.hpp"
#include "solver/resolve/package_records.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::resolve {

std::string display(const specs::PackageRecord& record, const Attempt& attempt) {
    if (attempt.catalogue) {
        const std::string name = shown_name(record.name);
        if (record.build.empty() || record.build == "cpu" || record.build == "source") {
            return name + ' ' + record.version + (record.build == "cpu" ? " (CPU)" : "");
        }
        return fmt::format("{} {}+{}", name, record.version, record.build);
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

} // namespace cudaenv::resolve
