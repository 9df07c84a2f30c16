#include "protocol/frame.hpp"

namespace cudaenv::protocol {

namespace {

Error too_long(ErrorKind kind) {
    return Error{kind,
                 "frame-too-long",
                 "a message is longer than " + std::to_string(k_most_frame_bytes) + " bytes",
                 {},
                 0,
                 0,
                 "ask for less at once"};
}

// Whether no value of `text` lies inside more than `most` others; brackets in strings do not count.
bool nests_within(std::string_view text, std::size_t most) {
    std::size_t depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') {
                ++i;
            } else if (c == '"') {
                in_string = false;
            }
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > most) {
                return false;
            }
        } else if ((c == ']' || c == '}') && depth > 0) {
            --depth;
        }
    }
    return true;
}

} // namespace

Result<void> LineReader::feed(std::string_view bytes) {
    if (m_broken) {
        return tl::unexpected(too_long(ErrorKind::BadInput));
    }
    if (m_start > 0) {
        m_buffer.erase(0, m_start);
        m_scanned -= m_start;
        m_start = 0;
    }
    m_buffer.append(bytes);
    // Every line that has ended is within the limit, and so is the one that has not.
    std::size_t line = 0;
    while (true) {
        const std::size_t end = m_buffer.find('\n', std::max(line, m_scanned));
        const std::size_t size =
            end == std::string::npos ? m_buffer.size() - line + 1 : end - line + 1;
        if (size > k_most_frame_bytes) {
            m_broken = true;
            m_buffer.resize(line);
            return tl::unexpected(too_long(ErrorKind::BadInput));
        }
        if (end == std::string::npos) {
            return {};
        }
        line = end + 1;
    }
}

std::optional<std::string> LineReader::next() {
    while (true) {
        const std::size_t end = m_buffer.find('\n', std::max(m_start, m_scanned));
        if (end == std::string::npos) {
            m_scanned = m_buffer.size();
            return std::nullopt;
        }
        std::string line = m_buffer.substr(m_start, end - m_start);
        m_start = end + 1;
        m_scanned = m_start;
        if (!line.empty() && line.back() == '\r') {
            line.pop_back();
        }
        if (!line.empty()) {
            return line;
        }
    }
}

Result<nlohmann::json> parse_json(std::string_view text) {
    if (!nests_within(text, k_most_nesting)) {
        return bad_input("json-too-deep", "the JSON text has values inside more than " +
                                              std::to_string(k_most_nesting) + " others");
    }
    try {
        return nlohmann::json::parse(text.begin(), text.end());
    } catch (const nlohmann::json::parse_error& problem) {
        Error error{ErrorKind::BadInput, "bad-json", "the text is not JSON", {}, 0, 0, {}};
        const std::size_t at = std::min(problem.byte, text.size());
        error.line = 1 + static_cast<int>(std::count(
                             text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
        const std::size_t newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
        error.column = static_cast<int>(newline == std::string_view::npos ? at : at - newline - 1);
        error.column = std::max(error.column, 1);
        return tl::unexpected(std::move(error));
    } catch (const nlohmann::json::exception& problem) { // a number out of range
        return bad_input("bad-json", std::string("the text is not JSON: ") + problem.what());
    }
}

Result<std::string> encode_frame(const nlohmann::json& value) {
    std::string line = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    line += '\n';
    if (line.size() > k_most_frame_bytes) {
        return tl::unexpected(too_long(ErrorKind::Defect));
    }
    return line;
}

} // namespace cudaenv::protocol
