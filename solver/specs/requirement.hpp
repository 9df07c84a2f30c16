// A Python requirement (PEP 508): "torch[opt]>=2,<3; python_version < '3.13'", "name @
// https://...". Pure.
//
// Law: accepted, refused and evaluated as by `packaging` 26.3 (judged against it), but for
// parentheses nested more than 50 deep and an empty `===`, which are refused here.
#pragma once

#include "base/result.hpp"
#include "solver/specs/pep440.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::specs {

// What a marker may ask about; the names of PEP 508.
struct MarkerEnvironment {
    std::string python_version = "3.11";        // two numbers
    std::string python_full_version = "3.11.0"; // three
    std::string os_name = "posix";
    std::string sys_platform = "linux";
    std::string platform_system = "Linux";
    std::string platform_machine = "x86_64";
    std::string platform_release;
    std::string platform_version;
    std::string platform_python_implementation = "CPython";
    std::string implementation_name = "cpython";
    std::string implementation_version = "3.11.0";
    std::string extra; // the extra for which a dependency is looked at; empty for none
    std::vector<std::string> extras; // for lock files: '"x" in extras'
};

class Marker {
public:
    // Error: "bad-requirement", column relative to `text`.
    static Result<Marker> parse(std::string_view text);
    // Error: "bad-requirement" where the marker compares what has no order ("os_name ~= 'posix'").
    [[nodiscard]] Result<bool> evaluate(const MarkerEnvironment& environment) const;

private:
    friend class RequirementParser;

    struct Operand {
        bool is_variable = false;
        std::string text;
    };
    struct Comparison {
        Operand left;
        std::string relation; // "in", "not in" or an operator
        Operand right;
    };
    // Either a comparison or a group; a group's members are joined by "or" into alternatives, each
    // of which are joined by "and".
    struct Node {
        std::optional<Comparison> comparison;
        std::vector<std::vector<Node>> alternatives;
    };

    static Result<bool> evaluate(const Node& node, const MarkerEnvironment& environment);
    static Result<bool> evaluate(const Comparison& comparison,
                                 const MarkerEnvironment& environment);

    Node m_root;
};

struct Requirement {
    std::string text;                // as read
    std::string name;                // as written
    std::vector<std::string> extras; // as written, sorted, each once
    SpecifierSet specifiers;
    std::string url; // of "name @ url"; else empty
    std::optional<Marker> marker;

    // Error: "bad-requirement", column set to where the text stops making sense.
    static Result<Requirement> parse(std::string_view text);
    [[nodiscard]] std::string normalized_name() const;
};

// PEP 503: lower case, runs of - _ . become one dash.
[[nodiscard]] std::string normalize_project_name(std::string_view name);

} // namespace cudaenv::specs
