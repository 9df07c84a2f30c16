#include "kernels/nvml_session.hpp"

#include <array>

namespace cudaenv::kernels {

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

} // namespace cudaenv::kernels
