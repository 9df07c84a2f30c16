// Python's versions and version specifiers (PEP 440). Pure.
//
// Law: parsing, order and membership as `packaging` 26.3 has them (judged against it), but for an
// empty
// `===`, which is refused here.
//
// "1!2.0rc1.post3.dev4+cu118" is epoch 1, release 2.0, rc 1, post 3, dev 4, local cu118.
#pragma once

#include "base/result.hpp"

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::specs {

class Pep440Version {
public:
    // Error: "bad-version", column set.
    static Result<Pep440Version> parse(std::string_view text);

    [[nodiscard]] const std::string& str() const { return m_text; } // as read
    // "1.0-RC_1" is "1.0rc1".
    [[nodiscard]] std::string normal() const;
    // a, b, rc or dev.
    [[nodiscard]] bool is_prerelease() const { return !m_pre_letter.empty() || m_dev.has_value(); }
    [[nodiscard]] bool is_dev() const { return m_dev.has_value(); }
    [[nodiscard]] bool is_postrelease() const { return m_post.has_value(); }
    [[nodiscard]] bool has_local() const { return !m_local.empty(); }
    // How many numbers the release has: 2 in 1.0rc1.
    [[nodiscard]] std::size_t release_size() const { return m_release.size(); }
    // Same epoch, and the release begins with the first `count` numbers of the other's; missing
    // ones count as 0.
    [[nodiscard]] bool release_starts_with(const Pep440Version& prefix, std::size_t count) const;
    // A post-release of just that: 1.0rc1.post2 of 1.0rc1.
    [[nodiscard]] bool is_post_of(const Pep440Version& other) const;
    // The lowest there is before it: 1.0.dev0 of 1.0, itself of a pre-release.
    [[nodiscard]] Pep440Version first_prerelease() const;
    // The order with local parts left out.
    [[nodiscard]] std::strong_ordering compare_public(const Pep440Version& other) const;

    friend std::strong_ordering operator<=>(const Pep440Version& a, const Pep440Version& b);
    friend bool operator==(const Pep440Version& a, const Pep440Version& b) {
        return (a <=> b) == std::strong_ordering::equal;
    }

private:
    friend class Pep440Parser;
    // Of any size, without leading zeros.
    using Digits = std::string;

    [[nodiscard]] int pre_rank() const;

    std::string m_text;
    Digits m_epoch = "0";
    std::vector<Digits> m_release;
    std::string m_pre_letter; // "a", "b", "rc" or empty
    Digits m_pre;
    std::optional<Digits> m_post;
    std::optional<Digits> m_dev;
    std::vector<std::string> m_local; // lower case; what is all digits is a number
};

// One clause: ">=1.2", "==1.4.*", "~=2.1".
class Specifier {
public:
    enum class Operator {
        Equal,
        NotEqual,
        LessEqual,
        GreaterEqual,
        Less,
        Greater,
        Compatible,
        Identical
    };

    // Error: "bad-requirement", column relative to `text`.
    static Result<Specifier> parse(std::string_view text);

    [[nodiscard]] Operator relation() const { return m_operator; }
    // The version as written, ".*" included.
    [[nodiscard]] const std::string& version() const { return m_version; }
    [[nodiscard]] std::string str() const;
    // Without regard to whether pre-releases are wanted. `version` is null for a text that is not a version.
    [[nodiscard]] bool contains(std::string_view text, const Pep440Version* version) const;
    // True where a pre-release is named, which asks for pre-releases ("!=" does not).
    [[nodiscard]] bool names_prerelease() const;

private:
    Operator m_operator = Operator::Equal;
    std::string m_version;
    bool m_prefix = false; // ".*"
    bool m_names_prerelease = false;
    bool m_dev_or_post = false;
    // None for ===; for "<" its first pre-release.
    std::optional<Pep440Version> m_parsed;
};

enum class Prereleases { Allowed, Refused, IfNamed };

// Clauses joined by commas; all must hold. Empty: every version.
class SpecifierSet {
public:
    // Error: "bad-requirement", column relative to `text`.
    static Result<SpecifierSet> parse(std::string_view text);

    [[nodiscard]] const std::vector<Specifier>& clauses() const { return m_clauses; }
    [[nodiscard]] std::string str() const;
    [[nodiscard]] bool names_prerelease() const;
    [[nodiscard]] bool contains(std::string_view version,
                                Prereleases prereleases = Prereleases::IfNamed) const;

private:
    std::vector<Specifier> m_clauses;
};

} // namespace cudaenv::specs
