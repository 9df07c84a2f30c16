// cudaenv: the thin client. It parses its arguments, asks cudaenvd and prints the answer.
//
// `prompt` is recognized here, since it needs neither the argument parser nor the renderers.
#include "base/own_limits.hpp"
#include "cli/prompt.hpp"
#include "cli/run.hpp"

#include <cstddef>
#include <malloc.h>
#include <span>

int main(int argc, char** argv) {
    // The heap grows in large steps: each is a system call.
    ::mallopt(M_TOP_PAD, 1 << 20);
    const auto limits = cudaenv::take_descriptors();
    const auto count = static_cast<std::size_t>(argc > 0 ? argc - 1 : 0);
    const std::span<const char* const> words{argv + (argc > 0 ? 1 : 0), count};
    if (!words.empty() && words[0] == cudaenv::cli::k_prompt_command) {
        return cudaenv::cli::run_prompt(words.subspan(1), limits);
    }
    return cudaenv::cli::run(words, limits);
}
