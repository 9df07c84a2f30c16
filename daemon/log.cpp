#include "daemon/log.hpp"

#include "base/printable.hpp"
#include "base/private_files.hpp"
#include "base/runtime_directory.hpp"
#include "base/text.hpp"

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include <array>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cudaenv::daemon {

namespace {

constexpr off_t k_most_bytes = off_t{1} << 20;
constexpr auto k_names = std::to_array<std::string_view>({"error", "warn", "info", "debug"});

// 2026-01-31T12:00:00.123Z
std::string now() {
    timespec clock{};
    ::clock_gettime(CLOCK_REALTIME, &clock);
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(clock.tv_sec),
                       clock.tv_nsec / 1'000'000);
}

} // namespace

LogLevel log_level(const char* name) {
    const std::string_view wanted = name == nullptr ? "" : name;
    for (std::size_t i = 0; i < k_names.size(); ++i) {
        if (k_names[i] == wanted) {
            return static_cast<LogLevel>(i);
        }
    }
    return LogLevel::Info;
}

Log::Log(const std::string& directory, LogLevel level, bool takes_standard_error)
    : m_path(directory + '/' + k_log_name), m_level(level),
      m_takes_standard_error(takes_standard_error) {
    if (directory.empty() || !make_private_directories(directory) || !open()) {
        m_path.clear();
    }
}

bool Log::open() {
    m_file = Fd(::open(m_path.c_str(),
                       O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    struct stat status {};
    if (!m_file || ::fstat(m_file.get(), &status) != 0 || !is_ours_alone(status, S_IFREG)) {
        m_file.reset();
        return false;
    }
    if (m_takes_standard_error) {
        ::dup2(m_file.get(), STDERR_FILENO);
    }
    return true;
}

void Log::write(LogLevel level, std::string_view text) {
    const std::lock_guard lock(m_mutex);
    if (!m_file || level > m_level) {
        return;
    }
    struct stat status {};
    if (::fstat(m_file.get(), &status) == 0 && status.st_size >= k_most_bytes) {
        ::rename(m_path.c_str(), (m_path + ".1").c_str());
        if (!open()) {
            return;
        }
    }
    const nlohmann::json line = {{"time", now()},
                                 {"level", k_names[static_cast<std::size_t>(level)]},
                                 {"pid", ::getpid()},
                                 {"text", redact_secrets(text)}};
    const std::string bytes =
        printable_json(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) + '\n';
    // One write, so that lines of two daemons (one that leaves, one that comes) do not mix.
    if (::write(m_file.get(), bytes.data(), bytes.size()) < 0) {
        return; // a full disk: see the law
    }
}

} // namespace cudaenv::daemon
