// A version as conda orders it. Pure.
//
// Law: `compare` gives conda's answer for every pair that conda accepts, and `parse` refuses what
// conda refuses (judged against answers of conda 26.7 itself).
//
// "1.2.3+cu113" is epoch 0, release [1][2][3], local [0 "cu" 113]; literals below numbers below "post",
// "dev" lowest.
#pragma once

#include "base/result.hpp"

#include <compare>
#include <string>
#include <string_view>

namespace cudaenv::specs {

class Version {
public:
    // Error: "bad-version".
    static Result<Version> parse(std::string_view text);

    [[nodiscard]] const std::string& str() const { return m_text; }
    friend std::strong_ordering operator<=>(const Version& a, const Version& b);
    friend bool operator==(const Version& a, const Version& b) {
        return (a <=> b) == std::strong_ordering::equal;
    }

private:
    std::string m_text;
};

} // namespace cudaenv::specs
