// Which wheels would contain the CUDA libraries that a framework does not find. Pure.
#pragma once

#include "check/rules/context.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::rules {

struct LibraryWheel {
    std::string name;        // PEP 503: "nvidia-cublas-cu12"; empty: no requirement names one
    std::string requirement; // as pip takes it: "nvidia-cublas-cu12==12.8.4.1"
    const facts::Distribution* installed = nullptr; // in whatever version
};

// Of the wheels that the distribution requires, the one with that library, in any version of it.
LibraryWheel wheel_of_library(const CheckContext& context, const facts::Distribution& requirer,
                              std::string_view soname);

// CE136 reports that `requirer` lacks a library of `required`: its requirement is not reported too.
bool lacks_library_of(const CheckContext& context, const facts::Distribution& requirer,
                      std::string_view required);

} // namespace cudaenv::rules
