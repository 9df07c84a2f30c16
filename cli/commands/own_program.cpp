#include "cli/commands/own_program.hpp"

#include "base/own_path.hpp"

namespace cudaenv::cli {

Result<std::string> own_program() {
    std::string program = own_path();
    if (program.empty()) {
        return unavailable("no-program",
                           "cannot tell where cudaenv itself is: /proc is not mounted",
                           "call cudaenv by its full path, or mount /proc");
    }
    return program;
}

} // namespace cudaenv::cli
