// NVML found, started, and shut down again with the session: the one way to it for whoever asks
// about GPUs without making a CUDA context.
#pragma once

#include "kernels/nvml_library.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cudaenv::kernels {

class NvmlSession {
public:
    // Failures go to `errors`, which outlives this.
    explicit NvmlSession(std::vector<std::string>& errors)
        : m_errors(errors), m_questions(m_nvml, errors) {}
    NvmlSession(const NvmlSession&) = delete;
    NvmlSession& operator=(const NvmlSession&) = delete;
    ~NvmlSession();

    bool load();
    // After load().
    bool start();
    // What nvmlInit refused with.
    [[nodiscard]] std::optional<int> start_error() const { return m_start_error; }

    // After start().
    std::optional<std::string> driver_version();
    // Those that can be asked, by their index.
    std::vector<std::pair<unsigned, NvmlDevice>> gpus();

    Nvml& nvml() { return m_nvml; }
    Questions& questions() { return m_questions; }

private:
    std::vector<std::string>& m_errors;
    Nvml m_nvml;
    Questions m_questions;
    bool m_started = false;
    std::optional<int> m_start_error;
};

} // namespace cudaenv::kernels
