#include "solver/facts/json_fields.hpp"

#include "solver/facts/json_place.hpp"

namespace cudaenv::facts {

namespace {

// "/driver/cuda", as RFC 6901 writes it.
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

// The value in a few words.
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

} // namespace

void Reader::fail(const std::vector<std::string>& steps, const std::string& problem,
                  const std::string& expected) {
    if (m_error) {
        return;
    }
    const auto place = place_of_offset(m_text, offset_of_value(m_text, steps));
    m_error = Error{ErrorKind::BadInput,
                    "bad-facts",
                    pointer_of(steps) + ": " + problem,
                    std::string(m_path),
                    place.line,
                    place.column,
                    expected};
}

std::vector<std::string> At::steps() const {
    std::vector<std::string> way;
    if (above != nullptr) {
        way = above->steps();
        way.push_back(step);
    }
    return way;
}

void At::wrong(const std::string& expected) const {
    reader.fail(steps(), "is " + described(value), expected);
}

} // namespace cudaenv::facts
