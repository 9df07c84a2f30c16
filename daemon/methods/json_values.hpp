// Values that several methods' objects have.
#pragma once

#include "protocol/json_field.hpp"
#include "solver/knowledge/toolkits.hpp"

#include <nlohmann/json.hpp>

namespace cudaenv::daemon {

inline nlohmann::json fit_to_json(const knowledge::CudaFit& fit) {
    return {{"state", knowledge::name_of(fit.verdict)}, {"text", fit.text}};
}

} // namespace cudaenv::daemon
