// The commands that people paste: the same question asked differently, and an answer carried out.
// Pure text.
#pragma once

#include "solver/knowledge/knowledge.hpp"
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
// cupy-cuda12x, where cupy is what was asked for.
bool is_wheel_of_asked(const Attempt& attempt, const specs::PackageRecord& wheel,
                       const Records& records);

// The TensorFlow of an answer whose wheels contain no CUDA libraries and have no extra with them
// (before 2.14); nullptr: another one, or none.
const knowledge::TensorflowRelease* tensorflow_without_libraries(const Attempt& attempt,
                                                                 const Records& records);

// Requirements that the commands add, because no METADATA states them: "numpy<2" of torch 2.2.2.
struct AddedBound {
    std::string owner; // "torch 2.2.2"
    std::string requirement;
};
std::vector<AddedBound> added_bounds(const Attempt& attempt, const Records& records);
// "nvidia-cudnn-cu12==9.10.2.21", where the answer's packages leave cuDNN open and the newest does
// not serve a GPU of this machine; empty where pip's own choice will do.
std::string cudnn_pin(const Attempt& attempt, const Records& records);

std::vector<std::string> install_commands(const Request& request, const Attempt& attempt,
                                          const Records& records);

} // namespace cudaenv::resolve
