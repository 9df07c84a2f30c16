#include "cli/this_caller.hpp"

#include <array>
#include <cstdlib>
#include <string_view>
#include <sys/auxv.h>
#include <unistd.h>

namespace cudaenv::cli {

namespace {

// Cap unlisted variables so that the request fits one message (protocol::k_most_frame_bytes).
constexpr std::size_t k_most_of_cuda = std::size_t{64} * 1024;

} // namespace

std::string current_directory() {
    std::array<char, 4096> path{};
    if (::getcwd(path.data(), path.size()) != nullptr) {
        return path.data();
    }
    // The directory was removed: its name as the kernel has it, which no other directory can have.
    const ssize_t size = ::readlink("/proc/self/cwd", path.data(), path.size() - 1);
    return size > 0 ? path.data() : "/proc/self/cwd/removed";
}

std::string directory_in(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value == '/' ? value : std::string();
}

protocol::Caller this_caller(const Terminal& terminal) {
    protocol::Caller caller;
    caller.cwd = current_directory();
    std::size_t room_of_cuda = k_most_of_cuda;
    for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::string_view name = text.substr(0, text.find('='));
        // If a name occurs twice the first counts, as for getenv.
        if (name.size() == text.size()) {
            continue;
        }
        const std::string_view value = text.substr(name.size() + 1);
        const bool listed = protocol::is_caller_variable(name);
        if (listed || (protocol::travels(name, value) && value.size() <= room_of_cuda)) {
            room_of_cuda -= listed ? 0 : value.size();
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
