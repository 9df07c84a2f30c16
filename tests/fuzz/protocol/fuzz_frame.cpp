// Any bytes as a connection's input, cut at any place: lines come whole and once, a request is read
// or refused, and what was read can be written and read again.
#include "protocol/frame.hpp"
#include "protocol/message.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

using namespace cudaenv::protocol;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

std::vector<std::string> lines_of(std::string_view text, std::size_t step) {
    LineReader reader;
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size(); at += step) {
        if (!reader.feed(text.substr(at, step))) {
            break;
        }
        while (auto line = reader.next()) {
            lines.push_back(*std::move(line));
        }
    }
    return lines;
}

void check_line(const std::string& line) {
    static_cast<void>(decode_response(line));
    static_cast<void>(decode_response(line, line));
    static_cast<void>(decode_part(line));
    if (const auto progress = decode_progress(line)) {
        const std::string written = encode_progress(*progress);
        const auto again = decode_progress(written.substr(0, written.size() - 1));
        require(again && again->step == progress->step && again->gpu == progress->gpu);
    }
    const auto request = decode_request(line);
    if (!request) {
        require(!request.error().error.message.empty());
        require(encode_refusal(request.error()).has_value());
        return;
    }
    const auto written = encode_request(*request);
    if (!written) {
        return; // bytes that are no UTF-8 grow when they are replaced
    }
    const auto again = decode_request(written->substr(0, written->size() - 1));
    require(again.has_value() && again->id == request->id);
    require(encode_request(*again) == *written);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    // The fuzzer's bytes are text here; the first says how it is cut.
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const std::vector<std::string> lines = lines_of(text, 1 + data[0] % 31);
    require(lines == lines_of(text, std::max<std::size_t>(text.size(), 1)));
    for (const std::string& line : lines) {
        check_line(line);
    }
    return 0;
}
