#include "cli/commands/marked_block.hpp"

#include <algorithm>
#include <optional>

namespace cudaenv::cli {

namespace {

// The last line of the text had no newline and got one; the block remembers that.
constexpr std::string_view k_unended = "# The line before this block had no end.\n";

struct Span {
    std::size_t begin = 0; // of the first line
    std::size_t end = 0;   // after the last line's end
};

// The line that begins at `at`, without its end; a DOS line's \r is no part of it.
std::string_view line_at(std::string_view text, std::size_t at) {
    std::string_view line = text.substr(at, text.find('\n', at) - at);
    if (line.ends_with('\r')) {
        line.remove_suffix(1);
    }
    return line;
}

std::size_t after_line(std::string_view text, std::size_t at) {
    const std::size_t end = text.find('\n', at);
    return end == std::string_view::npos ? text.size() : end + 1;
}

Result<std::optional<Span>> find_block(std::string_view text) {
    std::optional<std::size_t> begin;
    int begins_at = 0;
    int number = 0;
    for (std::size_t at = 0; at < text.size(); at = after_line(text, at)) {
        ++number;
        const std::string_view line = line_at(text, at);
        if (!begin && line == k_block_begin) {
            begin = at;
            begins_at = number;
        } else if (begin && line == k_block_end) {
            return std::optional(Span{*begin, after_line(text, at)});
        }
    }
    if (begin) {
        return tl::unexpected(Error{ErrorKind::BadInput,
                                    "broken-block",
                                    "cudaenv's block begins here, but its end is missing",
                                    {},
                                    begins_at,
                                    1,
                                    "expected a line `" + std::string(k_block_end) + "` after it"});
    }
    return std::optional<Span>();
}

std::string block_of(std::string_view lines, bool unended) {
    return std::string(k_block_begin) + '\n' + (unended ? std::string(k_unended) : "") +
           std::string(lines) + std::string(k_block_end) + '\n';
}

bool is_unended(std::string_view block) {
    return block.substr(std::min(block.size(), k_block_begin.size() + 1)).starts_with(k_unended);
}

} // namespace

Result<std::string> with_block(std::string_view text, std::string_view lines) {
    CUDAENV_TRY(const auto found, find_block(text));
    if (found) {
        const bool unended = is_unended(text.substr(found->begin, found->end - found->begin));
        return std::string(text.substr(0, found->begin)) + block_of(lines, unended) +
               std::string(text.substr(found->end));
    }
    const bool unended = !text.empty() && text.back() != '\n';
    return std::string(text) + (unended ? "\n" : "") + block_of(lines, unended);
}

Result<std::string> without_block(std::string_view text) {
    CUDAENV_TRY(const auto found, find_block(text));
    if (!found) {
        return std::string(text);
    }
    std::string_view before = text.substr(0, found->begin);
    const std::string_view after = text.substr(found->end);
    // Where something was written behind the block, the line end has become its own.
    if (after.empty() && is_unended(text.substr(found->begin, found->end - found->begin)) &&
        before.ends_with('\n')) {
        before.remove_suffix(1);
    }
    return std::string(before) + std::string(after);
}

} // namespace cudaenv::cli
