#include "base/dotted_version.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>

namespace cudaenv {

namespace {
constexpr std::size_t k_most_parts = 8;
} // namespace

Result<DottedVersion> DottedVersion::parse(std::string_view text) {
    const auto fail = [&] {
        return bad_input("bad-version", '"' + std::string(text) + "\" is not a version",
                         "expected digits and dots, as in 11.3");
    };
    DottedVersion version;
    std::size_t at = 0;
    while (true) {
        const std::size_t end = std::min(text.find('.', at), text.size());
        std::uint32_t part = 0;
        const auto [stop, problem] = std::from_chars(text.data() + at, text.data() + end, part);
        if (problem != std::errc() || stop != text.data() + end || end == at ||
            version.m_parts.size() == k_most_parts) {
            return fail();
        }
        version.m_parts.push_back(part);
        if (end == text.size()) {
            break;
        }
        at = end + 1;
    }
    version.m_text = text;
    return version;
}

DottedVersion DottedVersion::of(std::string_view text) {
    auto version = parse(text);
    assert(version.has_value());
    return version.has_value() ? *std::move(version) : DottedVersion();
}

std::string DottedVersion::major_minor() const {
    if (m_parts.size() < 2) {
        return m_text;
    }
    return std::to_string(m_parts[0]) + '.' + std::to_string(m_parts[1]);
}

bool DottedVersion::begins_with(const DottedVersion& prefix) const {
    return prefix.m_parts.size() <= m_parts.size() &&
           std::equal(prefix.m_parts.begin(), prefix.m_parts.end(), m_parts.begin());
}

std::strong_ordering operator<=>(const DottedVersion& a, const DottedVersion& b) {
    for (std::size_t i = 0; i < std::max(a.m_parts.size(), b.m_parts.size()); ++i) {
        if (const auto order = a.part(i) <=> b.part(i); order != std::strong_ordering::equal) {
            return order;
        }
    }
    return std::strong_ordering::equal;
}

} // namespace cudaenv
