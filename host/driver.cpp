#include "host/driver.hpp"

#include "base/ascii.hpp"
#include "base/json_members.hpp"
#include "base/text.hpp"
#include "host/gpus.hpp"
#include "solver/knowledge/knowledge.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace cudaenv::host {

namespace {

constexpr const char* k_proc_version = "/proc/driver/nvidia/version";
constexpr const char* k_module = "/sys/module/nvidia";
constexpr const char* k_tegra = "/etc/nv_tegra_release";

struct Loaded {
    KernelModule module;
    std::string source; // file that states the version
    bool any_sign = false;
};

Loaded look_at_kernel(FileSystem& files) {
    Loaded loaded;
    if (const auto text = files.read_file(k_proc_version)) {
        loaded.any_sign = true;
        loaded.module = parse_proc_version(*text);
        loaded.source = k_proc_version;
    }
    if (!loaded.module.version) {
        const auto path = std::string(k_module) + "/version";
        if (const auto text = files.read_file(path)) {
            loaded.any_sign = true;
            loaded.module.version = parse_module_version(*text);
            loaded.source = path;
        }
    }
    // WSL has neither file: its driver is Windows's, reached through /dev/dxg.
    loaded.any_sign = loaded.any_sign || has_gpu_device(files);
    return loaded;
}

std::vector<std::string> as_list(const Environment& environment) {
    std::vector<std::string> list;
    for (const auto& [name, value] : environment) {
        list.push_back(name + '=' + value);
    }
    return list;
}

struct Asked {
    std::optional<ProbeFacts> facts;
    std::string failure; // why NVML gave nothing, or not all
};

Asked ask_probe(ProcessRunner& processes, const Environment& environment,
                const DriverSearch& search) {
    if (search.probe_path.empty()) {
        return {std::nullopt, "cudaenv-probe is not installed"};
    }
    const auto outcome =
        processes.run({{search.probe_path, "--facts"}, as_list(environment)}, search.deadline);
    auto facts = parse_probe_facts(outcome.output);
    if (!facts) {
        return {std::nullopt, "cudaenv-probe: " + (outcome.failure.empty() ? facts.error().message
                                                                           : outcome.failure)};
    }
    std::string failure = join(facts->errors, "; ");
    return {std::move(*facts), std::move(failure)};
}

// The last resort, where neither NVML nor the table knows.
SmiHeader ask_nvidia_smi(FileSystem& files, ProcessRunner& processes,
                         const Environment& environment, const DriverSearch& search) {
    auto places = directories_of(value_of(environment, "PATH"));
    places.emplace_back("/usr/bin");
    places.emplace_back("/usr/lib/wsl/lib");
    for (const auto& place : places) {
        const auto path = place + "/nvidia-smi";
        const auto status = files.status(path);
        if (status && status->kind == FileKind::Regular && status->executable) {
            return parse_nvidia_smi(
                processes.run({{path}, as_list(environment)}, search.deadline).output);
        }
    }
    return {};
}

std::string with_reason(const std::string& text, const std::string& reason) {
    return reason.empty() ? text : text + " (" + reason + ')';
}

std::optional<facts::Driver> conclude(const Loaded& loaded, const Asked& asked,
                                      const std::function<SmiHeader()>& ask_smi) {
    facts::Driver driver;
    driver.kind = loaded.module.kind;
    driver.version = loaded.module.version;
    driver.source = loaded.source;
    if (asked.facts) {
        driver.cuda = asked.facts->cuda;
        if (!driver.version) {
            driver.version = asked.facts->driver_version;
        }
        if (driver.cuda || asked.facts->driver_version) {
            driver.source = "NVML";
        }
    }
    if (driver.cuda) {
        return driver;
    }
    if (driver.version) {
        if (const auto known = knowledge::cuda_of_driver(*driver.version);
            known && !known->newer_than_known) {
            driver.cuda = known->cuda;
            driver.derived = true;
            driver.source =
                with_reason(driver.source + ", CUDA from the branch table", asked.failure);
            return driver;
        }
    }
    const auto smi = ask_smi();
    if (smi.driver || smi.cuda) {
        driver.version = driver.version ? driver.version : smi.driver;
        driver.cuda = smi.cuda;
        driver.source = with_reason("nvidia-smi", asked.failure);
        return driver;
    }
    if (!driver.version) {
        return std::nullopt;
    }
    driver.source =
        with_reason(driver.source + ", whose CUDA version is in no table", asked.failure);
    return driver;
}

// "GeForce GTX 860M (sm_50) is supported by driver branches up to 580".
std::string served_by(const facts::Gpu& gpu) {
    std::string text = gpu.name.empty() ? "PCI device " + gpu.pci_device : gpu.name;
    if (!gpu.compute_capability) {
        return text + " is a GPU whose driver branch is unknown";
    }
    text += " (" + gpu.compute_capability->sm() + ") is supported by ";
    return gpu.last_driver_branch ? text + "driver branches up to " + gpu.last_driver_branch->str()
                                  : text + "every current driver branch";
}

bool is_gpu_device(std::string_view name) {
    if (name == "dxg" || name == "nvhost-gpu" || name == "nvhost-ctrl-gpu") {
        return true;
    }
    constexpr std::string_view k_begin = "nvidia";
    return name.size() > k_begin.size() && name.starts_with(k_begin) &&
           std::ranges::all_of(name.substr(k_begin.size()), is_digit);
}

// Why no program can use the GPU of the loaded module; empty where nothing stands in its way.
std::string devices_missing(FileSystem& files) {
    const bool gpu = has_gpu_device(files);
    if (gpu && (files.exists("/dev/nvidiactl") || files.exists("/dev/dxg"))) {
        return {};
    }
    return std::string("the kernel module is loaded but ") +
           (gpu ? "/dev/nvidiactl does not exist"
                : "no GPU's device file (/dev/nvidia0, /dev/nvidia1, ...) exists") +
           ": no program here can use the GPU (a container started without it, or no device nodes "
           "yet)";
}

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

bool has_gpu_device(FileSystem& files) {
    return std::ranges::any_of(files.names_in("/dev"), is_gpu_device);
}

DriverFindings find_driver(FileSystem& files, ProcessRunner& processes,
                           const Environment& environment, const DriverSearch& search) {
    DriverFindings findings;
    const auto loaded = look_at_kernel(files);
    Asked asked;
    if (loaded.any_sign) {
        asked = ask_probe(processes, environment, search);
        findings.driver = conclude(
            loaded, asked, [&] { return ask_nvidia_smi(files, processes, environment, search); });
    }
    if (asked.facts) {
        findings.gpus = asked.facts->gpus;
        for (auto& gpu : findings.gpus) {
            add_driver_branch(gpu);
        }
        if (loaded.module.version && asked.facts->driver_version &&
            *loaded.module.version != *asked.facts->driver_version) {
            findings.notes.push_back(
                "the driver's libraries are " + asked.facts->driver_version->str() +
                ", the loaded kernel module is " + loaded.module.version->str() +
                ": reboot, or load the new module");
        }
        for (const auto& error : asked.facts->errors) {
            findings.notes.push_back("NVML: " + error);
        }
    }
    bool nouveau = false;
    if (findings.gpus.empty()) {
        auto bus = find_gpus_on_bus(files);
        nouveau = bus.nouveau;
        findings.gpus = std::move(bus.gpus);
        findings.gpus_absent = std::move(bus.absent);
    }
    if (findings.driver) {
        if (auto missing = devices_missing(files); loaded.module.version && !missing.empty()) {
            findings.notes.push_back(std::move(missing));
        }
        return findings;
    }
    if (const auto tegra = files.read_file(k_tegra)) {
        // A Jetson's driver comes with its board support package and has no version of its own.
        facts::Driver driver;
        driver.source = std::string(k_tegra) + ": " +
                        std::string(trim(tegra->substr(0, tegra->find(", GCID"))));
        findings.driver = std::move(driver);
        findings.gpus_absent =
            findings.gpus.empty()
                ? "a Jetson's GPU is not on a PCI bus, and NVML does not report it"
                : "";
        return findings;
    }
    findings.driver_absent =
        loaded.any_sign
            ? with_reason("there is a driver (/dev/nvidia0, /dev/dxg or /sys/module/nvidia), but "
                          "its version is unknown",
                          asked.failure)
            : "no nvidia kernel module is loaded (no /sys/module/nvidia, no "
              "/proc/driver/nvidia/version)";
    if (nouveau) {
        findings.driver_absent += "; the GPU uses nouveau, which has no CUDA";
    }
    for (const auto& gpu : findings.gpus) {
        findings.driver_absent += "; " + served_by(gpu);
    }
    return findings;
}

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
