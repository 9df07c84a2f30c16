#include "base/shell_word.hpp"
#include "check/rules/constraints.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/install_text.hpp"
#include "check/rules/rules.hpp"

#include <algorithm>

namespace cudaenv::rules {

namespace {

std::string attach_command(const CheckContext& context) {
    return "cudaenv attach -p " + shell_word(context.inventory.prefix);
}

// pip was replaced by an older one since.
void report_old_pip(const CheckContext& context, std::vector<CheckFinding>& findings) {
    const auto& all = context.inventory.distributions;
    const auto pip = std::ranges::find_if(all, [](const auto& one) { return one.name == "pip"; });
    if (pip == all.end() || builds_apart(pip->version) != BuildsApart::Never) {
        return;
    }
    auto found =
        report(context, "CE160", "old-pip", "pip",
               {{"version", pip->version},
                {"command", shell_word(absolute_path(context, context.inventory.python)) +
                                " -m pip install --upgrade pip && " + attach_command(context)}});
    found.finding.evidence.push_back(
        {absolute_path(context, "pip.conf"), 0, "names the constraints"});
    findings.push_back(std::move(found));
}

// The environment was moved or copied since, or the file was deleted.
void report_foreign_file(const CheckContext& context, std::vector<CheckFinding>& findings) {
    const PipConstraints& constraints = context.constraints;
    auto found = report(context, "CE160", constraints.is_there ? "other-environment" : "missing",
                        "pip.conf", {{"command", attach_command(context)}});
    found.finding.evidence = {
        {absolute_path(context, "pip.conf"), 0, "names the constraints"},
        {constraints.named, 0, constraints.is_there ? "of another environment" : "does not exist"}};
    findings.push_back(std::move(found));
}

} // namespace

void find_outdated_constraints(const CheckContext& context, std::vector<CheckFinding>& findings) {
    if (context.constraints.named.empty()) {
        return;
    }
    if (!context.constraints.is_own || !context.constraints.is_there) {
        report_foreign_file(context, findings);
        return;
    }
    const auto outdated =
        outdated_constraints(context.constraints.text, context.inventory, context.ownership);
    if (!outdated.empty()) {
        const auto& first = outdated.front();
        auto found = report(context, "CE160", "outdated", first.name,
                            {{"name", first.name},
                             {"version", first.version},
                             {"held", first.held},
                             {"command", attach_command(context)}});
        for (const auto& one : outdated) {
            found.finding.evidence.push_back(
                {context.constraints.named, 0,
                 one.name + " is " + one.version + ", held at " + one.held});
        }
        findings.push_back(std::move(found));
    }
    report_old_pip(context, findings);
}

} // namespace cudaenv::rules
