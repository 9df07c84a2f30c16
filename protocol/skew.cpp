#include "protocol/skew.hpp"

#include "base/dotted_version.hpp"
#include "protocol/build_id.hpp"

#include <string_view>

namespace cudaenv::protocol {

namespace {

std::string_view version_of(std::string_view build) {
    return build.substr(0, build.find('+'));
}

} // namespace

Skew skew_of(const Hello& other, const Hello& mine) {
    const auto order = [](const auto& theirs, const auto& ours) {
        return theirs < ours ? Skew::Older : Skew::Newer;
    };
    if (other.protocol != mine.protocol) {
        return order(other.protocol, mine.protocol);
    }
    if (other.build == mine.build) {
        return Skew::Same;
    }
    if (other.built != 0 && mine.built != 0 && other.built != mine.built) {
        return order(other.built, mine.built);
    }
    const auto theirs = DottedVersion::parse(version_of(other.build));
    const auto ours = DottedVersion::parse(version_of(mine.build));
    if (theirs && ours && *theirs != *ours) {
        return order(*theirs, *ours);
    }
    return Skew::Unknown;
}

Hello own_hello() {
    return {k_protocol_number, std::string(build_id()), {}, built(), false, {}};
}

} // namespace cudaenv::protocol
