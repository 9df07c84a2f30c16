#include "base/state_directory.hpp"

#include <cstdlib>
#include <string_view>

namespace cudaenv {

std::string state_directory() {
    const auto under = [](const char* name, std::string_view rest) {
        const char* value = std::getenv(name);
        return value != nullptr && *value == '/' ? value + std::string(rest) : std::string();
    };
    std::string directory = under("CUDAENV_STATE_DIR", "");
    if (directory.empty()) {
        directory = under("XDG_STATE_HOME", "/cudaenv");
    }
    return directory.empty() ? under("HOME", "/.local/state/cudaenv") : directory;
}

} // namespace cudaenv
