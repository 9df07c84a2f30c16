#include "daemon/cuda_release.hpp"

#include "solver/knowledge/cuda_release.hpp"
#include "solver/pins/pins.hpp"

#include <algorithm>

namespace cudaenv::daemon {

Result<void> check_release(const std::string& constraint,
                           const std::function<std::vector<facts::Toolkit>()>& toolkits) {
    const auto wanted = pins::PinConstraint::parse(constraint);
    const auto version = wanted ? wanted->single() : std::nullopt;
    if (!version) {
        return {};
    }
    const auto release = knowledge::cuda_release(*version);
    if (release.exists != knowledge::CudaRelease::Exists::No) {
        return {};
    }
    const auto asked = DottedVersion::of(version->major_minor());
    const auto is_it = [&](const facts::Toolkit& toolkit) {
        return toolkit.version && toolkit.version->begins_with(asked);
    };
    if (std::ranges::any_of(toolkits(), is_it)) {
        return {};
    }
    return bad_input("no-such-cuda", knowledge::no_such_cuda(*version, release.nearest));
}

} // namespace cudaenv::daemon
