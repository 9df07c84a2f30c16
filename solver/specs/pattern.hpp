// Text patterns as MatchSpecs have them: globs ("py3*_0") and regular expressions ("^1\.[0-9]+$").
// Pure.
//
// Law: a match costs time linear in the text whatever the pattern: RE2 runs the expressions. Their
// language is Python's without look-around, back-references, possessive repeats, atomic groups,
// conditionals and inline flags, which `Regex` refuses.
#pragma once

#include "base/result.hpp"

#include <memory>
#include <string_view>

namespace re2 {
class RE2;
}

namespace cudaenv::specs {

// `*` stands for any text without a newline.
[[nodiscard]] bool glob_matches(std::string_view glob, std::string_view text);

class Regex {
public:
    // Error: "bad-regex", column set.
    static Result<Regex> compile(std::string_view expression);
    // True when the expression matches from the text's beginning; it need not reach the end unless
    // it says `$`.
    [[nodiscard]] bool matches(std::string_view text) const;

private:
    explicit Regex(std::shared_ptr<const re2::RE2> compiled) : m_compiled(std::move(compiled)) {}

    std::shared_ptr<const re2::RE2> m_compiled; // immutable: copies share it
};

} // namespace cudaenv::specs
