// Bytes of unknown origin made fit for one line of a message. Pure.
//
// Law: the result is valid UTF-8 without control characters, and without those that turn the
// direction of text or end a line unseen (Unicode's Bidi_Control, U+2028 and U+2029), so it can
// stand in a terminal line and in JSON. A file name that is already so comes back unchanged.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace cudaenv {

// Control characters become \n, \t or \xNN, bytes that are not UTF-8 \xNN.
std::string printable(std::string_view bytes);
// The text of a JSON document with these characters as \uNNNN. Its line ends stay.
std::string printable_json(std::string_view json);
// The same in double quotes, cut after `most` bytes with "..." so that a message stays one line.
std::string quoted(std::string_view bytes, std::size_t most = 80);

// "/p/cudaenv.toml line 2: unknown pin "cudaa"; did you mean "cuda"?", for a line at a prompt.
std::string one_line(const Error& error);

} // namespace cudaenv
