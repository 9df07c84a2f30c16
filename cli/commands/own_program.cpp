#include "cli/commands/own_program.hpp"

#include "cli/own_path.hpp"

namespace cudaenv::cli {

Result<std::string> own_program() {
    std::string program = own_path();
    if (program.empty()) {
        return unavailable("no-program",
                           "cannot tell where cudaenv itself is: /proc/self/exe cannot be read",
                           "/proc must be there");
    }
    return program;
}

} // namespace cudaenv::cli
