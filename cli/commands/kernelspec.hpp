// A Jupyter kernel started through `cudaenv run`: kernels do not run activate.d, and fixed values
// in the specification's `env` would go out of date. Pure.
//
// Law: plain_kernel(wrapped_kernel(k)) has the same argv as k; if cudaenv is uninstalled, the
// wrapped kernel still starts as k does.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace cudaenv::cli {

// The program that a kernel.json starts, without our wrapper. Error "bad-kernel".
Result<std::string> kernel_program(std::string_view json);
bool is_wrapped_kernel(std::string_view json);
// Errors: "bad-kernel", "unusable-prefix" if a path is not UTF-8. A wrapped kernel is wrapped
// again, for this program and prefix.
Result<std::string> wrapped_kernel(std::string_view json, const std::string& program,
                                   const std::string& prefix);
// Without our words; what is not wrapped is returned as it is.
Result<std::string> plain_kernel(std::string_view json);

} // namespace cudaenv::cli
