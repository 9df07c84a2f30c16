#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "solver/plan/check/install_text.hpp"
#include "solver/plan/check/rules.hpp"
#include "solver/plan/constraints.hpp"

#include <algorithm>

namespace cudaenv::plan {

namespace {

CheckFinding begin(std::string title) {
    CheckFinding told;
    told.finding.code = "CE160";
    told.finding.severity = Severity::Note;
    told.finding.title = std::move(title);
    return told;
}

// pip was replaced by an older one since.
void tell_old_pip(const CheckScene& scene, std::vector<CheckFinding>& found) {
    const auto& all = scene.inventory.distributions;
    const auto pip =
        std::find_if(all.begin(), all.end(), [](const auto& one) { return one.name == "pip"; });
    if (pip == all.end() || builds_apart(pip->version) != BuildsApart::Never) {
        return;
    }
    auto told = begin("pip " + pip->version + " holds isolated builds to the constraints");
    told.subject = "pip";
    told.finding.evidence.push_back({absolute_path(scene, "pip.conf"), 0, "names the constraints"});
    told.finding.cause = "What is built in isolation may need another torch than the one here, and "
                         "then cannot be built. From pip 25.3 on it can.";
    told.finding.fix = Fix{"a newer pip, and the constraints anew",
                           shell_word(absolute_path(scene, scene.inventory.python)) +
                               " -m pip install --upgrade pip && cudaenv attach -p " +
                               shell_word(scene.inventory.prefix)};
    found.push_back(std::move(told));
}

// The environment was moved or copied since, or somebody took the file away.
void tell_foreign_file(const CheckScene& scene, std::vector<CheckFinding>& found) {
    const PipConstraints& constraints = scene.constraints;
    auto told = begin(constraints.is_there ? "pip.conf names the constraints of another environment"
                                           : "pip.conf names a constraints file that is not there");
    told.subject = "pip.conf";
    told.finding.severity = constraints.is_there ? Severity::Warning : Severity::Error;
    told.finding.evidence = {
        {absolute_path(scene, "pip.conf"), 0, "names the constraints"},
        {constraints.named, 0, constraints.is_there ? "is another's" : "is not there"}};
    told.finding.cause = constraints.is_there
                             ? "pip holds back here what is installed there."
                             : "Every `pip install` of this environment fails until it is.";
    told.finding.fix = Fix{"the constraints anew, or `cudaenv detach` for none",
                           "cudaenv attach -p " + shell_word(scene.inventory.prefix)};
    found.push_back(std::move(told));
}

} // namespace

void find_outdated_constraints(const CheckScene& scene, std::vector<CheckFinding>& found) {
    if (scene.constraints.named.empty()) {
        return;
    }
    if (!scene.constraints.is_own || !scene.constraints.is_there) {
        tell_foreign_file(scene, found);
        return;
    }
    const auto lines =
        outdated_constraints(scene.constraints.text, scene.inventory, scene.ownership);
    if (!lines.empty()) {
        auto told = begin("the constraints for pip no longer say what is here: " + lines.front());
        told.subject = lines.front().substr(0, lines.front().find(' '));
        for (const std::string& line : lines) {
            told.finding.evidence.push_back({scene.constraints.named, 0, line});
        }
        told.finding.cause = "pip would bring what it holds back with the next install that needs "
                             "it, or refuse what fits the one that is here.";
        told.finding.fix = Fix{"the constraints anew, or `cudaenv detach` for none",
                               "cudaenv attach -p " + shell_word(scene.inventory.prefix)};
        found.push_back(std::move(told));
    }
    tell_old_pip(scene, found);
}

} // namespace cudaenv::plan
