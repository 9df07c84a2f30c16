#include "host/probe/probe_request.hpp"

#include "base/raw_bytes.hpp"

#include <nlohmann/json.hpp>

namespace cudaenv::host {

namespace {

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
    for (const facts::ProbedLibrary& library : facts::k_probed_libraries) {
        auto& files = object["libraries"][library.word];
        files = nlohmann::json::array();
        for (const std::string& file : request.libraries.of(library.step)) {
            files.push_back(json_of_bytes(file));
        }
    }
    return object.dump();
}

} // namespace cudaenv::host
