#include "cli/commands/own_program.hpp"

#include "cli/own_path.hpp"

#include <string_view>
#include <unistd.h>

namespace cudaenv::cli {

Result<std::string> own_program() {
    std::string program = own_path();
    if (program.empty()) {
        return unavailable("no-program",
                           "cannot tell where cudaenv itself is: /proc/self/exe cannot be read",
                           "/proc must be there");
    }
    // Replaced while it runs: the new one has the name.
    constexpr std::string_view k_replaced = " (deleted)";
    if (program.ends_with(k_replaced) && ::access(program.c_str(), F_OK) != 0) {
        program.resize(program.size() - k_replaced.size());
    }
    return program;
}

} // namespace cudaenv::cli
