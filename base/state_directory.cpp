#include "base/state_directory.hpp"

#include "base/private_files.hpp"

#include <cstdlib>
#include <string_view>

namespace cudaenv {

std::string
state_directory(const std::function<std::optional<std::string>(const char* name)>& variable) {
    const auto under = [&](const char* name, std::string_view rest) {
        const auto value = variable(name).value_or("");
        return value.starts_with('/') ? value + std::string(rest) : std::string();
    };
    if (std::string own = under("CUDAENV_STATE_DIR", ""); !own.empty()) {
        return own;
    }
    std::string directory = under("XDG_STATE_HOME", "/cudaenv");
    if (directory.empty()) {
        directory = under("HOME", "/.local/state/cudaenv");
    }
    return is_anothers_place(directory) ? std::string() : directory;
}

std::string state_directory() {
    return state_directory([](const char* name) -> std::optional<std::string> {
        const char* value = std::getenv(name);
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    });
}

} // namespace cudaenv
