#include "cli/report.hpp"

#include "base/fd.hpp"
#include "base/printable.hpp"
#include "base/runtime_directory.hpp"
#include "base/shell_word.hpp"
#include "base/whole_file.hpp"
#include "base/whole_io.hpp"
#include "cli/render/render.hpp"
#include "cli/this_caller.hpp"
#include "protocol/message.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace cudaenv::cli {

namespace {

std::string text_of(const nlohmann::json& object, int indent) {
    return printable_json(
               object.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace)) +
           '\n';
}

tl::unexpected<Error> cannot_write(const std::string& path, int problem) {
    return unavailable("write-failed", std::string("cannot be written: ") + std::strerror(problem),
                       {}, path);
}

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

std::string as_json(const nlohmann::json& object) {
    return text_of(object, 2);
}

std::string as_json_line(const nlohmann::json& object) {
    return text_of(object, -1);
}

Style style_for(const Terminal& terminal, ColourWish wish, const protocol::Caller& caller) {
    Style style;
    style.colour = wants_colour(wish, terminal, ::getenv);
    style.utf8 = caller.utf8;
    style.columns = terminal.columns;
    style.home = caller.variable("HOME").value_or("");
    style.cwd = caller.cwd;
    return style;
}

Style message_style() {
    Style style;
    style.utf8 = locale_is_utf8(::getenv);
    style.cwd = current_directory();
    if (const char* home = std::getenv("HOME"); home != nullptr) {
        style.home = home;
    }
    return style;
}

int report_failure(const Error& error, bool json) {
    const int status = protocol::exit_status(error.kind);
    if (error.code == "reader-gone") {
        return status;
    }
    const nlohmann::json object = protocol::error_to_json(error);
    if (json && write_all(STDOUT_FILENO, as_json(object))) {
        return status;
    }
    // If standard error cannot be written to either, only the status is left.
    static_cast<void>(write_all(STDERR_FILENO, render(object, message_style())));
    return status;
}

void say(const std::string& message) {
    static_cast<void>(report_failure({ErrorKind::BadInput, {}, message, {}, 0, 0, {}}, false));
}

Result<void> write_all(int fd, std::string_view text) {
    if (!write_full(fd, text)) {
        return errno == EPIPE
                   ? unavailable("reader-gone", "the program that read the output has exited")
                   : unavailable("write-failed", std::string("cannot write to standard output: ") +
                                                     std::strerror(errno));
    }
    return {};
}

Result<void> write_file(const std::string& path, std::string_view text) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
        // Another user's pipe may never have a reader.
        const bool anothers = status.st_uid != ::geteuid() && status.st_uid != 0;
        const Fd fd(
            ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | (anothers ? O_NONBLOCK : 0)));
        if (!fd || !write_all(fd.get(), text)) {
            return cannot_write(path, errno);
        }
        return {};
    }
    CUDAENV_TRY_VOID(edit_whole(path, [&](const auto&) { return Result<std::string>(text); }));
    return {};
}

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
