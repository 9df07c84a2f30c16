// A request read: each thing asked for as a spec over the names that the channels (or the
// catalogue) use, each pin as an assumption of its own, and whether CUDA or a CPU build is what is
// wanted. Pure.
#pragma once

#include "solver/resolve/channel.hpp"
#include "solver/resolve/request.hpp"
#include "solver/specs/record.hpp"

#include <span>
#include <string>
#include <vector>

namespace cudaenv::resolve {

// The origin of a pin that the environment's Python became.
inline constexpr std::string_view k_of_environment = "the environment";

enum class Vocabulary { Conda, Catalogue }; // pytorch or torch, cudatoolkit or cuda

struct Item {
    enum class Kind { Spec, Pin };
    Kind kind = Kind::Spec;
    std::string text;          // as the user wrote it: "torch==2.4", "cuda=11.3"
    std::string origin;        // "argument 1", "/p/cudaenv.toml line 3"
    std::string name;          // "pytorch"; for a pin its name in the pin vocabulary, "cuda"
    std::string demand;        // MatchSpec that an answer must hold: "pytorch==2.4" or "__pin_cuda"
    std::string build_relaxed; // without its build string; empty where it has none
    std::string relaxed;       // just the name; empty for a pin (it is left out)
    std::vector<std::string> constrains; // of a pin
    std::vector<std::string> extras;     // of a requirement: "cuda12"
    std::vector<std::string> siblings;   // the same for another CUDA: cupy-cuda12x of cupy-cuda13x
    std::vector<std::string> nearest;    // specs of other versions, the nearest first
    bool kept = false;                   // the build that is installed, and stays
    bool in_environment = false;         // the environment has it; the request does not name it
};

struct Question {
    std::vector<Item> items;
    std::vector<std::string> unknown; // asked for, as written, and in no table
    bool cuda_asked = false;          // by a word of the request, or because a GPU is here
    bool cuda_named = false;          // by a word of the request
    bool cpu_asked = false;
    bool nvcc_asked = false; // as a package: CUDA with what compiles
};

// Errors: "bad-spec" (what, where, what would be right), "no-such-package" (with the nearest name).
Result<Question> read_question(const Request& request, const facts::Host& host,
                               std::span<const Channel* const> channels, Vocabulary vocabulary);

} // namespace cudaenv::resolve
