#include "kernels/gpu_usage.hpp"

#include "kernels/nvml_processes.hpp"
#include "kernels/nvml_session.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace cudaenv::kernels {

namespace {

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
