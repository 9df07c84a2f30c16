#include "kernels/nvml.hpp"

#include "kernels/cuda_version.hpp"
#include "kernels/nvml_session.hpp"

#include <array>

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

} // namespace cudaenv::kernels
