// The commands that people paste: the same question asked differently, and an answer carried out.
// Pure text.
#pragma once

#include "solver/resolve/attempt.hpp"
#include "solver/resolve/outcome.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::resolve {

// The origin of a pin that a fix has changed.
inline constexpr std::string_view k_this_fix = "this fix";

// `cudaenv resolve ...` for a request, as short as it can be; pins become options, and a changed
// one that is not gets `cudaenv pin ... &&` before it.
std::string resolve_command(const Request& request, std::span<const Channel* const> channels);

// Where pip gets torch and its partners of an answer: the label in their versions ("+cu124", or
// none) and the index (none: the default one).
struct TorchSource {
    std::string label;
    std::optional<knowledge::PipIndex> index;
};
TorchSource torch_source(const Request& request, const Attempt& attempt, const Records& records);
// The version that pip is asked for from there: "2.4.1+cu124", or "0.7.0" of a partner whose wheels
// have no label.
std::string pip_version(const TorchSource& source, const Attempt& attempt, const Records& records,
                        const specs::PackageRecord& record);

// What carries an answer out, in order.
std::vector<std::string> install_commands(const Request& request, const Attempt& attempt,
                                          const Records& records);

} // namespace cudaenv::resolve
