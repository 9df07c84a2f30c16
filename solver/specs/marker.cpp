// What a marker says about an environment.
#include "base/text.hpp"
#include "solver/specs/requirement.hpp"

#include <algorithm>

namespace cudaenv::specs {

Result<bool> Marker::evaluate(const MarkerEnvironment& environment) const {
    return evaluate(m_root, environment);
}

Result<bool> Marker::evaluate(const Node& node, const MarkerEnvironment& environment) {
    if (node.comparison) {
        return evaluate(*node.comparison, environment);
    }
    // Every comparison is checked, so that a senseless one is reported wherever it stands.
    bool any = false;
    for (const std::vector<Node>& alternative : node.alternatives) {
        bool all = true;
        for (const Node& member : alternative) {
            CUDAENV_TRY(const bool holds, evaluate(member, environment));
            all = all && holds;
        }
        any = any || all;
    }
    return any;
}

Result<bool> Marker::evaluate(const Comparison& comparison, const MarkerEnvironment& environment) {
    const auto senseless = [&](const std::string& what) {
        return bad_input("bad-requirement", "the marker \"" + comparison.left.text + ' ' +
                                                comparison.relation + ' ' + comparison.right.text +
                                                "\" " + what);
    };
    const std::string& variable =
        comparison.left.is_variable ? comparison.left.text : comparison.right.text;
    if (!comparison.left.is_variable && !comparison.right.is_variable) {
        return senseless("asks about nothing in the environment");
    }
    if (variable == "extras" || variable == "dependency_groups") {
        const std::string& relation = comparison.relation;
        if (comparison.left.is_variable || relation == "~=" || relation == "===") {
            return senseless("is not of the form 'name' in " + variable);
        }
        if (relation != "in" && relation != "not in") {
            return relation == "!="; // a text is no set
        }
        const bool found = variable == "extras" &&
                           std::ranges::any_of(environment.extras, [&](const std::string& extra) {
                               return normalize_project_name(extra) == comparison.left.text;
                           });
        return found == (relation == "in");
    }
    const std::string value =
        variable == "python_version"                   ? environment.python_version
        : variable == "python_full_version"            ? environment.python_full_version
        : variable == "os_name"                        ? environment.os_name
        : variable == "sys_platform"                   ? environment.sys_platform
        : variable == "platform_system"                ? environment.platform_system
        : variable == "platform_machine"               ? environment.platform_machine
        : variable == "platform_release"               ? environment.platform_release
        : variable == "platform_version"               ? environment.platform_version
        : variable == "platform_python_implementation" ? environment.platform_python_implementation
        : variable == "implementation_name"            ? environment.implementation_name
        : variable == "implementation_version"         ? environment.implementation_version
                                                       : normalize_project_name(environment.extra);
    const std::string& left = comparison.left.is_variable ? value : comparison.left.text;
    const std::string& right = comparison.left.is_variable ? comparison.right.text : value;
    const std::string& relation = comparison.relation;
    const bool compares_versions =
        variable == "python_version" || variable == "python_full_version" ||
        variable == "implementation_version" || variable == "platform_release";
    if (compares_versions) {
        if (relation == "===" && trim(right).empty()) {
            return left.empty();
        }
        if (const auto clause = Specifier::parse(relation + right)) {
            const auto version = Pep440Version::parse(left);
            return clause->contains(left, version ? &*version : nullptr);
        }
    }
    if (relation == "in" || relation == "not in") {
        return (right.find(left) != std::string::npos) == (relation == "in");
    }
    if (relation == "==" || relation == "<=" || relation == ">=") {
        return left == right;
    }
    if (relation == "!=") {
        return left != right;
    }
    if (relation == "<" || relation == ">") {
        return false; // texts have no order
    }
    return senseless("compares texts with " + relation);
}

} // namespace cudaenv::specs
