#include "solver/resolve/conflict.hpp"

#include "solver/knowledge/frameworks.hpp"
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
        const auto* const row = knowledge::find_framework(record.name);
        if (record.build == "cpu") {
            return name + ' ' + record.version + " (CPU)";
        }
        const bool labelled = row != nullptr && row->table == "torch" && !record.build.empty() &&
                              record.build != "source";
        return name + ' ' + record.version + (labelled ? '+' + record.build : "");
    }
    return record.build.empty()
               ? record.name + ' ' + record.version
               : fmt::format("{} {} ({})", record.name, record.version, record.build);
}

namespace {
std::vector<Reason> reasons_of_all(const ConflictSearch& search, const std::vector<Core>& cores) {
    std::vector<Reason> reasons;
    for (const Core& core : cores) {
        for (Reason& reason : reasons_of(search, core)) {
            if (std::ranges::find(reasons, reason.text, &Reason::text) == reasons.end()) {
                reasons.push_back(std::move(reason));
            }
        }
    }
    return reasons;
}
} // namespace

std::vector<Reason> conflict_reasons(const Attempt& attempt, const Request& request) {
    const ConflictSearch search(attempt, request);
    return reasons_of_all(search, search.cores());
}

ExplainedConflict explain_conflict(const Attempt& attempt, const Request& request) {
    const ConflictSearch search(attempt, request);
    const auto cores = search.cores();
    return {reasons_of_all(search, cores), fixes_for(search, cores)};
}

} // namespace cudaenv::resolve
