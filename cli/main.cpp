// cudaenv: the thin client. It reads its words, asks cudaenvd, prints what comes back.
//
// The prompt's command is told apart here: the argument parser and the renderers are for people's
// commands.
#include "base/own_limits.hpp"
#include "cli/prompt.hpp"
#include "cli/run.hpp"

#include <cstddef>
#include <malloc.h>
#include <span>

int main(int argc, char** argv) {
    // The heap grows in few steps: each is a system call.
    ::mallopt(M_TOP_PAD, 1 << 20);
    const auto limits = cudaenv::take_descriptors();
    const auto count = static_cast<std::size_t>(argc > 0 ? argc - 1 : 0);
    const std::span<const char* const> words{argv + (argc > 0 ? 1 : 0), count};
    if (!words.empty() && words[0] == cudaenv::cli::k_prompt_command) {
        return cudaenv::cli::run_prompt(words.subspan(1), limits);
    }
    return cudaenv::cli::run(words, limits);
}
