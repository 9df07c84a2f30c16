#include "host/probe/probe_request.hpp"

#include "base/json_bytes.hpp"

#include <nlohmann/json.hpp>

namespace cudaenv::probe {

std::string write_probe_request(const ProbeRequest& request) {
    nlohmann::json object = {{"depth", request.depth == ProbeDepth::Full ? "full" : "quick"},
                             {"all_gpus", request.all_gpus}};
    if (request.parent) {
        object["parent"] = *request.parent;
    }
    for (const facts::RungRow& rung : facts::k_library_rungs) {
        auto& files = object["libraries"][rung.library.word];
        files = nlohmann::json::array();
        for (const std::string& file : request.libraries.of(rung.step)) {
            files.push_back(bytes_to_json(file));
        }
    }
    return object.dump();
}

} // namespace cudaenv::probe
