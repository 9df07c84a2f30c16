// Text patterns as MatchSpecs have them: globs ("py3*_0") and regular expressions ("^1\.[0-9]+$").
// Pure.
//
// Law: a match costs a bounded number of steps whatever the pattern and the text: globs are matched
// in place, expressions by following all alternatives at once, never by backtracking. The
// expression language is Python's without back-references, atomic groups, conditionals and inline
// flags, which `regex` refuses. Matching is on bytes.
#pragma once

#include "base/result.hpp"

#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::specs {

// `*` stands for any text without a newline.
[[nodiscard]] bool glob_matches(std::string_view glob, std::string_view text);

class Regex {
public:
    // Error: "bad-regex", column set.
    static Result<Regex> compile(std::string_view expression);
    // True when the expression matches from the text's beginning; it need not reach the end unless
    // it says `$`. False also for a match that would cost too much (hostile input only).
    [[nodiscard]] bool matches(std::string_view text) const;

private:
    friend class RegexCompiler;
    friend class RegexRun;

    enum class Op : std::uint8_t {
        Byte,
        Any,     // all but a newline
        Set,     // m_sets[x]
        Split,   // x and y
        Jump,    // x
        Begin,   // ^ and \A
        End,     // $: at the end or before a newline that ends the text
        VeryEnd, // \Z
        Boundary,
        NotBoundary,
        Look, // a sub-program from the next instruction to its Accept; x: where it goes on
        Accept,
    };
    struct Instruction {
        Op op = Op::Accept;
        std::uint8_t byte = 0;
        bool negated = false;     // Look
        std::int32_t behind = -1; // Look: how many bytes back, -1 for ahead
        std::uint32_t x = 0;
        std::uint32_t y = 0;
    };

    std::vector<Instruction> m_program;
    std::vector<std::bitset<256>> m_sets;
};

} // namespace cudaenv::specs
