// cudaenv-probe: the one program of cudaenv's that opens the driver. It is started as a child with
// a deadline, because a broken driver may never answer.
//   --facts   one line of JSON about the driver and the GPUs, by NVML alone: no context is made.
// Exit status: 0 with an answer (which may be that there is nothing), 2 usage.
#include "kernels/nvml.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace {

using nlohmann::json;

json text_or_null(const std::string& text) {
    return text.empty() ? json(nullptr) : json(text);
}

std::string pci_text(std::uint16_t device) {
    std::array<char, 8> text{};
    const int length = std::snprintf(text.data(), text.size(), "0x%04x", device);
    return {text.data(), static_cast<std::size_t>(length)};
}

json gpu_json(const cudaenv::kernels::NvmlGpu& gpu) {
    return {{"index", gpu.index},
            {"name", text_or_null(gpu.name)},
            {"uuid", text_or_null(gpu.uuid)},
            {"cc", gpu.compute_capability ? json(gpu.compute_capability->str()) : json(nullptr)},
            {"pci_device_id", gpu.pci_device ? json(pci_text(*gpu.pci_device)) : json(nullptr)},
            {"memory", gpu.memory_bytes ? json(*gpu.memory_bytes) : json(nullptr)},
            {"mig", gpu.mig}};
}

int print_facts() {
    const auto facts = cudaenv::kernels::ask_nvml();
    json gpus = json::array();
    for (const auto& gpu : facts.gpus) {
        gpus.push_back(gpu_json(gpu));
    }
    const json answer = {
        {"driver_version", facts.driver ? json(facts.driver->str()) : json(nullptr)},
        {"cuda_driver_version", facts.cuda ? json(facts.cuda->str()) : json(nullptr)},
        {"gpus", std::move(gpus)},
        {"errors", facts.errors}};
    // A driver's text that is no UTF-8 must not keep the rest from being told.
    const auto line = answer.dump(-1, ' ', false, json::error_handler_t::replace);
    std::puts(line.c_str());
    return std::fflush(stdout) == 0 ? 0 : 3;
}

} // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::string_view(argv[1]) == "--facts") {
        return print_facts();
    }
    std::fputs("cudaenv-probe: expected --facts; this program is started by cudaenv\n", stderr);
    return 2;
}
