// Values that several methods' objects have.
#pragma once

#include "protocol/json_field.hpp"
#include "solver/knowledge/toolkits.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace cudaenv::daemon {

inline nlohmann::json text_or_null(const std::string& text) {
    return text.empty() ? nlohmann::json() : nlohmann::json(text);
}

// Of what need not be UTF-8: paths, and what other programs call themselves.
inline nlohmann::json bytes_or_null(const std::string& bytes) {
    return bytes.empty() ? nlohmann::json() : protocol::bytes_to_json(bytes);
}

inline nlohmann::json fit_to_json(const knowledge::CudaFit& fit) {
    return {{"state", knowledge::name_of(fit.verdict)}, {"text", fit.text}};
}

template <typename T>
nlohmann::json value_or_null(const std::optional<T>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
}

} // namespace cudaenv::daemon
