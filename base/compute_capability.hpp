// A GPU's compute capability, as in 8.6, and the sm_86 that compilers call it.
#pragma once

#include "base/dotted_version.hpp"

#include <compare>
#include <string>

namespace cudaenv {

struct ComputeCapability {
    int major = 0;
    int minor = 0;

    // "8.6", "12.0". Error: "bad-compute-capability".
    static Result<ComputeCapability> parse(std::string_view text) {
        auto version = DottedVersion::parse(text);
        if (!version || version->parts().size() != 2 || version->part(0) > 99 ||
            version->part(1) > 9) {
            return bad_input("bad-compute-capability",
                             '"' + std::string(text) + "\" is not a compute capability",
                             "expected MAJOR.MINOR, as in 8.6");
        }
        return ComputeCapability{static_cast<int>(version->part(0)),
                                 static_cast<int>(version->part(1))};
    }
    [[nodiscard]] std::string str() const {
        return std::to_string(major) + '.' + std::to_string(minor);
    }
    [[nodiscard]] std::string sm() const {
        return "sm_" + std::to_string(major) + std::to_string(minor);
    }
    friend auto operator<=>(const ComputeCapability&, const ComputeCapability&) = default;
};

} // namespace cudaenv
