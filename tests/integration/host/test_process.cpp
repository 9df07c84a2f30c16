#include "host/process.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cudaenv::host {
namespace {

using namespace std::chrono_literals;

ChildCommand shell(const std::string& script) {
    return {{"/bin/sh", "-c", script}, {}};
}

// Of a child that never ends: run again with more time until it could say something before its
// deadline, because the machine may be busy.
ChildOutcome of_one_that_hangs(ChildProcessRunner& runner, const std::string& script,
                               std::chrono::milliseconds& deadline) {
    for (;; deadline *= 4) {
        auto outcome = runner.run(shell(script), deadline);
        if (!outcome.output.empty() || deadline > 60s) {
            return outcome;
        }
    }
}

TEST_CASE("a child's output, errors and status come back") {
    ChildProcessRunner runner;
    const auto good = runner.run(shell("echo out; echo err >&2"), 60s);
    CHECK(good.exit_status == 0);
    CHECK(good.output == "out\n");
    CHECK(good.error == "err\n");
    CHECK(good.failure.empty());
    const auto bad = runner.run(shell("exit 7"), 60s);
    CHECK(bad.exit_status == 7);
    CHECK(bad.failure == "exit status 7");
    const auto killed = runner.run(shell("kill -SEGV $$"), 60s);
    CHECK(killed.exit_status == -1);
    CHECK(killed.failure == "ended by signal 11");
    const auto missing = runner.run({{"/no/such/program"}, {}}, 60s);
    CHECK_FALSE(missing.started);
    CHECK(missing.failure.find("/no/such/program") != std::string::npos);
}

TEST_CASE("a child gets the environment it is given and an empty standard input") {
    ChildProcessRunner runner;
    const auto outcome = runner.run({{"/bin/sh", "-c", "echo \"$A.$HOME\"; cat"}, {"A=b"}}, 60s);
    CHECK(outcome.output == "b.\n");
}

TEST_CASE("a child leads a session and a process group of its own") {
    ChildProcessRunner runner;
    // pid (comm) state ppid pgrp session tty_nr
    const auto outcome = runner.run(shell("read -r pid name state parent group session tty more "
                                          "</proc/$$/stat; echo $(( pid == group && pid == session "
                                          ")) $tty $(( parent ))"),
                                    60s);
    CHECK(outcome.output == "1 0 " + std::to_string(::getpid()) + "\n");
}

TEST_CASE("several children run at the same time, outcomes in order") {
    test::TemporaryTree tree;
    const std::string meeting = tree.path() + "/meeting";
    REQUIRE(::mkfifo(meeting.c_str(), 0600) == 0);
    ChildProcessRunner runner;
    // The first waits for the last.
    const std::vector<ChildCommand> commands = {shell("cat " + meeting), shell("echo 1"),
                                                shell("echo 0 > " + meeting + "; echo 2")};
    const auto outcomes = runner.run_all(commands, 60s);
    CHECK(outcomes[0].output == "0\n");
    CHECK(outcomes[1].output == "1\n");
    CHECK(outcomes[2].output == "2\n");
}

TEST_CASE("a child that was left behind is reaped when it dies, without another request") {
    {
        ChildProcessRunner impatient(-1, 0ms);
        const auto outcome = impatient.run(shell("exec sleep 600"), 10ms);
        CHECK(outcome.failure ==
              "no answer within 10 ms, killed; it does not exit (stuck in the kernel)");
    }
    const auto until = std::chrono::steady_clock::now() + 30s;
    siginfo_t ended{};
    // Waits for the end of a child, and leaves it to whoever reaps it.
    while (::waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT) == 0) {
        REQUIRE(std::chrono::steady_clock::now() < until);
        ::sched_yield();
    }
    CHECK(errno == ECHILD);
}

TEST_CASE("a hanging child is killed at its deadline with its own children") {
    test::TemporaryTree tree;
    ChildProcessRunner runner;
    auto deadline = 300ms;
    const auto outcome = of_one_that_hangs(runner,
                                           "trap '' TERM INT HUP; sleep 600 & echo $! > " +
                                               tree.path() + "/pid; echo partly; wait",
                                           deadline);
    CHECK(outcome.timed_out);
    CHECK(outcome.exit_status == -1);
    CHECK(outcome.failure ==
          "no answer within " + std::to_string(deadline.count()) + " ms, killed");
    CHECK(outcome.output == "partly\n");
    const auto grandchild =
        runner.run(shell("pid=$(cat " + tree.path() +
                         "/pid); while :; do "
                         "kill -0 $pid 2>/dev/null || { echo gone; exit; }; "
                         // a zombie that is not reaped yet is dead too
                         "grep -q '^State:.Z' /proc/$pid/status && { echo gone; exit; }; "
                         "sleep 0.1; done"),
                   60s);
    CHECK(grandchild.output == "gone\n");
}

TEST_CASE("a stopped runner kills its children long before their deadline") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    REQUIRE(::write(ends[1], "x", 1) == 1);
    ChildProcessRunner runner(ends[0]);
    const auto outcome = runner.run(shell("sleep 600"), 600s);
    CHECK(outcome.timed_out);
    CHECK(outcome.failure == "stopped before it answered");
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_CASE("a grandchild that keeps the pipe open does not hold the answer") {
    ChildProcessRunner runner;
    const auto outcome = runner.run(shell("sleep 600 & echo done"), 60s);
    CHECK_FALSE(outcome.timed_out);
    CHECK(outcome.exit_status == 0);
    CHECK(outcome.output == "done\n");
}

TEST_CASE("what a child started and left running does not outlive it") {
    ChildProcessRunner runner;
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0); // not closed on exec: the grandchild holds its writing end
    const auto outcome = runner.run(shell("trap '' HUP TERM; sleep 600 & echo $!"), 60s);
    ::close(ends[1]);
    CHECK(outcome.exit_status == 0);
    pollfd end{ends[0], POLLIN, 0};
    CHECK(::poll(&end, 1, 60'000) == 1); // its end, once the other one is closed
    CHECK((end.revents & POLLHUP) != 0);
    ::close(ends[0]);
    if ((end.revents & POLLHUP) == 0) {
        ::kill(static_cast<pid_t>(std::stol(outcome.output)), SIGKILL);
    }
}

TEST_CASE("more output than the limit neither blocks the child nor fills memory") {
    ChildProcessRunner runner;
    const auto outcome = runner.run(shell("head -c 3000000 /dev/zero"), 60s);
    CHECK(outcome.exit_status == 0);
    CHECK(outcome.output.size() == 1024U * 1024U);
}

TEST_CASE("a child that writes without end is killed at its deadline") {
    ChildProcessRunner runner;
    // Several at a time, so that the pipe is never empty.
    const auto outcome = runner.run(
        shell("for i in 1 2 3 4 5 6 7 8; do head -c 8000000000 /dev/zero & done; wait"), 200ms);
    CHECK(outcome.timed_out);
    CHECK(outcome.failure == "no answer within 200 ms, killed");
}

TEST_CASE("a child that stops itself is killed at the deadline all the same") {
    ChildProcessRunner runner;
    const auto outcome = runner.run(shell("kill -STOP $$"), 200ms);
    CHECK(outcome.timed_out);
}

} // namespace
} // namespace cudaenv::host
