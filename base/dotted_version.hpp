// A version made of numbers and dots: CUDA, driver, gcc, glibc, cuDNN. Conda's and Python's richer
// versions are `specs::Version` and `specs::Pep440Version`.
#pragma once

#include "base/result.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv {

class DottedVersion {
public:
    DottedVersion() = default;

    // Digits and dots, as in 11.3 or 450.80.02; at most 8 parts below 2^32. Error: "bad-version".
    static Result<DottedVersion> parse(std::string_view text);
    // For literals and rows known to be right; asserts.
    static DottedVersion of(std::string_view text);

    [[nodiscard]] const std::vector<std::uint32_t>& parts() const { return m_parts; }
    // The text as it was read: 450.80.02 keeps its zero.
    [[nodiscard]] const std::string& str() const { return m_text; }
    [[nodiscard]] bool empty() const { return m_parts.empty(); }
    // Part `i`, 0 where there is none.
    [[nodiscard]] std::uint32_t part(std::size_t i) const {
        return i < m_parts.size() ? m_parts[i] : 0;
    }
    [[nodiscard]] std::uint32_t major() const { return part(0); }
    [[nodiscard]] std::uint32_t minor() const { return part(1); }
    // "11.3" of 11.3.109; the whole text where there are fewer than two parts.
    [[nodiscard]] std::string major_minor() const;
    // True when this begins with all of `prefix`'s parts: 11.3.109 begins with 11.3, not
    // with 11.30.
    [[nodiscard]] bool begins_with(const DottedVersion& prefix) const;

    // Missing parts count as 0, so 11.0 equals 11.
    friend std::strong_ordering operator<=>(const DottedVersion& a, const DottedVersion& b);
    friend bool operator==(const DottedVersion& a, const DottedVersion& b) {
        return (a <=> b) == std::strong_ordering::equal;
    }

private:
    std::vector<std::uint32_t> m_parts;
    std::string m_text;
};

} // namespace cudaenv
