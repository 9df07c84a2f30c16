// Percent escapes of URLs (RFC 3986): %20 is a blank.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cudaenv {

// Each escape as its byte; what is not one, as in "100%", stays as it is.
std::string percent_decode(std::string_view text);
// Where the first % is that begins no escape, or one of the byte 0; npos: nowhere.
std::size_t percent_fault(std::string_view text);
// All but ASCII letters, digits and the characters of `plain` escaped.
std::string percent_encode(std::string_view bytes, std::string_view plain);
// What percent_encode was given, without a byte 0; none where `text` is not what it writes.
std::optional<std::string> percent_restore(std::string_view text, std::string_view plain);

} // namespace cudaenv
