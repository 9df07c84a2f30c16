#include "solver/specs/pattern.hpp"

namespace cudaenv::specs {

bool glob_matches(std::string_view glob, std::string_view text) {
    // A final newline is looked over, as `$` does.
    if (!text.empty() && text.back() == '\n' &&
        glob_matches(glob, text.substr(0, text.size() - 1))) {
        return true;
    }
    std::size_t g = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos; // the last star passed, and where its text ends
    std::size_t resume = 0;
    while (t < text.size()) {
        if (g < glob.size() && glob[g] == '*') {
            star = g++;
            resume = t;
        } else if (g < glob.size() && glob[g] == text[t]) {
            ++g;
            ++t;
        } else if (star != std::string_view::npos && text[resume] != '\n') {
            g = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (g < glob.size() && glob[g] == '*') {
        ++g;
    }
    return g == glob.size();
}

// Follows every alternative at once (a set of program positions per text position), so the cost is
// program length times text length.
class RegexRun {
public:
    RegexRun(const Regex& regex, std::string_view text) : m_regex(regex), m_text(text) {}

    // Does the program from `start` match from `at`? `must_end`: exactly up to there, or npos.
    bool run(std::uint32_t start, std::size_t at, std::size_t must_end) {
        std::vector<std::uint32_t> now;
        std::vector<std::uint32_t> next;
        std::vector<std::size_t> seen(m_regex.m_program.size(), std::string_view::npos);
        if (add(now, seen, start, at, must_end)) {
            return true;
        }
        for (; at < m_text.size() && !now.empty(); ++at) {
            next.clear();
            const auto byte = static_cast<unsigned char>(m_text[at]);
            for (const std::uint32_t pc : now) {
                if (++m_steps > k_most_steps) {
                    return false;
                }
                const Regex::Instruction& instruction = m_regex.m_program[pc];
                const bool taken = instruction.op == Regex::Op::Byte ? instruction.byte == byte
                                   : instruction.op == Regex::Op::Any
                                       ? byte != '\n'
                                       : m_regex.m_sets[instruction.x][byte];
                if (taken && add(next, seen, pc + 1, at + 1, must_end)) {
                    return true;
                }
            }
            std::swap(now, next);
        }
        return false;
    }
    [[nodiscard]] bool gave_up() const { return m_steps > k_most_steps; }

private:
    static constexpr std::size_t k_most_steps = 20'000'000;
    static constexpr int k_deepest_look = 16;

    static bool is_word(char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '_';
    }

    // Adds `start` and all that follows from it without reading a byte; true at Accept.
    bool add(std::vector<std::uint32_t>& list, std::vector<std::size_t>& seen, std::uint32_t start,
             std::size_t at, std::size_t must_end) {
        std::vector<std::uint32_t> open{start};
        while (!open.empty()) {
            const std::uint32_t pc = open.back();
            open.pop_back();
            if (seen[pc] == at) {
                continue;
            }
            seen[pc] = at;
            if (++m_steps > k_most_steps) {
                return false;
            }
            const Regex::Instruction& instruction = m_regex.m_program[pc];
            const bool left = at > 0 && is_word(m_text[at - 1]);
            const bool right = at < m_text.size() && is_word(m_text[at]);
            switch (instruction.op) {
            case Regex::Op::Accept:
                if (must_end == std::string_view::npos || must_end == at) {
                    return true;
                }
                break;
            case Regex::Op::Split:
                open.push_back(instruction.y);
                open.push_back(instruction.x);
                break;
            case Regex::Op::Jump:
                open.push_back(instruction.x);
                break;
            case Regex::Op::Begin:
                follow_if(open, pc, at == 0);
                break;
            case Regex::Op::End:
                follow_if(open, pc,
                          at == m_text.size() || (at + 1 == m_text.size() && m_text[at] == '\n'));
                break;
            case Regex::Op::VeryEnd:
                follow_if(open, pc, at == m_text.size());
                break;
            case Regex::Op::Boundary:
                follow_if(open, pc, left != right);
                break;
            case Regex::Op::NotBoundary:
                // Python up to 3.13 finds no place at all in an empty text.
                follow_if(open, pc, left == right && !m_text.empty());
                break;
            case Regex::Op::Look:
                if (look(instruction, pc, at) != instruction.negated) {
                    open.push_back(instruction.x);
                }
                break;
            default:
                list.push_back(pc);
            }
        }
        return false;
    }
    static void follow_if(std::vector<std::uint32_t>& open, std::uint32_t pc, bool holds) {
        if (holds) {
            open.push_back(pc + 1);
        }
    }
    bool look(const Regex::Instruction& instruction, std::uint32_t pc, std::size_t at) {
        if (m_depth >= k_deepest_look) {
            m_steps = k_most_steps + 1;
            return false;
        }
        ++m_depth;
        bool found = false;
        if (instruction.behind < 0) {
            found = run(pc + 1, at, std::string_view::npos);
        } else if (static_cast<std::size_t>(instruction.behind) <= at) {
            found = run(pc + 1, at - static_cast<std::size_t>(instruction.behind), at);
        }
        --m_depth;
        return found;
    }

    const Regex& m_regex;
    std::string_view m_text;
    std::size_t m_steps = 0;
    int m_depth = 0;
};

bool Regex::matches(std::string_view text) const {
    RegexRun run(*this, text);
    return run.run(0, 0, std::string_view::npos) && !run.gave_up();
}

} // namespace cudaenv::specs
