// Pieces of a host that several objects show. Pure.
#pragma once

#include "cli/render/style.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::cli {

std::string sm_of(const std::string& compute_capability); // "sm_86" of "8.6"
std::string compiler_of(const nlohmann::json& compiler);  // "gcc 9.4.0 g++-9"
// "gcc 6-10", "gcc up to 6"; empty where no upper end is known.
std::string range_of(std::string_view family, const nlohmann::json& least,
                     const nlohmann::json& most);
// Tick and text of a toolkit's "fits"; may be empty.
std::string fit_of(const nlohmann::json& toolkit, const Style& style);
// Version, path, compilers, cuDNN, fit.
std::vector<std::string> toolkit_cells(const nlohmann::json& toolkit, const Style& style);

} // namespace cudaenv::cli
