// The framing: one JSON text a line, at most 1 MiB with its newline. Pure: bytes in, lines out.
//
// Law: whatever the bytes and however they are cut, a LineReader gives every whole line once and in
// order, and holds at most k_most_frame_bytes of a line that has not ended.
#pragma once

#include "base/result.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::protocol {

constexpr std::size_t k_most_frame_bytes = std::size_t{1} << 20; // newline included
// Arrays and objects inside one another; deeper texts are refused before they are parsed, because
// writing a value out again recurses.
constexpr std::size_t k_most_nesting = 64;

class LineReader {
public:
    // Error: "frame-too-long" once a line has outgrown the limit; the reader gives nothing after
    // it.
    Result<void> feed(std::string_view bytes);
    // The next whole line without its newline; none until more is fed. Empty lines are skipped.
    std::optional<std::string> next();
    // Whether `next` would give one.
    [[nodiscard]] bool has_line() const {
        return m_buffer.find('\n', std::max(m_start, m_scanned)) != std::string::npos;
    }
    // Bytes of a line that has not ended: not 0 at the end of a stream means that it was cut.
    [[nodiscard]] std::size_t pending() const { return m_buffer.size() - m_start; }

private:
    std::string m_buffer;
    std::size_t m_start = 0;   // of the first line not given out
    std::size_t m_scanned = 0; // no newline in [m_start, m_scanned)
    bool m_broken = false;
};

// One JSON text from a line. Errors: "bad-json" with the column, "json-too-deep".
Result<nlohmann::json> parse_json(std::string_view text);

// The line for a value, newline included; bytes that are not UTF-8 become U+FFFD.
// Error: "frame-too-long".
Result<std::string> encode_frame(const nlohmann::json& value);

} // namespace cudaenv::protocol
