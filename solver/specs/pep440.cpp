#include "solver/specs/pep440.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace cudaenv::specs {

namespace {

constexpr bool is_separator(char c) {
    return c == '.' || c == '_' || c == '-';
}

std::strong_ordering compare_digits(std::string_view a, std::string_view b) {
    return a.size() != b.size() ? a.size() <=> b.size() : a.compare(b) <=> 0;
}

std::string without_leading_zeros(std::string_view digits) {
    const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size());
    return first == digits.size() ? "0" : std::string(digits.substr(first));
}

} // namespace

// Reads one version from lower-case text.
class Pep440Parser {
public:
    explicit Pep440Parser(std::string_view text) : m_text(text) {}

    bool parse(Pep440Version& version) {
        take('v');
        auto number = digits();
        if (!number) {
            return false;
        }
        if (take('!')) {
            version.m_epoch = std::move(*number);
            number = digits();
            if (!number) {
                return false;
            }
        }
        version.m_release.push_back(std::move(*number));
        while (at('.') && m_at + 1 < m_text.size() && is_digit(m_text[m_at + 1])) {
            ++m_at;
            version.m_release.push_back(*digits());
        }
        pre(version);
        post(version);
        if (!label({"dev"}).empty()) {
            version.m_dev = counter();
        }
        return local(version) && m_at == m_text.size();
    }
    [[nodiscard]] std::size_t position() const { return m_at; }

private:
    [[nodiscard]] bool at(char c) const { return m_at < m_text.size() && m_text[m_at] == c; }
    bool take(char c) {
        if (at(c)) {
            ++m_at;
            return true;
        }
        return false;
    }
    std::optional<std::string> digits() {
        const std::size_t begin = m_at;
        while (m_at < m_text.size() && is_digit(m_text[m_at])) {
            ++m_at;
        }
        if (begin == m_at) {
            return std::nullopt;
        }
        return without_leading_zeros(m_text.substr(begin, m_at - begin));
    }
    void skip_separator() {
        if (m_at < m_text.size() && is_separator(m_text[m_at])) {
            ++m_at;
        }
    }
    // One of the words, a separator before it or none; else nothing is read.
    std::string_view label(std::initializer_list<std::string_view> words) {
        const std::size_t begin = m_at;
        skip_separator();
        for (const std::string_view word : words) {
            if (m_text.substr(m_at).starts_with(word)) {
                m_at += word.size();
                return word;
            }
        }
        m_at = begin;
        return {};
    }
    std::string counter() {
        skip_separator();
        return digits().value_or("0");
    }
    void pre(Pep440Version& version) {
        const std::string_view word =
            label({"alpha", "a", "beta", "b", "preview", "pre", "c", "rc"});
        if (!word.empty()) {
            version.m_pre_letter = word[0] == 'a' ? "a" : word[0] == 'b' ? "b" : "rc";
            version.m_pre = counter();
        }
    }
    void post(Pep440Version& version) {
        if (at('-') && m_at + 1 < m_text.size() && is_digit(m_text[m_at + 1])) {
            ++m_at;
            version.m_post = digits();
        } else if (!label({"post", "rev", "r"}).empty()) {
            version.m_post = counter();
        }
    }
    bool local(Pep440Version& version) {
        if (!take('+')) {
            return true;
        }
        do {
            const std::size_t begin = m_at;
            while (m_at < m_text.size() && (is_digit(m_text[m_at]) || is_lower(m_text[m_at]))) {
                ++m_at;
            }
            const std::string_view part = m_text.substr(begin, m_at - begin);
            if (part.empty()) {
                return false;
            }
            version.m_local.push_back(std::ranges::all_of(part, is_digit)
                                          ? without_leading_zeros(part)
                                          : std::string(part));
        } while (m_at < m_text.size() && is_separator(m_text[m_at]) && ++m_at != 0);
        return true;
    }

    std::string_view m_text;
    std::size_t m_at = 0;
};

Result<Pep440Version> Pep440Version::parse(std::string_view text) {
    Pep440Version version;
    version.m_text = std::string(text);
    const std::string_view trimmed = trim(text);
    const std::string lower = to_lower_ascii(trimmed);
    Pep440Parser parser(lower);
    constexpr std::size_t k_longest = 4096;
    if (trimmed.size() > k_longest || !parser.parse(version)) {
        auto failure = bad_input(
            "bad-version", '"' + std::string(trimmed.substr(0, 80)) + "\" is not a Python version",
            "expected a version, as in 1.2.3, 2.0rc1 or 1.12.1+cu113");
        failure.value().column =
            static_cast<int>((trimmed.empty() ? 0 : trimmed.data() - text.data()) +
                             static_cast<long>(parser.position())) +
            1;
        return failure;
    }
    return version;
}

