#include "cli/caller.hpp"

#include <array>
#include <cstdlib>
#include <sys/auxv.h>
#include <unistd.h>

namespace cudaenv::cli {

std::string current_directory() {
    std::array<char, 4096> path{};
    return ::getcwd(path.data(), path.size()) == nullptr ? "/" : path.data();
}

protocol::Caller this_caller(const Terminal& terminal) {
    protocol::Caller caller;
    caller.cwd = current_directory();
    for (const std::string_view name : protocol::caller_variables()) {
        if (const char* value = std::getenv(name.data()); value != nullptr) {
            caller.environment.emplace(name, value);
        }
    }
    caller.is_terminal = terminal.is_terminal;
    caller.columns = terminal.columns;
    caller.utf8 = locale_is_utf8(::getenv);
    caller.uid = static_cast<unsigned>(::getauxval(AT_UID)); // no system call
    return caller;
}

} // namespace cudaenv::cli
