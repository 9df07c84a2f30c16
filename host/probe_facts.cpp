#include "host/probe_facts.hpp"

#include "base/json_members.hpp"

#include <nlohmann/json.hpp>

namespace cudaenv::host {

namespace {

using nlohmann::json;

std::optional<DottedVersion> version_of(const json& object, const char* key,
                                        std::vector<std::string>& errors) {
    const auto text = text_at(object, key);
    if (text.empty()) {
        return std::nullopt;
    }
    auto version = DottedVersion::parse(text);
    // A parameter that the driver never wrote reads as zero: no version.
    if (!version || version->major() == 0) {
        errors.push_back(std::string(key) + ": \"" + text + "\" is not plausible");
        return std::nullopt;
    }
    return std::move(*version);
}

facts::Gpu gpu_of(const json& object, int index, std::vector<std::string>& errors) {
    facts::Gpu gpu;
    gpu.source = "NVML";
    gpu.index = number_within(object, "index", 0, 1023).value_or(index);
    gpu.name = text_at(object, "name");
    gpu.uuid = text_at(object, "uuid");
    gpu.pci_device = text_at(object, "pci_device_id");
    if (const auto text = text_at(object, "cc"); !text.empty()) {
        const auto capability = ComputeCapability::parse(text);
        if (capability && capability->major > 0) {
            gpu.compute_capability = *capability;
        } else {
            errors.push_back("cc: \"" + text + "\" is not plausible");
        }
    }
    gpu.memory_bytes = number_within(object, "memory", std::uint64_t{0}, UINT64_MAX);
    gpu.mig = flag_at(object, "mig");
    return gpu;
}

} // namespace

Result<ProbeFacts> parse_probe_facts(std::string_view line) {
    const auto document = json::parse(line, nullptr, false);
    if (!document.is_object()) {
        return unavailable("bad-probe-answer", "the probe's answer is not a JSON object");
    }
    ProbeFacts facts;
    facts.errors = texts_at(document, "errors");
    facts.driver_version = version_of(document, "driver_version", facts.errors);
    facts.cuda = version_of(document, "cuda_driver_version", facts.errors);
    for (const auto& gpu : list_at(document, "gpus")) {
        if (gpu.is_object()) {
            facts.gpus.push_back(gpu_of(gpu, static_cast<int>(facts.gpus.size()), facts.errors));
        }
    }
    return facts;
}

} // namespace cudaenv::host
