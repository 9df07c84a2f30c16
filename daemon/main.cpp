// cudaenvd: answers the requests of docs/protocol.md.
//   --stdio    on its standard streams until standard input ends
//   --detached  with --stdio: may be at work after its client and its terminal are gone
//   --once     the same for one request
//   --stay BUILD   on standard input, a socket; and, if no one does yet and this is that build, on
//              the user's socket
//   --daemon   on the user's socket, or on the one that systemd passes; in the foreground
//   --idle-seconds N   leave after this time without requests (900)
//   --version
#include "base/own_limits.hpp"
#include "base/printable.hpp"
#include "base/state_directory.hpp"
#include "base/time_slices.hpp"
#include "daemon/background.hpp"
#include "daemon/server.hpp"
#include "host/project/project.hpp"
#include "host/silent_paths.hpp"
#include "protocol/build_id.hpp"
#include "protocol/message.hpp"

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace {

using namespace cudaenv;
using daemon::Lifetime;

// A session for each of 64 clients, and what their requests have open.
constexpr unsigned k_daemons_descriptors = 1024;

enum class Mode { Stdio, Once, Stay, Daemon };

struct Options {
    std::optional<Mode> mode;
    std::string wanted_build; // --stay's
    std::chrono::seconds idle_time = daemon::k_idle_time;
};

std::optional<std::chrono::seconds> seconds_of(const char* text) {
    int value = 0;
    const char* end = text + std::strlen(text);
    const auto read = std::from_chars(text, end, value);
    return read.ec == std::errc() && read.ptr == end && value > 0
               ? std::optional(std::chrono::seconds(value))
               : std::nullopt;
}

// What the process was started for, read before the environment is forgotten.
struct Start {
    std::optional<std::string> runtime_directory;
    std::string log_directory = state_directory();
    daemon::LogLevel log_level = daemon::log_level(std::getenv("CUDAENV_LOG"));
    host::Environment configuration; // what says where the user's is

    Start() {
        if (const char* value = std::getenv("XDG_RUNTIME_DIR"); value != nullptr) {
            runtime_directory = value;
        }
        for (const char* name : {"CUDAENV_CONFIG_DIR", "XDG_CONFIG_HOME", "HOME"}) {
            if (const char* value = std::getenv(name); value != nullptr) {
                configuration.emplace(name, value);
            }
        }
    }
    [[nodiscard]] const char* xdg_runtime_dir() const {
        return runtime_directory ? runtime_directory->c_str() : nullptr;
    }
};

// Where a configuration says `[daemon] start = "never"`; empty where none does. The administrator's
// word and the user's each forbid; a file that cannot be read forbids if it is the administrator's,
// whose word could be in it. A file server that does not answer forbids: the log may lie there too.
std::string why_forbidden(const Start& start) {
    const project::ConfigPaths paths = project::config_paths(start.configuration);
    if (const auto answer = host::all_answer({paths.user, start.log_directory}); !answer) {
        return one_line(answer.error());
    }
    for (const bool systems : {true, false}) {
        project::ConfigPaths one;
        (systems ? one.user : one.system).clear();
        (systems ? one.system : one.user) = systems ? paths.system : paths.user;
        const auto files = project::load_config(one, pins::UnknownKeys::Note);
        if (!files) {
            if (systems) {
                return files.error().message;
            }
            continue;
        }
        if (systems && !files->skipped.empty()) {
            return files->skipped.front().text();
        }
        const auto& file = systems ? files->system : files->user;
        const auto* setting = file ? pins::find_setting(file->settings, "daemon.start") : nullptr;
        const auto* value =
            setting == nullptr ? nullptr : std::get_if<std::string>(&setting->value);
        if (value != nullptr && *value == "never") {
            return "daemon.start is \"never\" in " + setting->origin();
        }
    }
    return {};
}

int serve_standard_streams(Lifetime lifetime) {
    daemon::Server server;
    // Copies that no compiler asked for its version inherits: they would keep the session open.
    server.adopt(::fcntl(0, F_DUPFD_CLOEXEC, 3), ::fcntl(1, F_DUPFD_CLOEXEC, 3), lifetime);
    server.run();
    return 0;
}

// The state directory; where there is none, the runtime directory.
std::string log_directory(const Start& start, const daemon::Listener& listener) {
    return start.log_directory.empty() ? listener.path().substr(0, listener.path().rfind('/'))
                                       : start.log_directory;
}

int stay(const Options& options) {
    const Start start;
    daemon::leave_the_shell();
    const int session = daemon::take_standard_streams();
    daemon::forget_environment();
    const std::string forbidden = why_forbidden(start);
    daemon::Server server;
    std::optional<daemon::Log> log;
    daemon::hold_end_signals();
    if (options.wanted_build != protocol::build_id()) {
        server.cannot_listen("cudaenvd is of another build (" + std::string(protocol::build_id()) +
                             ") than cudaenv");
    } else if (!forbidden.empty()) {
        server.cannot_listen(forbidden);
    } else if (auto listener = daemon::Listener::claim(start.xdg_runtime_dir())) {
        log.emplace(log_directory(start, *listener), start.log_level, true);
        server.listen(*std::move(listener), options.idle_time, *log);
    } else {
        server.cannot_listen(listener.error().message);
    }
    daemon::release_end_signals();
    server.adopt(session, std::nullopt, Lifetime::UntilClosed);
    server.run();
    return 0;
}

// sd_listen_fds(3): one descriptor, number 3, meant for this process.
bool is_socket_activated() {
    const char* pid = std::getenv("LISTEN_PID");
    const char* count = std::getenv("LISTEN_FDS");
    return pid != nullptr && count != nullptr && std::to_string(::getpid()) == pid &&
           std::string_view(count) == "1";
}

int run_daemon(const Options& options) {
    const Start start;
    ask_for_short_time_slices();
    daemon::hold_end_signals();
    auto listener = is_socket_activated() ? daemon::Listener::inherited(3, start.xdg_runtime_dir())
                                          : daemon::Listener::claim(start.xdg_runtime_dir());
    if (!listener) {
        std::fprintf(stderr, "cudaenvd: %s\n", listener.error().message.c_str());
        return 3;
    }
    ::umask(0077);
    if (::chdir("/") != 0) {
        return 3;
    }
    daemon::forget_environment();
    daemon::Log log(log_directory(start, *listener), start.log_level, false);
    daemon::Server server;
    server.listen(*std::move(listener), options.idle_time, log);
    daemon::release_end_signals();
    server.run();
    return 0;
}

int usage(const char* argument, int number) {
    std::fprintf(stderr,
                 "cudaenvd: \"%s\" is not an option (argument %d); options are --stdio, --once, "
                 "--stay BUILD, --daemon, --idle-seconds N and --version\n",
                 argument, number);
    return 2;
}

int serve(const Options& options) {
    switch (*options.mode) {
    case Mode::Stdio:
        return serve_standard_streams(Lifetime::UntilClosed);
    case Mode::Once:
        return serve_standard_streams(Lifetime::OneRequest);
    case Mode::Stay:
        return stay(options);
    case Mode::Daemon:
        break;
    }
    return run_daemon(options);
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    if (const char* idle = std::getenv("CUDAENV_IDLE_SECONDS"); idle != nullptr) {
        options.idle_time = seconds_of(idle).value_or(options.idle_time);
    }
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--stdio") {
            options.mode = Mode::Stdio;
        } else if (argument == "--detached") {
            daemon::leave_the_terminal();
        } else if (argument == "--once") {
            options.mode = Mode::Once;
        } else if (argument == "--stay" && i + 1 < argc) {
            options.mode = Mode::Stay;
            options.wanted_build = argv[++i];
        } else if (argument == "--daemon") {
            options.mode = Mode::Daemon;
        } else if (argument == "--idle-seconds" && i + 1 < argc && seconds_of(argv[i + 1])) {
            options.idle_time = *seconds_of(argv[++i]);
        } else if (argument == "--version") {
            std::printf("cudaenvd %s\n", std::string(protocol::build_id()).c_str());
            return 0;
        } else {
            return usage(argv[i], i);
        }
    }
    if (!options.mode) {
        std::fputs("cudaenvd: cudaenv starts this program; to start it by hand, use --daemon\n",
                   stderr);
        return 2;
    }
    // A client that went away is seen as EPIPE by the write, not as a signal.
    std::signal(SIGPIPE, SIG_IGN);
    // Where the starter ignored it, children could not be waited for.
    std::signal(SIGCHLD, SIG_DFL);
    daemon::end_quietly_without_memory();
    take_file_size_as_error();
    if (const auto limits = take_descriptors(k_daemons_descriptors); !limits) {
        std::fprintf(stderr, "cudaenvd: %s\n", limits.error().message.c_str());
        return protocol::k_ended_without_descriptors;
    }
    try {
        return serve(options);
    } catch (const std::bad_alloc&) {
        return protocol::k_ended_without_memory;
    } catch (const std::exception& thrown) {
        std::fprintf(stderr, "cudaenvd: %s\n", thrown.what());
        return 70;
    }
}
