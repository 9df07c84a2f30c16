// `cudaenv debug oracle`: passes the lines of standard input to the daemon in batches, and its
// answers to standard output.
#include "cli/commands/commands.hpp"
#include "cli/connection.hpp"
#include "cli/progress_line.hpp"
#include "cli/report.hpp"
#include "cli/this_caller.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <unistd.h>

namespace cudaenv::cli {

namespace {

// Every byte may become six in JSON, and the message stays below its limit of 1 MiB.
constexpr std::size_t k_batch_bytes = std::size_t{128} * 1024;
constexpr std::chrono::seconds k_oracle_deadline{60};

// Appends up to `most` bytes of standard input; false at its end.
Result<bool> read_some(std::string& buffer, std::size_t most) {
    const std::size_t before = buffer.size();
    buffer.resize(before + most);
    ssize_t size = -1;
    while ((size = ::read(STDIN_FILENO, buffer.data() + before, most)) < 0 && errno == EINTR) {
    }
    const int problem = errno;
    buffer.resize(before + static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    if (size < 0) {
        return unavailable("read-failed",
                           std::string("cannot read standard input: ") + std::strerror(problem));
    }
    return size > 0;
}

Result<void> ask_batch(Connection& daemon, const protocol::Caller& caller, std::string lines,
                       long long first_line) {
    CUDAENV_TRY(
        const auto reply,
        daemon.ask(
            {0, "debug.oracle", {{"lines", std::move(lines)}, {"first_line", first_line}}, caller},
            k_oracle_deadline));
    const auto answers = reply.object.find("lines");
    if (answers == reply.object.end() || !answers->is_string()) {
        return defect("cudaenvd's answer has no \"lines\"");
    }
    return write_all(STDOUT_FILENO, answers->get_ref<const std::string&>());
}

} // namespace

Result<int> stream_oracle(Invocation& /*invocation*/) {
    const protocol::Caller caller = this_caller(Terminal{});
    CUDAENV_TRY(auto daemon, Connection::start_child());
    std::string buffer;
    long long line = 1;
    bool more = true;
    while (more) {
        CUDAENV_TRY(more, read_some(buffer, k_batch_bytes - buffer.size()));
        std::size_t end = buffer.rfind('\n');
        end = end == std::string::npos ? 0 : end + 1;
        if (!more) {
            end = buffer.size(); // the last line may have no newline
        } else if (buffer.size() < k_batch_bytes) {
            continue; // a pipe gives little at a time
        } else if (end == 0) {
            return tl::unexpected(
                Error{ErrorKind::BadInput,
                      "line-too-long",
                      "a question is longer than " + std::to_string(k_batch_bytes) + " bytes",
                      "standard input",
                      static_cast<int>(line),
                      0,
                      {}});
        }
        if (end > 0) {
            const std::string batch = buffer.substr(0, end);
            CUDAENV_TRY_VOID(ask_batch(daemon, caller, batch, line));
            line += std::ranges::count(batch, '\n');
            buffer.erase(0, end);
        }
    }
    return 0;
}

} // namespace cudaenv::cli
