#include "base/runtime_directory.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <sys/stat.h>
#include <unistd.h>

namespace cudaenv {
namespace {

using test::TemporaryTree;

// A machine of the test's own: run/UID as the system makes it, and a sticky temporary directory.
struct Machine {
    TemporaryTree tree;
    RuntimeParents parents{tree.directory("run"), tree.directory("tmp")};
    uid_t user = ::geteuid();

    Machine() { mode(parents.temporary, 01777); }

    static void mode(const std::string& path, mode_t mode) {
        REQUIRE(::chmod(path.c_str(), mode) == 0);
    }
    std::string own(const std::string& relative) const {
        auto path = tree.directory(relative);
        mode(path, 0700);
        return path;
    }
    Result<RuntimeDirectory> open(const std::string& xdg,
                                  IfMissing missing = IfMissing::Make) const {
        return open_runtime_directory(xdg.empty() ? nullptr : xdg.c_str(), user, missing, parents);
    }
    std::string run_user() const { return parents.run_user + '/' + std::to_string(user); }
    std::string last_resort() const {
        return parents.temporary + "/cudaenv-" + std::to_string(user);
    }
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;
};

mode_t mode_of(const std::string& path) {
    struct stat status {};
    REQUIRE(::lstat(path.c_str(), &status) == 0);
    return status.st_mode & 07777;
}

std::string outcome(const Result<RuntimeDirectory>& opened) {
    return opened ? opened->path : opened.error().code;
}

TEST_CASE("the runtime directory is made in XDG_RUNTIME_DIR, for its user alone") {
    Machine machine;
    const auto xdg = machine.own("xdg");
    const auto opened = machine.open(xdg);
    REQUIRE(outcome(opened) == xdg + "/cudaenv");
    CHECK(mode_of(opened->path) == 0700);
    struct stat by_fd {};
    struct stat by_path {};
    REQUIRE(::fstat(opened->fd.get(), &by_fd) == 0);
    REQUIRE(::stat(opened->path.c_str(), &by_path) == 0);
    CHECK(by_fd.st_ino == by_path.st_ino);
    CHECK(outcome(machine.open(xdg + "//", IfMissing::Fail)) == xdg + "/cudaenv");
}

TEST_CASE("no umask makes the runtime directory's mode another than 0700") {
    Machine machine;
    const auto xdg = machine.own("xdg");
    for (const mode_t mask : {0, 022, 0777}) {
        const mode_t before = ::umask(mask);
        const auto opened = machine.open(xdg);
        ::umask(before);
        REQUIRE(outcome(opened) == xdg + "/cudaenv");
        CHECK(mode_of(opened->path) == 0700);
        REQUIRE(::rmdir(opened->path.c_str()) == 0);
    }
}

TEST_CASE("without XDG_RUNTIME_DIR the user's directory in run is taken, else one in tmp") {
    Machine machine;
    CHECK(outcome(machine.open("")) == machine.last_resort());
    CHECK(mode_of(machine.last_resort()) == 0700);
    machine.own("run/" + std::to_string(machine.user));
    CHECK(outcome(machine.open("")) == machine.run_user() + "/cudaenv");
    CHECK(outcome(machine.open("relative/directory")) == machine.run_user() + "/cudaenv");
}

TEST_CASE("an XDG_RUNTIME_DIR that is missing, a link, or writable by others is passed over") {
    Machine machine;
    const auto xdg = machine.own("xdg");
    CHECK(outcome(machine.open(machine.tree.path() + "/missing")) == machine.last_resort());
    machine.tree.link("link", xdg);
    CHECK(outcome(machine.open(machine.tree.path() + "/link")) == machine.last_resort());
    CHECK(outcome(machine.open(machine.tree.path() + "/link/")) == machine.last_resort());
    for (const mode_t mode : {0770, 0707, 01777}) {
        Machine::mode(xdg, mode);
        CHECK(outcome(machine.open(xdg)) == machine.last_resort());
    }
    Machine::mode(xdg, 0755); // others may look, which the directory inside forbids them
    CHECK(outcome(machine.open(xdg)) == xdg + "/cudaenv");
}

TEST_CASE("an XDG_RUNTIME_DIR of another user, as su leaves it, is passed over") {
    if (::geteuid() != 0) {
        SKIP("needs root, to give a directory away; run as root");
    }
    Machine machine;
    const auto xdg = machine.own("xdg");
    REQUIRE(::chown(xdg.c_str(), 65534, 65534) == 0);
    CHECK(outcome(machine.open(xdg)) == machine.last_resort());
}

TEST_CASE("a missing runtime directory is reported, and not created, if it is only searched for") {
    Machine machine;
    const auto xdg = machine.own("xdg");
    const auto opened = machine.open(xdg, IfMissing::Fail);
    REQUIRE(outcome(opened) == "no-runtime-directory");
    CHECK(opened.error().path == xdg + "/cudaenv");
    CHECK(::access((xdg + "/cudaenv").c_str(), F_OK) != 0);
    CHECK(::access(machine.last_resort().c_str(), F_OK) != 0);
}

TEST_CASE("a runtime directory open to others is refused, never mended or gone around") {
    Machine machine;
    const auto xdg = machine.own("xdg");
    const auto inside = machine.own("xdg/cudaenv");
    for (const mode_t mode : {0750, 0701, 0777, 01777, 0500}) {
        Machine::mode(inside, mode);
        const auto opened = machine.open(xdg);
        REQUIRE(outcome(opened) == "unsafe-runtime-directory");
        CHECK(opened.error().path == inside);
        CHECK(mode_of(inside) == mode);
    }
    CHECK(::access(machine.last_resort().c_str(), F_OK) != 0);
}

TEST_CASE("an inherited set-group-ID bit does not make the runtime directory unsafe") {
    Machine machine;
    const auto xdg = machine.own("xdg");
    Machine::mode(machine.own("xdg/cudaenv"), 02700);
    CHECK(outcome(machine.open(xdg)) == xdg + "/cudaenv");
}

TEST_CASE("a link or a file in the runtime directory's place is refused") {
    Machine machine;
    const auto elsewhere = machine.own("elsewhere");
    machine.tree.link("tmp/cudaenv-" + std::to_string(machine.user), elsewhere);
    CHECK(outcome(machine.open("")) == "unsafe-runtime-directory");
    const auto xdg = machine.own("xdg");
    machine.tree.file("xdg/cudaenv", "");
    CHECK(outcome(machine.open(xdg)) == "unsafe-runtime-directory");
    const auto other = machine.own("other");
    machine.tree.link("other/cudaenv", "nowhere");
    CHECK(outcome(machine.open(other)) == "unsafe-runtime-directory");
}

TEST_CASE("a runtime directory that another user made first is refused") {
    if (::geteuid() != 0) {
        SKIP("needs root, to give a directory away; run as root");
    }
    Machine machine;
    const auto made = machine.own("tmp/cudaenv-" + std::to_string(machine.user));
    REQUIRE(::chown(made.c_str(), 65534, 65534) == 0);
    const auto opened = machine.open("");
    REQUIRE(outcome(opened) == "unsafe-runtime-directory");
    CHECK(opened.error().message.find("65534") != std::string::npos);
}

TEST_CASE("a user who cannot enter another user's runtime directory sees whose it is") {
    Machine machine;
    Machine::mode(machine.own("tmp/cudaenv-65534"), 0700);
    const auto seen = test::as_nobody([&] {
        return outcome(open_runtime_directory(nullptr, 65534, IfMissing::Make, machine.parents));
    });
    CHECK(seen == "unsafe-runtime-directory");
}

TEST_CASE("a temporary directory in which others can rename is not used") {
    Machine machine;
    Machine::mode(machine.parents.temporary, 0777);
    CHECK(outcome(machine.open("")) == "unsafe-runtime-directory");
    CHECK(::access(machine.last_resort().c_str(), F_OK) != 0);
}

TEST_CASE("a runtime directory that cannot be created is reported with the reason") {
    Machine machine;
    Machine::mode(machine.parents.temporary, 0755); // root's, and so not writable for nobody
    const auto seen = test::as_nobody([&] {
        const auto opened =
            open_runtime_directory(nullptr, 65534, IfMissing::Make, machine.parents);
        return opened ? opened->path : opened.error().code + ": " + opened.error().message;
    });
    CHECK(seen == "no-runtime-directory: " + machine.parents.temporary +
                      "/cudaenv-65534 cannot be made: Permission denied");
}

TEST_CASE("the runtime directory of a user who is not root is that user's own") {
    Machine machine;
    const auto seen = test::as_nobody([&] {
        return outcome(open_runtime_directory(nullptr, 65534, IfMissing::Make, machine.parents));
    });
    CHECK(seen == machine.parents.temporary + "/cudaenv-65534");
    CHECK(mode_of(seen) == 0700);
}

} // namespace
} // namespace cudaenv
