// cudaenv: the thin client. It reads its words, asks cudaenvd, prints what comes back.
//
// The commands of the prompt path (`hook`) are to be told apart here, before `run`: the argument
// parser and the renderers behind it are for people's commands.
#include "cli/run.hpp"

#include <cstddef>
#include <malloc.h>
#include <span>

int main(int argc, char** argv) {
    // The heap grows in few steps: each is a system call.
    ::mallopt(M_TOP_PAD, 1 << 20);
    const auto count = static_cast<std::size_t>(argc > 0 ? argc - 1 : 0);
    return cudaenv::cli::run({argv + (argc > 0 ? 1 : 0), count});
}
