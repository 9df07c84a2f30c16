#include "daemon/background.hpp"

#include "protocol/message.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <initializer_list>
#include <new>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cudaenv::daemon {

namespace {

// Seconds. Who is still at work then waits for a file server that does not answer: the kernel lets
// a signal that ends the process through.
constexpr unsigned k_longest_alone = 120;

void close_above_standard() {
#ifdef SYS_close_range
    if (::syscall(SYS_close_range, 3U, ~0U, 0U) == 0) {
        return;
    }
#endif
    rlimit limit{};
    const int most = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536
                         ? static_cast<int>(limit.rlim_cur)
                         : 65536;
    for (int fd = 3; fd < most; ++fd) {
        ::close(fd);
    }
}

void change_end_signals(int how) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    ::sigprocmask(how, &signals, nullptr);
}

thread_local bool t_found_no_memory = false;
std::terminate_handler g_ordinary = nullptr;

void no_memory() {
    t_found_no_memory = true;
    throw std::bad_alloc();
}

void terminated() {
    if (t_found_no_memory) {
        ::_exit(protocol::k_ended_without_memory);
    }
    g_ordinary();
}

} // namespace

void hold_end_signals() {
    change_end_signals(SIG_BLOCK);
}

void release_end_signals() {
    change_end_signals(SIG_UNBLOCK);
}

void leave_the_shell() {
    ::setsid(); // fails only where this is a session's leader already
    close_above_standard();
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int signal : {SIGTERM, SIGINT, SIGQUIT, SIGCHLD, SIGALRM, SIGUSR1, SIGUSR2}) {
        std::signal(signal, SIG_DFL);
    }
    std::signal(SIGHUP, SIG_IGN);
    ::umask(0077);
    if (::chdir("/") != 0) {
        return; // then some file system cannot be unmounted, and that is all
    }
}

void leave_the_terminal() {
    ::setsid(); // fails only where this is a session's leader already
    const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nothing, STDERR_FILENO);
    ::close(nothing);
    std::signal(SIGALRM, SIG_DFL);
    ::alarm(k_longest_alone);
}

int take_standard_streams() {
    const int session = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(nothing, STDOUT_FILENO);
    ::dup2(nothing, STDERR_FILENO); // until there is a log
    ::close(nothing);
    return session;
}

void forget_environment() {
    ::clearenv();
}

void end_quietly_without_memory() {
    std::set_new_handler(no_memory);
    g_ordinary = std::set_terminate(terminated);
}

OwnProgram::OwnProgram() {
    std::array<char, 4096> path{};
    const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
    // What /proc shows is what was started, whatever has been put at its path meanwhile.
    if (size > 0 && ::stat("/proc/self/exe", &m_status) == 0) {
        m_path.assign(path.data(), static_cast<std::size_t>(size));
    }
}

bool OwnProgram::replaced() const {
    struct stat now {};
    return !m_path.empty() &&
           (::stat(m_path.c_str(), &now) != 0 || now.st_ino != m_status.st_ino ||
            now.st_dev != m_status.st_dev || now.st_mtim.tv_sec != m_status.st_mtim.tv_sec ||
            now.st_mtim.tv_nsec != m_status.st_mtim.tv_nsec);
}

} // namespace cudaenv::daemon
