#include "cli/private_script.hpp"

#include "base/fd.hpp"
#include "base/runtime_directory.hpp"
#include "base/shell_word.hpp"
#include "cli/output.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <utility>

namespace cudaenv::cli {

namespace {

bool is_plain(const std::string& path) {
    return shell_word(path) == path;
}

struct Place {
    Fd directory;
    std::string path;
};

// The runtime directory.
std::optional<Place> own_place() {
    const auto user = static_cast<uid_t>(::getauxval(AT_UID));
    const char* xdg = std::getenv("XDG_RUNTIME_DIR");
    auto own = open_runtime_directory(xdg, user, IfMissing::Make);
    if (!own || !is_plain(own->path)) {
        return std::nullopt;
    }
    return Place{std::move(own->fd), own->path};
}

// A directory of the system: a new file there is private too, because its name cannot be guessed.
std::optional<Place> shared_place(const char* path) {
    Fd directory(::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return directory ? std::optional(Place{std::move(directory), path}) : std::nullopt;
}

std::string random_name() {
    std::array<std::uint64_t, 2> bits{};
    if (::getrandom(bits.data(), sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
        return {};
    }
    return "cudaenv-answer." + std::to_string(bits[0]) + std::to_string(bits[1]);
}

std::optional<std::string> write_in(const Place& place, std::string_view text) {
    const std::string name = random_name();
    if (name.empty()) {
        return std::nullopt;
    }
    const Fd file(::openat(place.directory.get(), name.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    const std::string path = place.path + '/' + name;
    if (!file) {
        return std::nullopt;
    }
    if (!write_all(file.get(), "/bin/rm -f " + path + "\n" + std::string(text))) {
        ::unlinkat(place.directory.get(), name.c_str(), 0);
        return std::nullopt;
    }
    return path;
}

} // namespace

std::optional<std::string> write_private_script(std::string_view text) {
    // The first may be full or read-only.
    for (const auto& find : {+[] { return own_place(); }, +[] { return shared_place("/tmp"); },
                             +[] { return shared_place("/dev/shm"); }}) {
        const auto place = find();
        if (auto script = place ? write_in(*place, text) : std::nullopt) {
            return script;
        }
    }
    return std::nullopt;
}

} // namespace cudaenv::cli
