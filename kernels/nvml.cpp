#include "kernels/nvml.hpp"

#include "kernels/driver_api.hpp"
#include "kernels/nvml_session.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <utility>

namespace cudaenv::kernels {

namespace {

NvmlGpu ask_gpu(Questions& questions, unsigned index, NvmlDevice device) {
    NvmlGpu gpu;
    gpu.index = index;
    std::array<char, 128> text{};
    if (questions.ask("nvmlDeviceGetName", device, text.data(),
                      static_cast<unsigned>(text.size()))) {
        gpu.name = text_of(text);
    }
    text.fill('\0');
    if (questions.ask("nvmlDeviceGetUUID", device, text.data(),
                      static_cast<unsigned>(text.size()))) {
        gpu.uuid = text_of(text);
    }
    int major = 0;
    int minor = -1;
    if (questions.ask("nvmlDeviceGetCudaComputeCapability", device, &major, &minor)) {
        if (major >= 1 && major <= 99 && minor >= 0 && minor <= 9) {
            gpu.compute_capability = ComputeCapability{major, minor};
        } else {
            questions.implausible("nvmlDeviceGetCudaComputeCapability",
                                  std::to_string(major) + '.' + std::to_string(minor));
        }
    }
    NvmlPci pci{};
    constexpr unsigned k_nvidia = 0x10de;
    if (questions.ask_quietly("nvmlDeviceGetPciInfo_v3", device, &pci) &&
        (pci.device_id & 0xFFFFU) == k_nvidia) {
        gpu.pci_device = static_cast<std::uint16_t>(pci.device_id >> 16U);
    }
    NvmlMemory memory{};
    // Integrated GPUs have no memory of their own.
    if (questions.ask_quietly("nvmlDeviceGetMemoryInfo", device, &memory) && memory.total > 0) {
        gpu.memory_bytes = memory.total;
    }
    unsigned current = 0;
    unsigned pending = 0;
    gpu.mig =
        questions.ask_quietly("nvmlDeviceGetMigMode", device, &current, &pending) && current == 1;
    return gpu;
}

void ask_cuda_version(Nvml& nvml, Questions& questions, NvmlFacts& facts) {
    int number = 0;
    // Before nvmlInit, where it needs no GPU to answer; drivers before 418 have only the first
    // form.
    for (const auto* name :
         {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"}) {
        if (nvml.call(name, &number).value_or(k_uninitialized) == k_success) {
            facts.cuda = cuda_of_number(number);
            if (!facts.cuda) {
                questions.implausible(name, std::to_string(number));
            }
            return;
        }
    }
}

using nlohmann::json;

// Null where NVML does not say which processes compute: not the same as an idle GPU.
json processes_of(Nvml& nvml, NvmlDevice device) {
    json list = json::array();
    for (const bool graphics : {false, true}) {
        const auto running = running_processes(nvml, device, graphics);
        if (!running && !graphics) {
            return {};
        }
        if (!running) {
            continue;
        }
        for (const auto& process : *running) {
            json one = {{"pid", process.pid}, {"graphics", graphics}};
            if (process.memory) {
                one["memory"] = *process.memory;
            }
            list.push_back(std::move(one));
        }
    }
    return list;
}

json usage_of(Nvml& nvml, Questions& questions, unsigned index, NvmlDevice device) {
    json gpu = {{"index", index}};
    std::array<char, 128> text{};
    if (questions.ask_quietly("nvmlDeviceGetName", device, text.data(),
                              static_cast<unsigned>(text.size()))) {
        gpu["name"] = text_of(text);
    }
    text.fill('\0');
    if (questions.ask_quietly("nvmlDeviceGetUUID", device, text.data(),
                              static_cast<unsigned>(text.size()))) {
        gpu["uuid"] = text_of(text);
    }
    NvmlMemory memory{};
    if (questions.ask_quietly("nvmlDeviceGetMemoryInfo", device, &memory) && memory.total > 0 &&
        memory.used <= memory.total) {
        gpu["memory_total"] = memory.total;
        gpu["memory_used"] = memory.used;
    }
    NvmlUtilization utilization{};
    if (questions.ask_quietly("nvmlDeviceGetUtilizationRates", device, &utilization) &&
        utilization.gpu <= 100) {
        gpu["utilization"] = utilization.gpu;
    }
    unsigned temperature = 0;
    constexpr int k_of_the_gpu = 0;
    if (questions.ask_quietly("nvmlDeviceGetTemperature", device, k_of_the_gpu, &temperature) &&
        temperature < 200) {
        gpu["temperature"] = temperature;
    }
    unsigned milliwatts = 0;
    if (questions.ask_quietly("nvmlDeviceGetPowerUsage", device, &milliwatts)) {
        gpu["power"] = (milliwatts + 500) / 1000;
    }
    unsigned current = 0;
    unsigned pending = 0;
    gpu["mig"] =
        questions.ask_quietly("nvmlDeviceGetMigMode", device, &current, &pending) && current == 1;
    if (json processes = processes_of(nvml, device); !processes.is_null()) {
        gpu["processes"] = std::move(processes);
    }
    return gpu;
}

} // namespace

NvmlFacts ask_nvml() {
    NvmlFacts facts;
    NvmlSession session(facts.errors);
    if (!session.load()) {
        return facts;
    }
    Questions& questions = session.questions();
    ask_cuda_version(session.nvml(), questions, facts);
    if (!session.start()) {
        return facts;
    }
    if (!facts.cuda) {
        ask_cuda_version(session.nvml(), questions, facts);
    }
    if (!facts.cuda) {
        facts.errors.emplace_back("NVML reports no CUDA version (a driver before 410)");
    }
    if (const auto text = session.driver_version()) {
        auto version = DottedVersion::parse(*text);
        if (version && version->major() > 0) {
            facts.driver = std::move(*version);
        } else {
            questions.implausible("nvmlSystemGetDriverVersion", '"' + *text + '"');
        }
    }
    for (const auto& [index, device] : session.gpus()) {
        facts.gpus.push_back(ask_gpu(questions, index, device));
    }
    return facts;
}

json gpu_usage() {
    std::vector<std::string> errors;
    json answer = {{"gpus", json::array()}};
    NvmlSession session(errors);
    if (session.load() && session.start()) {
        if (const auto version = session.driver_version()) {
            answer["driver_version"] = *version;
        }
        for (const auto& [index, device] : session.gpus()) {
            answer["gpus"].push_back(usage_of(session.nvml(), session.questions(), index, device));
        }
    } else if (const auto refused = session.start_error()) {
        answer["start_error"] = *refused;
    }
    answer["errors"] = errors;
    return answer;
}

} // namespace cudaenv::kernels
