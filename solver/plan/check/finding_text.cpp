#include "solver/plan/check/finding_text.hpp"

#include "solver/plan/printable.hpp"

namespace cudaenv::plan {

void make_printable(std::vector<CheckFinding>& found, std::size_t first) {
    for (std::size_t i = first; i < found.size(); ++i) {
        auto& told = found[i];
        told.subject = printable(told.subject);
        told.line = printable(told.line);
        told.finding.title = printable(told.finding.title);
        told.finding.cause = printable(told.finding.cause);
        for (auto& evidence : told.finding.evidence) {
            evidence.text = printable(evidence.text);
        }
        if (auto& fix = told.finding.fix) {
            fix->text = printable(fix->text);
            if (printable(fix->command) != fix->command) {
                fix->command.clear();
            }
        }
    }
}

} // namespace cudaenv::plan
