#include "kernels/nvml.hpp"

#include "kernels/cuda_version.hpp"

#include <array>
#include <cstring>
#include <dlfcn.h>
#include <memory>

namespace cudaenv::kernels {

namespace {

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

constexpr int k_success = 0;
constexpr int k_uninitialized = 1;
constexpr std::array<const char*, 5> k_libraries = {
    "libnvidia-ml.so.1",                           // where the loader finds it
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",          // WSL 2
    "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", // Debian, from a foreign root's loader
    "/usr/lib64/libnvidia-ml.so.1",                // Red Hat
    "/usr/lib64/nvidia/libnvidia-ml.so.1",
};

// More GPUs than any machine has: a count that was never written.
constexpr unsigned k_gpu_limit = 256;

class Nvml {
public:
    bool load(std::string& failure) {
        for (const auto* path : k_libraries) {
            m_library.reset(::dlopen(path, RTLD_LAZY | RTLD_LOCAL));
            if (m_library) {
                return true;
            }
            if (failure.empty()) {
                const char* told = ::dlerror();
                failure = told == nullptr ? path : told;
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

// One question of the library; true when it answered. What fails is told in `errors`.
class Questions {
public:
    Questions(Nvml& nvml, std::vector<std::string>& errors) : m_nvml(&nvml), m_errors(&errors) {}

    template <typename... Parameters>
    bool ask(const char* name, Parameters... parameters) {
        const auto code = m_nvml->call(name, parameters...);
        if (code && *code == k_success) {
            return true;
        }
        m_errors->push_back(std::string(name) + ": " +
                            (code ? m_nvml->words_for(*code) : "not in this driver"));
        return false;
    }
    // The same, where a refusal is an answer (not every GPU has MIG).
    template <typename... Parameters>
    bool ask_quietly(const char* name, Parameters... parameters) {
        return m_nvml->call(name, parameters...).value_or(-1) == k_success;
    }
    void implausible(const char* name, const std::string& value) {
        m_errors->push_back(std::string(name) + ": " + value + " is not plausible");
    }

private:
    Nvml* m_nvml;
    std::vector<std::string>* m_errors;
};

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
    // Integrated GPUs have no memory of their own to tell.
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

} // namespace

NvmlFacts ask_nvml() {
    NvmlFacts facts;
    Nvml nvml;
    std::string failure;
    if (!nvml.load(failure)) {
        facts.errors.push_back("NVML is not here: " + failure);
        return facts;
    }
    Questions questions(nvml, facts.errors);
    ask_cuda_version(nvml, questions, facts);
    if (!questions.ask("nvmlInit_v2")) {
        return facts;
    }
    if (!facts.cuda) {
        ask_cuda_version(nvml, questions, facts);
    }
    if (!facts.cuda) {
        facts.errors.emplace_back("NVML tells no CUDA version (a driver before 410)");
    }
    std::array<char, 96> text{};
    if (questions.ask("nvmlSystemGetDriverVersion", text.data(),
                      static_cast<unsigned>(text.size()))) {
        auto version = DottedVersion::parse(text_of(text));
        if (version && version->major() > 0) {
            facts.driver = std::move(*version);
        } else {
            questions.implausible("nvmlSystemGetDriverVersion", '"' + text_of(text) + '"');
        }
    }
    unsigned count = 0;
    if (questions.ask("nvmlDeviceGetCount_v2", &count) && count > k_gpu_limit) {
        questions.implausible("nvmlDeviceGetCount_v2", std::to_string(count));
        count = 0;
    }
    for (unsigned index = 0; index < count; ++index) {
        NvmlDevice device = nullptr;
        if (questions.ask("nvmlDeviceGetHandleByIndex_v2", index, &device)) {
            facts.gpus.push_back(ask_gpu(questions, index, device));
        }
    }
    questions.ask_quietly("nvmlShutdown");
    return facts;
}

} // namespace cudaenv::kernels
