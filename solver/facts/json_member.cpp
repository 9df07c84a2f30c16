#include "solver/facts/json_member.hpp"

namespace cudaenv::facts {

std::string pointer_of(const std::vector<std::string>& steps) {
    std::string pointer;
    for (const auto& step : steps) {
        pointer += '/';
        for (const char c : step) {
            pointer += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
        }
    }
    return pointer.empty() ? "the whole document" : pointer;
}

std::string described(const json& value) {
    if (value.is_object()) {
        return "an object";
    }
    if (value.is_array()) {
        return "an array";
    }
    // At most this many bytes of a wrong value are quoted.
    constexpr std::size_t k_quoted = 40;
    // Invalid UTF-8 cannot get here: the parser refuses it.
    std::string text = value.dump(-1, ' ', true);
    if (text.size() > k_quoted) {
        text = text.substr(0, k_quoted) + "...";
    }
    return text;
}

} // namespace cudaenv::facts
