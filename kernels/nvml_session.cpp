#include "kernels/nvml_session.hpp"

namespace cudaenv::kernels {

namespace {

struct ProcessInfo { // of the _v2 and _v3 calls (drivers from 450 on)
    unsigned pid;
    unsigned long long used_memory;
    unsigned gpu_instance;
    unsigned compute_instance;
};
struct OldProcessInfo {
    unsigned pid;
    unsigned long long used_memory;
};

constexpr int k_too_small = 7;
constexpr unsigned k_most_processes = 4096;

using Processes = std::optional<std::vector<NvmlProcess>>;

// False: the driver has no such call.
template <typename Info>
bool ask(Nvml& nvml, const std::string& name, NvmlDevice device, Processes& processes) {
    std::vector<Info> infos(64);
    unsigned count = 0;
    std::optional<int> code;
    // Processes come and go between two calls.
    for (int tries = 0; tries < 4; ++tries) {
        count = static_cast<unsigned>(infos.size());
        code = nvml.call(name.c_str(), device, &count, infos.data());
        if (code != k_too_small || count > k_most_processes) {
            break;
        }
        infos.resize(count + 16);
    }
    if (!code) {
        return false;
    }
    if (*code == k_success && count <= infos.size()) {
        infos.resize(count);
        processes.emplace();
        for (const Info& info : infos) {
            auto& process = processes->emplace_back();
            process.pid = info.pid;
            if (info.used_memory != ~0ULL) {
                process.memory = info.used_memory;
            }
        }
    }
    return true;
}

} // namespace

NvmlSession::~NvmlSession() {
    if (m_started) {
        m_questions.ask_quietly("nvmlShutdown");
    }
}

bool NvmlSession::load() {
    std::string failure;
    if (!m_nvml.load(failure)) {
        m_errors.push_back("NVML is not here: " + failure);
        return false;
    }
    return true;
}

bool NvmlSession::start() {
    m_started = m_questions.ask("nvmlInit_v2");
    m_start_error = m_started ? std::nullopt : m_questions.refusal();
    return m_started;
}

std::optional<std::string> NvmlSession::driver_version() {
    std::array<char, 96> text{};
    if (!m_questions.ask("nvmlSystemGetDriverVersion", text.data(),
                         static_cast<unsigned>(text.size()))) {
        return std::nullopt;
    }
    return text_of(text);
}

std::vector<std::pair<unsigned, NvmlDevice>> NvmlSession::gpus() {
    unsigned count = 0;
    if (m_questions.ask("nvmlDeviceGetCount_v2", &count) && count > k_gpu_limit) {
        m_questions.implausible("nvmlDeviceGetCount_v2", std::to_string(count));
        count = 0;
    }
    std::vector<std::pair<unsigned, NvmlDevice>> found;
    for (unsigned index = 0; index < count; ++index) {
        NvmlDevice device = nullptr;
        if (m_questions.ask("nvmlDeviceGetHandleByIndex_v2", index, &device)) {
            found.emplace_back(index, device);
        }
    }
    return found;
}

Processes running_processes(Nvml& nvml, NvmlDevice device, bool graphics) {
    const std::string name =
        graphics ? "nvmlDeviceGetGraphicsRunningProcesses" : "nvmlDeviceGetComputeRunningProcesses";
    Processes processes;
    // _v2 has had entries of 24 bytes in every driver since 450; those of _v3 were 32 bytes in the
    // first drivers of 535.
    if (!ask<ProcessInfo>(nvml, name + "_v2", device, processes) &&
        !ask<ProcessInfo>(nvml, name + "_v3", device, processes)) {
        ask<OldProcessInfo>(nvml, name, device, processes);
    }
    return processes;
}

} // namespace cudaenv::kernels
