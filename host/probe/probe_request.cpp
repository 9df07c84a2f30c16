#include "host/probe/probe_request.hpp"

#include "base/raw_bytes.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <vector>

namespace cudaenv::host {

namespace {

// Of each of facts::k_probed_libraries, in that order.
constexpr auto k_lists = std::to_array<std::vector<std::string> ProbeLibraries::*>(
    {&ProbeLibraries::cudart, &ProbeLibraries::nvrtc, &ProbeLibraries::cublas,
     &ProbeLibraries::cudnn, &ProbeLibraries::nccl});
static_assert(k_lists.size() == facts::k_probed_libraries.size());

// As kernels/json_bytes.hpp reads it.
nlohmann::json json_of_bytes(const std::string& bytes) {
    return is_utf8(bytes) ? nlohmann::json(bytes) : nlohmann::json{{"hex", to_hex(bytes)}};
}

} // namespace

std::string write_probe_request(const ProbeRequest& request) {
    nlohmann::json object = {{"depth", request.depth == ProbeDepth::Full ? "full" : "quick"},
                             {"all_gpus", request.all_gpus}};
    if (request.parent) {
        object["parent"] = *request.parent;
    }
    for (std::size_t i = 0; i < k_lists.size(); ++i) {
        auto& files = object["libraries"][facts::k_probed_libraries[i].word];
        files = nlohmann::json::array();
        for (const std::string& file : request.libraries.*k_lists[i]) {
            files.push_back(json_of_bytes(file));
        }
    }
    return object.dump();
}

} // namespace cudaenv::host
