#include "host/driver_text.hpp"

#include "base/text.hpp"

namespace cudaenv::host {

namespace {

std::string_view word_at(std::string_view text) {
    text = text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
    return text.substr(0, text.find_first_of(" \t\r\n|"));
}

// A driver's version has two parts at least, the first the branch: 470.199.02, 36.4.
std::optional<DottedVersion> driver_version(std::string_view word) {
    auto version = DottedVersion::parse(word);
    if (!version || version->parts().size() < 2) {
        return std::nullopt;
    }
    return std::move(*version);
}

// The version behind the first `label` of the text that is followed by one.
std::optional<DottedVersion> version_behind(std::string_view text, std::string_view label) {
    for (auto at = text.find(label); at != std::string_view::npos; at = text.find(label, at + 1)) {
        auto version = DottedVersion::parse(word_at(text.substr(at + label.size())));
        if (version) {
            return std::move(*version);
        }
    }
    return std::nullopt;
}

} // namespace

KernelModule parse_proc_version(std::string_view text) {
    KernelModule module;
    for (const auto line : split(text, '\n')) {
        if (!line.starts_with("NVRM version:")) {
            continue;
        }
        // "NVIDIA UNIX x86_64 Kernel Module  470.199.02  Thu May 11 ..."
        // "NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build ..."
        module.kind = line.find("Open Kernel Module") != std::string_view::npos
                          ? facts::DriverKind::Open
                          : facts::DriverKind::Proprietary;
        const auto at = line.find("Kernel Module");
        if (at == std::string_view::npos) {
            module.kind = std::nullopt;
            return module;
        }
        for (const auto word : split(line.substr(at), ' ')) {
            if (auto version = driver_version(word)) {
                module.version = std::move(version);
                break;
            }
        }
        return module;
    }
    return module;
}

std::optional<DottedVersion> parse_module_version(std::string_view text) {
    return driver_version(trim(text));
}

GpuInformation parse_gpu_information(std::string_view text) {
    GpuInformation information;
    for (const auto line : split(text, '\n')) {
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) {
            continue;
        }
        const auto label = trim(line.substr(0, colon));
        const auto value = std::string(trim(line.substr(colon + 1)));
        if (label == "Model") {
            information.model = value == "Unknown" ? "" : value;
        } else if (label == "GPU UUID") {
            // Users without rights on the device read GPU-????????-????-....
            information.uuid = value.find('?') == std::string::npos ? value : "";
        } else if (label == "Bus Location") {
            information.bus_location = value;
        }
    }
    return information;
}

SmiHeader parse_nvidia_smi(std::string_view text) {
    SmiHeader header;
    for (const auto* label : {"KMD Version:", "Driver Version:"}) {
        if (!header.driver) {
            header.driver = version_behind(text, label);
        }
    }
    // "CUDA Version: 11.4", "CUDA UMD Version: 13.3"; some 610 and 615 outputs mix the two
    // wordings.
    for (const auto* label : {"CUDA Version:", "CUDA UMD Version:", "CUDA KMD Version:"}) {
        if (!header.cuda) {
            header.cuda = version_behind(text, label);
        }
    }
    return header;
}

} // namespace cudaenv::host
