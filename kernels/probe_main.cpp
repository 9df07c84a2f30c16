// cudaenv-probe: the one program of cudaenv's that opens the driver. It is started as a child with
// a deadline, because a broken driver may never answer.
//   --facts            one line of JSON about the driver and the GPUs, by NVML alone: no context is
//                      made.
//   --usage            one line of JSON about what the GPUs do just now, likewise.
//   --ladder REQUEST   the ladder of docs/probe.md, up to kernels that run.
// Exit status: 0 with an answer (which may be that there is nothing), 2 usage.
#include "base/json_bytes.hpp"
#include "kernels/ladder.hpp"
#include "kernels/nvml.hpp"
#include "kernels/reporter.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

using cudaenv::text_or_null;
using cudaenv::value_or_null;
using nlohmann::json;

std::string pci_text(std::uint16_t device) {
    std::array<char, 8> text{};
    const int length = std::snprintf(text.data(), text.size(), "0x%04x", device);
    return {text.data(), static_cast<std::size_t>(length)};
}

json gpu_json(const cudaenv::kernels::NvmlGpu& gpu) {
    return {{"index", gpu.index},
            {"name", text_or_null(gpu.name)},
            {"uuid", text_or_null(gpu.uuid)},
            {"cc", value_or_null(gpu.compute_capability)},
            {"pci_device_id", gpu.pci_device ? json(pci_text(*gpu.pci_device)) : json(nullptr)},
            {"memory", value_or_null(gpu.memory_bytes)},
            {"mig", gpu.mig}};
}

int print_line(const json& answer) {
    // A driver's text that is not UTF-8 must not suppress the rest.
    const auto line = answer.dump(-1, ' ', false, json::error_handler_t::replace);
    std::puts(line.c_str());
    return std::fflush(stdout) == 0 ? 0 : 3;
}

int print_facts() {
    const auto facts = cudaenv::kernels::ask_nvml();
    return print_line({{"driver_version", value_or_null(facts.driver)},
                       {"cuda_driver_version", value_or_null(facts.cuda)},
                       {"gpus", cudaenv::json_list(facts.gpus, gpu_json)},
                       {"errors", facts.errors}});
}

int climb_ladder(std::string_view argument) {
    const auto request = cudaenv::kernels::read_ladder_request(argument);
    if (!request) {
        std::fprintf(stderr, "cudaenv-probe: %s\n", request.error().message.c_str());
        return 2;
    }
    // It may have gone before its death was asked for; then there is no signal any more.
    if (request->parent && *request->parent != ::getppid()) {
        std::fputs("cudaenv-probe: its client has ended\n", stderr);
        return 2;
    }
    // Both before the driver is loaded. Its cache on disk would answer for a compiler that is to be
    // tried.
    ::setenv("CUDA_CACHE_DISABLE", "1", 1);
    if (request->all_gpus) {
        ::unsetenv("CUDA_VISIBLE_DEVICES");
    }
    cudaenv::kernels::begin_report();
    cudaenv::kernels::finish_report(cudaenv::kernels::climb(*request));
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    // The parent keeps its deadline; without it nothing would end a driver that hangs.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (argc == 2 && std::string_view(argv[1]) == "--facts") {
        return print_facts();
    }
    if (argc == 2 && std::string_view(argv[1]) == "--usage") {
        return print_line(cudaenv::kernels::gpu_usage());
    }
    if (argc == 3 && std::string_view(argv[1]) == "--ladder") {
        return climb_ladder(argv[2]);
    }
    std::fputs("cudaenv-probe: expected --facts, --usage or --ladder REQUEST; this program is "
               "started by cudaenv\n",
               stderr);
    return 2;
}
