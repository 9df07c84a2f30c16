// A Jupyter kernel that is started through `cudaenv run`, because a kernel never sees activate.d
// and its specification's `env` could hold only what was right on the day it was written. Pure.
//
// Law: plain_kernel(wrapped_kernel(k)) has the same argv as k; where cudaenv is gone, the wrapped
// kernel starts as k does.
#pragma once

#include "base/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::cli {

// The program that a kernel.json starts, that of the user under ours. Error "bad-kernel".
Result<std::string> kernel_program(std::string_view json);
bool is_wrapped_kernel(std::string_view json);
// Errors: "bad-kernel", "unusable-prefix" where a path is not UTF-8. A wrapped one is wrapped anew,
// for this program and prefix.
Result<std::string> wrapped_kernel(std::string_view json, const std::string& program,
                                   const std::string& prefix);
// Without our words; what is not wrapped is returned as it is.
Result<std::string> plain_kernel(std::string_view json);

} // namespace cudaenv::cli
