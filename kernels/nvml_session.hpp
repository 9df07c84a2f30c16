// NVML, loaded at run time, started, and shut down again with the session: the one way to it for
// whoever asks about GPUs without making a CUDA context. cudaenv is built without NVIDIA's headers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cudaenv::kernels {

// NVML's C interface, as its reference manual describes it; return code 0 is success. The _v2 and
// _v3 names have been in every driver since 2014 (331) unless said otherwise.
using NvmlDevice = struct NvmlDeviceTag*;
struct NvmlPci {
    std::array<char, 16> bus_id_legacy;
    unsigned domain;
    unsigned bus;
    unsigned device;
    unsigned device_id; // device << 16 | vendor
    unsigned subsystem_id;
    std::array<char, 32> bus_id;
};
struct NvmlMemory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};
struct NvmlUtilization { // percent
    unsigned gpu;
    unsigned memory;
};

inline constexpr int k_success = 0;
inline constexpr int k_uninitialized = 1;
inline constexpr std::array<const char*, 5> k_nvml_libraries = {
    "libnvidia-ml.so.1",                           // where the loader finds it
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",          // WSL 2
    "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", // Debian, from a foreign root's loader
    "/usr/lib64/libnvidia-ml.so.1",                // Red Hat
    "/usr/lib64/nvidia/libnvidia-ml.so.1",
};

// More GPUs than any machine has: a count that was never written.
inline constexpr unsigned k_gpu_limit = 256;

class Nvml {
public:
    bool load(std::string& failure) {
        for (const auto* path : k_nvml_libraries) {
            m_library.reset(::dlopen(path, RTLD_LAZY | RTLD_LOCAL));
            if (m_library) {
                return true;
            }
            if (failure.empty()) {
                const char* words = ::dlerror();
                failure = words == nullptr ? path : words;
            }
        }
        return false;
    }

    // Calls `name` where the library has it; its return code, or none.
    template <typename... Parameters>
    std::optional<int> call(const char* name, Parameters... parameters) {
        // dlsym's void* is how POSIX hands out functions.
        const auto function =
            reinterpret_cast<int (*)(Parameters...)>(::dlsym(m_library.get(), name));
        if (function == nullptr) {
            return std::nullopt;
        }
        return function(parameters...);
    }

    std::string words_for(int code) {
        const auto function =
            reinterpret_cast<const char* (*)(int)>(::dlsym(m_library.get(), "nvmlErrorString"));
        const char* text = function == nullptr ? nullptr : function(code);
        return text == nullptr ? "code " + std::to_string(code) : text;
    }

private:
    struct Close {
        void operator()(void* library) const { ::dlclose(library); }
    };
    std::unique_ptr<void, Close> m_library;
};

template <std::size_t N>
std::string text_of(const std::array<char, N>& buffer) {
    return {buffer.data(), ::strnlen(buffer.data(), N)};
}

// One question of the library; true when it answered. Failures go to `errors`.
class Questions {
public:
    Questions(Nvml& nvml, std::vector<std::string>& errors) : m_nvml(&nvml), m_errors(&errors) {}

    template <typename... Parameters>
    bool ask(const char* name, Parameters... parameters) {
        const auto code = m_nvml->call(name, parameters...);
        if (code && *code == k_success) {
            return true;
        }
        m_refusal = code;
        m_errors->push_back(std::string(name) + ": " +
                            (code ? m_nvml->words_for(*code) : "not in this driver"));
        return false;
    }
    // The same, where a refusal is an answer (not every GPU has MIG).
    template <typename... Parameters>
    bool ask_quietly(const char* name, Parameters... parameters) {
        return m_nvml->call(name, parameters...).value_or(-1) == k_success;
    }
    // What the last question that failed was answered; none where the driver has no such call.
    [[nodiscard]] std::optional<int> refusal() const { return m_refusal; }
    void implausible(const char* name, const std::string& value) {
        m_errors->push_back(std::string(name) + ": " + value + " is not plausible");
    }

private:
    Nvml* m_nvml;
    std::vector<std::string>* m_errors;
    std::optional<int> m_refusal;
};

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

// Which processes NVML shows on a GPU, by whichever form of the question the driver has.
struct NvmlProcess {
    unsigned pid = 0;
    std::optional<std::uint64_t> memory; // bytes; unknown on WSL
};

// Those that compute, or with `graphics` those that draw. None where NVML does not say.
std::optional<std::vector<NvmlProcess>> running_processes(Nvml& nvml, NvmlDevice device,
                                                          bool graphics);

} // namespace cudaenv::kernels
