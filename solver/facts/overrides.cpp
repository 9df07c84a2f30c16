#include "solver/facts/overrides.hpp"

namespace cudaenv::facts {

namespace {

constexpr const char* k_none = "none";

tl::unexpected<Error> in_option(Error error, const char* option) {
    error.path = option;
    return tl::unexpected(std::move(error));
}

// "8.6", "sm_86", "compute_120": in the compilers' spelling the last digit is the minor.
Result<ComputeCapability> parse_capability(std::string_view text) {
    for (const std::string_view prefix : {"sm_", "compute_"}) {
        if (text.starts_with(prefix) && text.size() > prefix.size() + 1) {
            const auto digits = text.substr(prefix.size());
            const auto major = digits.substr(0, digits.size() - 1);
            if (auto parsed = ComputeCapability::parse(std::string(major) + '.' + digits.back())) {
                return parsed;
            }
        }
    }
    return ComputeCapability::parse(text);
}

} // namespace

Result<Host> with_overrides(Host host, const std::optional<std::string>& driver,
                            const std::vector<std::string>& gpus,
                            const CudaOfDriver& cuda_of_driver) {
    if (driver && *driver == k_none) {
        host.driver = std::nullopt;
        host.driver_absent = "--driver none";
    } else if (driver) {
        auto version = DottedVersion::parse(*driver);
        if (!version) {
            return in_option(std::move(version).error(), "--driver");
        }
        Driver assumed;
        assumed.cuda = cuda_of_driver(*version);
        assumed.version = std::move(*version);
        assumed.derived = true;
        assumed.source = "--driver";
        host.driver = std::move(assumed);
        host.driver_absent.clear();
        if (host.gpus.empty()) {
            host.gpus_absent.clear(); // another machine is meant, and its GPUs were not given
        }
    }
    if (driver || !gpus.empty()) {
        host.measured.reset(); // of another machine than the one that is meant
    }
    if (gpus.empty()) {
        return host;
    }
    host.gpus.clear();
    host.gpus_absent.clear();
    if (gpus.size() == 1 && gpus.front() == k_none) {
        host.gpus_absent = "--gpu none";
        return host;
    }
    for (const auto& text : gpus) {
        auto capability = parse_capability(text);
        if (!capability) {
            return in_option(std::move(capability).error(), "--gpu");
        }
        Gpu gpu;
        gpu.index = static_cast<int>(host.gpus.size());
        gpu.compute_capability = *capability;
        gpu.source = "--gpu";
        host.gpus.push_back(std::move(gpu));
    }
    return host;
}

} // namespace cudaenv::facts
