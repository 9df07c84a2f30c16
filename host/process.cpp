#include "host/process.hpp"

#include "base/fd.hpp"
#include "base/own_limits.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace cudaenv::host {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t k_output_limit = std::size_t{1024} * 1024;
constexpr std::size_t k_error_limit = std::size_t{64} * 1024;

struct Pipe {
    Fd read;
    Fd write;
};

bool open_pipe(Pipe& pipe) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return false;
    }
    pipe.read.reset(ends[0]);
    pipe.write.reset(ends[1]);
    // Only our end: the child's must block as every program expects.
    ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
    return true;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    for (const auto& text : texts) {
        result.push_back(const_cast<char*>(text.c_str())); // exec does not write to it
    }
    result.push_back(nullptr);
    return result;
}

// A child that runs or has ended; owns its pipes, not its death.
struct Child {
    pid_t pid = -1;
    Fd exit_watch; // pidfd, readable when the child has ended; absent on kernels before 5.3
    Fd output;
    Fd error;
    bool ended = false;
};

// What the child does with what it has inherited, between fork and exec: system calls alone. Comes
// back where the program cannot be executed, with errno.
void become(const std::vector<char*>& arguments, const std::vector<char*>& environment, int output,
            int error) {
    // A session's leader leads a process group of the same number too. It has no terminal, so what
    // it is stuck in is not stopped, hung up or interrupted by the caller's.
    ::setsid();
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0 || ::dup2(nothing, 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(error, 2) < 0) {
        return;
    }
    // A handler of ours may not run here: this is our memory.
    for (int signal = 1; signal < NSIG; ++signal) {
        struct sigaction now {};
        if (::sigaction(signal, nullptr, &now) == 0 &&
            (now.sa_handler != SIG_IGN || signal == SIGPIPE)) {
            now.sa_handler = SIG_DFL;
            now.sa_flags = 0;
            ::sigaction(signal, &now, nullptr);
        }
    }
    give_back_limits();
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve(arguments.front(), arguments.data(), environment.data());
}

// vfork, since posix_spawn sets no limits. 0 or an errno, which the child sends through a pipe: a
// sanitizer's vfork shares no memory.
[[gnu::noinline]] int spawn(const ChildCommand& command, const Pipe& output, const Pipe& error,
                            pid_t& pid) {
    const auto arguments = pointers(command.arguments);
    const auto environment = pointers(command.environment);
    Pipe failure;
    if (!open_pipe(failure)) {
        return errno;
    }
    ::fcntl(failure.read.get(), F_SETFL, 0); // waits for the exec
    const int output_end = output.write.get();
    const int error_end = error.write.get();
    const int failure_end = failure.write.get();
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t child = ::vfork();
    if (child == 0) {
        become(arguments, environment, output_end, error_end);
        const int problem = errno;
        static_cast<void>(::write(failure_end, &problem, sizeof problem) < 0);
        ::_exit(127);
    }
    const int problem = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (child < 0) {
        return problem;
    }
    failure.write.reset();
    int failed = 0;
    ssize_t got = -1;
    while ((got = ::read(failure.read.get(), &failed, sizeof failed)) < 0 && errno == EINTR) {
    }
    if (got == sizeof failed) {
        while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
        }
        return failed;
    }
    pid = child;
    return 0;
}

Child start(const ChildCommand& command, ChildOutcome& outcome) {
    Child child;
    child.ended = true;
    Pipe output;
    Pipe error;
    if (!open_pipe(output) || !open_pipe(error)) {
        outcome.failure = "no pipe: " + std::string(std::strerror(errno));
        return child;
    }
    const int failed = spawn(command, output, error, child.pid);
    if (failed != 0) {
        child.pid = -1;
        outcome.failure =
            "cannot start " + command.arguments.front() + ": " + std::strerror(failed);
        return child;
    }
    outcome.started = true;
    child.ended = false;
    child.output = std::move(output.read);
    child.error = std::move(error.read);
#ifdef SYS_pidfd_open
    child.exit_watch.reset(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0)));
#endif
    return child;
}

// Takes what is there; closes the pipe at its end. What is over the limit is read and dropped, so
// that the child does not block on it. Of one that writes without end it takes no more than any
// pipe holds: the deadline is looked at in between.
void drain(Fd& pipe, std::string& into, std::size_t limit) {
    constexpr std::size_t k_most_at_once = std::size_t{1024} * 1024;
    std::array<char, 8192> block{};
    std::size_t taken = 0;
    while (pipe && taken < k_most_at_once) {
        const ssize_t got = ::read(pipe.get(), block.data(), block.size());
        if (got > 0) {
            taken += static_cast<std::size_t>(got);
            const auto keep = std::min(static_cast<std::size_t>(got), limit - into.size());
            into.append(block.data(), keep);
        } else if (got < 0 && errno == EINTR) {
            continue;
        } else if (got < 0 && errno == EAGAIN) {
            return;
        } else {
            pipe.reset();
        }
    }
}

