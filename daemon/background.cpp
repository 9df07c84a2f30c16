#include "daemon/background.hpp"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <initializer_list>
#include <sys/resource.h>
#include <sys/stat.h>
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

} // namespace cudaenv::daemon
