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

// The runtime directory; where there is none that may be used, the system's temporary one, in which
// a new file of a name that nobody can guess is as private.
Place place_for_script() {
    const auto user = static_cast<uid_t>(::getauxval(AT_UID));
    const char* xdg = std::getenv("XDG_RUNTIME_DIR");
    auto own = open_runtime_directory(xdg, user, IfMissing::Make);
    if (own && is_plain(own->path)) {
        return {std::move(own->fd), own->path};
    }
    return {Fd(::open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), "/tmp"};
}

std::string random_name() {
    std::array<std::uint64_t, 2> bits{};
    if (::getrandom(bits.data(), sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
        return {};
    }
    return "cudaenv-answer." + std::to_string(bits[0]) + std::to_string(bits[1]);
}

} // namespace

std::optional<std::string> write_private_script(std::string_view text) {
    const Place place = place_for_script();
    const std::string name = random_name();
    if (!place.directory || name.empty()) {
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

} // namespace cudaenv::cli
