#include "cli/caller.hpp"

#include <array>
#include <cstdlib>
#include <string_view>
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
    for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::string_view name = text.substr(0, text.find('='));
        // Of one name twice the first counts, as for getenv.
        if (name.size() < text.size() && protocol::is_caller_variable(name)) {
            caller.environment.emplace(name, text.substr(name.size() + 1));
        }
    }
    caller.is_terminal = terminal.is_terminal;
    caller.columns = terminal.columns;
    caller.utf8 = locale_is_utf8(::getenv);
    caller.uid = static_cast<unsigned>(::getauxval(AT_UID)); // no system call
    return caller;
}

} // namespace cudaenv::cli
