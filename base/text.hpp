// Small pure functions over text that several folders need.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudaenv {

inline constexpr std::size_t k_npos = std::string_view::npos;

// Pieces between `separator`, empty ones kept; one piece for an empty text.
std::vector<std::string_view> split(std::string_view text, char separator);
// Without ASCII white space at both ends.
std::string_view trim(std::string_view text);
std::string join(std::span<const std::string> pieces, std::string_view separator);
std::string to_lower_ascii(std::string_view text);
// A path without slashes at its end; "/" stays.
std::string_view without_end_slashes(std::string_view path);
// "14.0.6" of "14.0.6-rc1" and of "14.0.6.final".
std::string_view leading_numbers(std::string_view text);
// The lines `key = value` of a text, without white space around either.
std::vector<std::pair<std::string_view, std::string_view>> assignments_in(std::string_view text);

bool contains(std::span<const std::string> list, std::string_view text);
void add_once(std::vector<std::string>& list, std::string text);

// The candidate nearest to `word` by edit distance, if it is near enough to be what was meant
// (distance at most 2 and less than half the word; a word of more than 64 bytes is not a typing
// error).
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);
// `did you mean "cuda"?`, or `otherwise` where no candidate is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates,
                         std::string otherwise = {});

// What a text from outside may be shown, logged and kept as: "***" stands for the password, token
// and query of every URL in it (`https://user:pw@host/`, conda's `/t/TOKEN/`, also without a scheme
// and with `\/` as JSON writes it), for what follows `Authorization: Bearer`, `token=` and the
// like, and for tokens of the usual services, which tell by how they begin. Redacted twice it is
// the same.
std::string redact_secrets(std::string_view text);

} // namespace cudaenv
