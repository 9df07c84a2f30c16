// `cudaenv daemon start|stop|status|logs`. Works also if the daemon does not run or does not
// answer.
#include "base/runtime_directory.hpp"
#include "base/state_directory.hpp"
#include "base/text.hpp"
#include "base/whole_io.hpp"
#include "cli/command_line.hpp"
#include "cli/commands/commands.hpp"
#include "cli/connection.hpp"
#include "cli/render/render.hpp"
#include "cli/report.hpp"
#include "cli/start_rules.hpp"
#include "cli/this_caller.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace cudaenv::cli {

namespace {

using namespace std::chrono_literals;
constexpr std::chrono::milliseconds k_deadline = 30s;

nlohmann::json not_running(const std::string& why) {
    return {{"schema", "cudaenv.daemon/1"},
            {"running", false},
            {"pid", nullptr},
            {"socket", nullptr},
            {"build", nullptr},
            {"uptime_seconds", nullptr},
            {"requests", nullptr},
            {"idle_exit_seconds", nullptr},
            {"why_not", why}};
}

// From the daemon that listens; error "no-daemon" if none answers.
Result<nlohmann::json> ask_listening(const char* method) {
    CUDAENV_TRY(auto connection, Connection::open({.child = false}));
    CUDAENV_TRY(auto reply,
                connection.ask({0, method, nlohmann::json::object(), std::nullopt}, k_deadline));
    return std::move(reply.object);
}

nlohmann::json status() {
    auto object = ask_listening("daemon.status");
    return object ? *std::move(object) : not_running(object.error().message);
}

Result<nlohmann::json> start() {
    if (daemon_is_unwanted(::getenv)) {
        return bad_input("no-daemon", "no daemon was started: CUDAENV_NO_DAEMON is set",
                         "unset CUDAENV_NO_DAEMON");
    }
    CUDAENV_TRY(auto connection, Connection::open({.start = StartDaemon::Asked}));
    CUDAENV_TRY(
        auto reply,
        connection.ask({0, "daemon.status", nlohmann::json::object(), std::nullopt}, k_deadline));
    if (!connection.from_daemon()) {
        // Another process may have started one meanwhile.
        nlohmann::json now = status();
        if (now.value("running", false)) {
            return now;
        }
        reply.object["pid"] = nullptr;
    }
    return std::move(reply.object);
}

// The cudaenvd that holds the lock; 0 if there is none.
pid_t lock_holder(const RuntimeDirectory& directory) {
    const Fd lock(::openat(directory.fd.get(), k_lock_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!lock || ::flock(lock.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
        return 0;
    }
    std::array<char, 32> text{};
    const ssize_t size = ::pread(lock.get(), text.data(), text.size(), 0);
    pid_t pid = 0;
    if (size <= 0 || std::from_chars(text.data(), text.data() + size, pid).ec != std::errc() ||
        pid <= 1) {
        return 0;
    }
    const Fd name(::open(("/proc/" + std::to_string(pid) + "/comm").c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 32> comm{};
    const ssize_t length = name ? ::read(name.get(), comm.data(), comm.size()) : 0;
    return length > 0 &&
                   std::string_view(comm.data(), static_cast<std::size_t>(length)) == "cudaenvd\n"
               ? pid
               : 0;
}

// Kills a daemon that does not answer. Nothing is lost: its clients have asked children of their
// own.
bool kill_silent_daemon() {
    const auto directory =
        open_runtime_directory(std::getenv("XDG_RUNTIME_DIR"), ::geteuid(), IfMissing::Fail);
    const pid_t pid = directory ? lock_holder(*directory) : 0;
    if (pid == 0 || ::kill(pid, SIGKILL) != 0) {
        return false;
    }
    for (int i = 0; i < 200 && lock_holder(*directory) == pid; ++i) {
        std::this_thread::sleep_for(10ms);
    }
    return lock_holder(*directory) != pid;
}

nlohmann::json stop() {
    auto object = ask_listening("daemon.drain");
    if (object) {
        return *std::move(object);
    }
    return not_running(kill_silent_daemon() ? "it did not answer and was killed"
                                            : object.error().message);
}

std::string log_directory() {
    if (std::string directory = state_directory(); !directory.empty()) {
        return directory;
    }
    auto runtime =
        open_runtime_directory(std::getenv("XDG_RUNTIME_DIR"), ::geteuid(), IfMissing::Fail);
    return runtime ? std::move(runtime->path) : std::string();
}

// Empty if it cannot be read.
std::string whole_file(const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    constexpr std::size_t k_most = std::size_t{16} << 20U; // a log is moved aside long before
    return file ? read_rest(file.get(), k_most).value_or("") : std::string();
}

// The lines as they are, or for people: time, level, text. A line that is not ours (a library's
// on standard error) is shown as it is, and left out of JSON.
std::string shown_log(const std::string& text, bool json) {
    std::string shown;
    for (const std::string_view line : split(text, '\n')) {
        const auto object = nlohmann::json::parse(line, nullptr, false);
        if (!object.is_object()) {
            shown += json || line.empty() ? std::string() : std::string(line) + '\n';
        } else if (json) {
            shown += std::string(line) + '\n';
        } else {
            shown += render_log_line(object);
        }
    }
    return shown;
}

Result<int> logs(const Invocation& invocation) {
    const std::string directory = log_directory();
    for (const char* ending : {".1", ""}) {
        CUDAENV_TRY_VOID(
            write_all(STDOUT_FILENO, shown_log(whole_file(directory + '/' + k_log_name + ending),
                                               invocation.output.json)));
    }
    return 0;
}

} // namespace

Result<int> daemon_command(Invocation& invocation) {
    const auto action = invocation.params["arguments"][0].get<std::string>();
    if (action == "logs") {
        return logs(invocation);
    }
    nlohmann::json object;
    if (action == "start") {
        CUDAENV_TRY(object, start());
    } else {
        object = action == "stop" ? stop() : status();
    }
    const Terminal terminal = terminal_of(STDOUT_FILENO);
    const Style style = style_for(terminal, invocation.output.colour, this_caller(terminal));
    CUDAENV_TRY_VOID(
        write_all(STDOUT_FILENO, invocation.output.json ? as_json(object) : render(object, style)));
    return object.value("running", false) == (action != "stop") ? 0 : 1;
}

} // namespace cudaenv::cli
