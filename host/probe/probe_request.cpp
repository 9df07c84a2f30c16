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
        object["libraries"][rung.library.word] = bytes_to_json(request.libraries.of(rung.step));
    }
    return object.dump();
}

} // namespace cudaenv::probe
