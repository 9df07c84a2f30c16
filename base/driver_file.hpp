// The driver's version, which the file of its library is called by. Pure.
#pragma once

#include "base/dotted_version.hpp"

#include <optional>
#include <string_view>

namespace cudaenv {

// libcuda.so.580.65.06 -> 580.65.06. None where the name has no such number (WSL's libcuda.so.1.1,
// a stub's libcuda.so).
inline std::optional<DottedVersion> driver_of_file(std::string_view path) {
    constexpr std::string_view k_so = ".so.";
    const auto at = path.rfind(k_so);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    auto version = DottedVersion::parse(path.substr(at + k_so.size()));
    // Drivers have been called by three digits since 2008; smaller numbers are sonames.
    const bool is_one = version && version->major() >= 100 && version->parts().size() >= 2;
    return is_one ? std::optional(*version) : std::nullopt;
}

} // namespace cudaenv
