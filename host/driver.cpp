#include "host/driver.hpp"

#include "base/ascii.hpp"
#include "host/driver_text.hpp"
#include "host/gpus.hpp"
#include "host/probe_facts.hpp"
#include "solver/knowledge/knowledge.hpp"

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

} // namespace cudaenv::host
