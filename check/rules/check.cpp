#include "check/rules/check.hpp"

#include "base/printable.hpp"
#include "check/rules/consequences.hpp"
#include "check/rules/rules.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace cudaenv::rules {

namespace {

struct RuleRow {
    const char* name; // for people who add one
    void (*rule)(const CheckContext&, std::vector<CheckFinding>&);
    // The least that it needs. At a prompt only those of the records run, with
    // CheckContext::examined null.
    CheckDepth needs = CheckDepth::Everything;
};

constexpr auto k_rules = std::to_array<RuleRow>({
    {"replaced", find_replaced, CheckDepth::Records},
    {"overwrites", find_overwrites, CheckDepth::Records},
    {"duplicates", find_duplicates, CheckDepth::Records},
    {"leftovers", find_leftovers, CheckDepth::Records},
    {"conda's leftovers", find_conda_leftovers, CheckDepth::Records},
    {"conda's clobbers", find_conda_clobbers, CheckDepth::Records},
    {"torch family", find_torch_family, CheckDepth::Records},
    {"CUDA copies", find_cuda_copies, CheckDepth::Records},
    {"nvcc's parts", find_nvcc_parts, CheckDepth::Records},
    {"shadowed libraries", find_shadowed_libraries, CheckDepth::Everything},
    {"extensions", find_foreign_extensions, CheckDepth::Everything},
    {"NumPy's modules", find_foreign_numpy_modules, CheckDepth::Everything},
    {"earlier copies", find_earlier_copies, CheckDepth::Everything},
    {"missing libraries", find_missing_libraries, CheckDepth::Everything},
    {"stale builds", find_stale_builds, CheckDepth::Everything},
    {"CUDA fit", find_cuda_misfits, CheckDepth::Machine},
    {"requirements", find_unmet_requirements, CheckDepth::Machine},
    {"absent requirements", find_absent_requirements, CheckDepth::Everything},
    {"constraints", find_outdated_constraints, CheckDepth::Everything},
});

// What a finding says goes to a terminal and into JSON. Paths of evidence and files are bytes, and
// whoever writes them knows it. A command with other bytes could not be pasted.
void make_printable(CheckFinding& found) {
    auto& finding = found.finding;
    for (auto* text : {&found.subject, &finding.title, &finding.cause}) {
        *text = printable(*text);
    }
    for (auto& evidence : finding.evidence) {
        evidence.text = printable(evidence.text);
    }
    if (finding.fix) {
        finding.fix->text = printable(finding.fix->text);
        if (finding.fix->command != printable(finding.fix->command)) {
            finding.fix->command.clear();
        }
    }
}

} // namespace

std::vector<CheckFinding> check(const CheckContext& context, CheckDepth depth) {
    std::vector<CheckFinding> found;
    for (const RuleRow& row : k_rules) {
        if (row.needs <= depth) {
            row.rule(context, found);
        }
    }
    withhold_harmful_repairs(context, found);
    std::ranges::for_each(found, make_printable);
    std::ranges::stable_sort(found, [](const auto& left, const auto& right) {
        return std::tie(left.finding.severity, left.finding.code, left.subject) <
               std::tie(right.finding.severity, right.finding.code, right.subject);
    });
    return found;
}

} // namespace cudaenv::rules