// True when the child is gone, and what it started in its group with it.
bool reap(Child& child, ChildOutcome& outcome) {
    siginfo_t info{};
    const int seen =
        ::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOHANG | WNOWAIT);
    if ((seen == 0 && info.si_pid == 0) || (seen < 0 && errno == EINTR)) {
        return false;
    }
    if (seen == 0) {
        // Before its status is taken: as long as it is a zombie its number is not reused.
        ::kill(-child.pid, SIGKILL);
    }
    int status = 0;
    const pid_t ended = ::waitpid(child.pid, &status, WNOHANG);
    child.ended = true;
    if (ended < 0) {
        outcome.failure = "its exit status was taken by somebody else";
    } else if (WIFEXITED(status)) {
        outcome.exit_status = WEXITSTATUS(status);
        if (outcome.exit_status != 0) {
            outcome.failure = "exit status " + std::to_string(outcome.exit_status);
        }
    } else if (WIFSIGNALED(status)) {
        outcome.signal = WTERMSIG(status);
        outcome.failure = "ended by signal " + std::to_string(outcome.signal);
    }
    return true;
}

int milliseconds_until(Clock::time_point when) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(when - Clock::now()).count();
    return static_cast<int>(std::clamp<long>(left, 0, 60'000));
}

// Waits until something happens to a running child or `until` is reached.
void wait_for_any(const std::vector<Child>& children, Clock::time_point until, int stop_event) {
    std::vector<pollfd> watched;
    if (stop_event >= 0) {
        watched.push_back({stop_event, POLLIN, 0});
    }
    int limit = milliseconds_until(until);
    for (const auto& child : children) {
        if (child.ended) {
            continue;
        }
        for (const Fd* fd : {&child.exit_watch, &child.output, &child.error}) {
            if (*fd) {
                watched.push_back({fd->get(), POLLIN, 0});
            }
        }
        if (!child.exit_watch) {
            limit = std::min(limit, 2); // nothing announces its end: check often
        }
    }
    ::poll(watched.data(), watched.size(), limit);
}

bool is_readable(int event) {
    pollfd watched{event, POLLIN, 0};
    return event >= 0 && ::poll(&watched, 1, 0) > 0;
}

// One look at every running child; true when none runs any more.
bool advance(std::span<const ChildCommand> commands, std::vector<Child>& children,
             std::vector<ChildOutcome>& outcomes) {
    bool all_ended = true;
    for (std::size_t i = 0; i < children.size(); ++i) {
        auto& child = children[i];
        if (child.ended) {
            continue;
        }
        const bool gone = reap(child, outcomes[i]);
        // After its end too: what it wrote last. A grandchild may hold the pipe; it is not waited
        // for.
        std::string& output = outcomes[i].output;
        const std::size_t known = output.size();
        drain(child.output, output, k_output_limit);
        if (commands[i].on_output && output.size() > known) {
            commands[i].on_output(std::string_view(output).substr(known));
        }
        drain(child.error, outcomes[i].error, k_error_limit);
        all_ended = all_ended && gone;
    }
    return all_ended;
}

// A thread of its own, because it may take until the machine is rebooted. It goes with the process.
void reap_later(pid_t pid) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    // Signals are for the threads that wait for them.
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        std::thread([pid] {
            while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
            }
        }).detach();
    } catch (const std::system_error&) {
        // No thread to be had: it stays until this process ends, and init reaps it.
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

} // namespace

std::vector<ChildOutcome> ChildProcessRunner::run_all(std::span<const ChildCommand> commands,
                                                      std::chrono::milliseconds deadline) {
    const auto until = Clock::now() + deadline;
    std::vector<ChildOutcome> outcomes(commands.size());
    std::vector<Child> children;
    children.reserve(commands.size());
    for (std::size_t i = 0; i < commands.size(); ++i) {
        children.push_back(start(commands[i], outcomes[i]));
    }
    bool all_ended = advance(commands, children, outcomes);
    bool stopped = is_readable(m_stop_event);
    while (!all_ended && !stopped && Clock::now() < until) {
        wait_for_any(children, until, m_stop_event);
        stopped = is_readable(m_stop_event);
        all_ended = advance(commands, children, outcomes);
    }
    if (all_ended) {
        return outcomes;
    }
    for (std::size_t i = 0; i < children.size(); ++i) {
        if (!children[i].ended) {
            outcomes[i].timed_out = true;
            ::kill(-children[i].pid, SIGKILL);
        }
    }
    const auto grace_end = Clock::now() + m_grace;
    while (!all_ended && Clock::now() < grace_end) {
        wait_for_any(children, grace_end, -1);
        all_ended = advance(commands, children, outcomes);
    }
    for (std::size_t i = 0; i < children.size(); ++i) {
        if (outcomes[i].timed_out) {
            outcomes[i].exit_status = -1;
            outcomes[i].failure =
                stopped ? "stopped before it answered"
                        : "no answer within " + std::to_string(deadline.count()) + " ms, killed";
        }
        if (!children[i].ended) {
            outcomes[i].is_stuck = true;
            outcomes[i].failure += "; it does not exit (stuck in the kernel)";
            reap_later(children[i].pid);
        }
    }
    return outcomes;
}

} // namespace cudaenv::host
