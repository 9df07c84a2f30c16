#include "base/own_path.hpp"

#include "base/real_path.hpp"

#include <array>
#include <string_view>
#include <sys/auxv.h>
#include <unistd.h>
#include <utility>

namespace cudaenv {

namespace {

// The words of the exec that made this process: of use where its directory is still the same.
std::string executed_path() {
    // getauxval(3): a number that is the address of a string of this process.
    const auto* name = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
    return name == nullptr ? std::string() : resolved_path(name);
}

} // namespace

std::string own_path() {
    std::array<char, 4096> path{};
    const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
    if (size <= 0 || std::cmp_equal(size, path.size())) {
        return executed_path(); // /proc is not mounted
    }
    std::string_view program(path.data(), static_cast<std::size_t>(size));
    // Replaced while it runs: the new one has the name.
    constexpr std::string_view k_replaced = " (deleted)";
    if (program.ends_with(k_replaced) && ::access(program.data(), F_OK) != 0) {
        program.remove_suffix(k_replaced.size());
    }
    return std::string(program);
}

Result<std::string> own_program() {
    std::string program = own_path();
    if (program.empty()) {
        return unavailable("no-program", "cannot find the path of cudaenv: /proc is not mounted",
                           "run cudaenv by its full path, or mount /proc");
    }
    return program;
}

} // namespace cudaenv