std::string Pep440Version::normal() const {
    std::string out = m_epoch == "0" ? "" : m_epoch + '!';
    out += join(m_release, ".");
    if (!m_pre_letter.empty()) {
        out += m_pre_letter + m_pre;
    }
    if (m_post) {
        out += ".post" + *m_post;
    }
    if (m_dev) {
        out += ".dev" + *m_dev;
    }
    if (!m_local.empty()) {
        out += '+' + join(m_local, ".");
    }
    return out;
}

// A lone dev release is below every pre-release; what has none of them is above.
int Pep440Version::pre_rank() const {
    if (m_pre_letter.empty()) {
        return m_dev && !m_post ? -1 : 3;
    }
    return m_pre_letter == "a" ? 0 : m_pre_letter == "b" ? 1 : 2;
}

bool Pep440Version::release_starts_with(const Pep440Version& prefix, std::size_t count) const {
    if (m_epoch != prefix.m_epoch) {
        return false;
    }
    const auto part = [](const Pep440Version& version, std::size_t i) {
        return i < version.m_release.size() ? std::string_view(version.m_release[i])
                                            : std::string_view("0");
    };
    for (std::size_t i = 0; i < count; ++i) {
        if (part(*this, i) != part(prefix, i)) {
            return false;
        }
    }
    return true;
}

bool Pep440Version::is_post_of(const Pep440Version& other) const {
    return m_post && m_pre_letter == other.m_pre_letter && m_pre == other.m_pre &&
           release_starts_with(other, std::max(m_release.size(), other.m_release.size()));
}

Pep440Version Pep440Version::first_prerelease() const {
    Pep440Version first = *this;
    if (!is_prerelease()) {
        first.m_dev = "0";
        first.m_local.clear();
    }
    return first;
}

std::strong_ordering Pep440Version::compare_public(const Pep440Version& other) const {
    using std::strong_ordering;
    if (const auto order = compare_digits(m_epoch, other.m_epoch);
        order != strong_ordering::equal) {
        return order;
    }
    const std::size_t parts = std::max(m_release.size(), other.m_release.size());
    for (std::size_t i = 0; i < parts; ++i) {
        const auto order =
            compare_digits(i < m_release.size() ? std::string_view(m_release[i]) : "0",
                           i < other.m_release.size() ? std::string_view(other.m_release[i]) : "0");
        if (order != strong_ordering::equal) {
            return order;
        }
    }
    if (const auto order = pre_rank() <=> other.pre_rank(); order != strong_ordering::equal) {
        return order;
    }
    if (const auto order = compare_digits(m_pre, other.m_pre); order != strong_ordering::equal) {
        return order;
    }
    // No post below any post; no dev above any dev.
    if (m_post.has_value() != other.m_post.has_value()) {
        return m_post ? strong_ordering::greater : strong_ordering::less;
    }
    if (m_post) {
        if (const auto order = compare_digits(*m_post, *other.m_post);
            order != strong_ordering::equal) {
            return order;
        }
    }
    if (m_dev.has_value() != other.m_dev.has_value()) {
        return m_dev ? strong_ordering::less : strong_ordering::greater;
    }
    return m_dev ? compare_digits(*m_dev, *other.m_dev) : strong_ordering::equal;
}

std::strong_ordering operator<=>(const Pep440Version& a, const Pep440Version& b) {
    if (const auto order = a.compare_public(b); order != std::strong_ordering::equal) {
        return order;
    }
    for (std::size_t i = 0; i < std::min(a.m_local.size(), b.m_local.size()); ++i) {
        const std::string& x = a.m_local[i];
        const std::string& y = b.m_local[i];
        const bool x_number = std::ranges::all_of(x, is_digit);
        const bool y_number = std::ranges::all_of(y, is_digit);
        if (x_number != y_number) {
            return x_number ? std::strong_ordering::greater : std::strong_ordering::less;
        }
        const auto order = x_number ? compare_digits(x, y) : x.compare(y) <=> 0;
        if (order != std::strong_ordering::equal) {
            return order;
        }
    }
    return a.m_local.size() <=> b.m_local.size();
}

} // namespace cudaenv::specs
