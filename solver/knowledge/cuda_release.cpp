#include "solver/knowledge/cuda_release.hpp"

#include "solver/knowledge/knowledge.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace cudaenv::knowledge {

CudaRelease cuda_release(const DottedVersion& version) {
    using Exists = CudaRelease::Exists;
    constexpr std::uint32_t k_most_minors = 9;
    const auto releases = cuda_releases();
    const auto wanted = DottedVersion::of(version.major_minor());
    const auto distance = [](std::uint32_t a, std::uint32_t b) { return a < b ? b - a : a - b; };
    const auto farness = [&](const DottedVersion& release) {
        const auto majors = distance(release.major(), wanted.major());
        // Of another major its newest.
        return std::pair(majors, majors == 0 ? distance(release.minor(), wanted.minor())
                                             : UINT32_MAX - release.minor());
    };
    const DottedVersion& nearest = *std::ranges::min_element(releases, {}, farness);
    const bool exists =
        wanted.parts().size() < 2 ? nearest.major() == wanted.major() : nearest == wanted;
    if (exists) {
        return {Exists::Yes, nearest};
    }
    const bool may_be_new = wanted > releases.back() &&
                            wanted.major() <= releases.back().major() + 1 &&
                            wanted.minor() <= k_most_minors;
    const bool is_older = wanted.major() > 0 && wanted < releases.front();
    return {is_older || may_be_new ? Exists::Unknown : Exists::No, nearest};
}

std::string no_such_cuda(const DottedVersion& version, const DottedVersion& nearest) {
    return "There is no CUDA " + version.major_minor() + ". The nearest is " + nearest.str() + '.';
}

} // namespace cudaenv::knowledge
