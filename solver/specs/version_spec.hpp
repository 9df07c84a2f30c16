// A version constraint as conda has it: ">=1.2,<2|==3.0", "1.7.*", "~=1.4.2", "^1\.[0-9]$". Pure.
//
// Law: parsed once, then asked many times without allocating (regular expressions apart). Where
// conda itself fails while matching (`~=1` has nothing to be compatible with), the answer is
// Undefined.
#pragma once

#include "base/result.hpp"
#include "solver/specs/pattern.hpp"
#include "solver/specs/version.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cudaenv::specs {

enum class Verdict { No, Yes, Undefined };

constexpr Verdict verdict_of(bool yes) {
    return yes ? Verdict::Yes : Verdict::No;
}

class VersionSpec {
public:
    // Error: "bad-spec", column relative to `text`.
    static Result<VersionSpec> parse(std::string_view text);

    // A constraint on a build number: one relation as in ">=2", or "*"; ".*" has no meaning there.
    static Result<VersionSpec> parse_number_relation(std::string_view text);

    // `text` is the version as written; `version` the same parsed, null where it is no version.
    [[nodiscard]] Verdict evaluate(std::string_view text, const Version* version) const;
    // True for "*" alone.
    [[nodiscard]] bool is_anything() const;

private:
    friend class VersionSpecParser;

    enum class Relation {
        Equal,
        NotEqual,
        Less,
        LessEqual,
        Greater,
        GreaterEqual,
        Starts,
        NotStarts
    };
    struct Anything {};
    struct Compare {
        Relation relation;
        Version version;
    };
    struct Compatible {
        Version version;
        std::optional<Version> prefix; // the version without its last part; none for "~=1"
    };
    struct ExactText {
        std::string text;
    };
    struct Glob {
        std::string glob;
    };
    struct Expression {
        Regex regex;
    };
    struct Group {
        bool all; // "," joins; else "|"
        std::vector<VersionSpec> members;
    };
    using Node = std::variant<Anything, Compare, Compatible, ExactText, Glob, Expression, Group>;

    VersionSpec() = default;
    explicit VersionSpec(Node node) : m_node(std::move(node)) {}

    Node m_node;
};

} // namespace cudaenv::specs
