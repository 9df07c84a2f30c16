#include "host/silent_paths.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace cudaenv::host {
namespace {

using Paths = std::vector<std::string>;

TEST_CASE("only what may be silent counts as remote") {
    const std::string local = "22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
                              "23 22 0:5 / /dev rw - devtmpfs dev rw\n"
                              "24 22 0:22 / /proc rw - proc proc rw\n"
                              "25 24 0:30 / /proc/sys/fs/binfmt_misc rw shared:9 - autofs a rw\n"
                              "26 22 0:31 / /sys/fs/fuse/connections rw - fusectl fusectl rw\n"
                              "27 22 0:40 / /run/user/1000/gvfs rw - fuse.gvfsd-fuse gvfs rw\n";
    CHECK(remote_mounts(local).empty());
    CHECK(remote_mounts(local + "28 22 0:41 / /sw rw - nfs4 server:/sw rw\n") == Paths{"/sw"});
    CHECK(remote_mounts(local + "28 22 0:41 / /sw\\040x rw a:1 b:2 - fuse.sshfs h: rw\n") ==
          Paths{"/sw x"});
    CHECK(remote_mounts(local + "28 22 0:41 / /develop rw - never-heard-of x rw\n") ==
          Paths{"/develop"});
    CHECK(remote_mounts("28 22 0:41 / /a\\04 rw - nfs x rw\n") == Paths{"/a\\04"});
    CHECK(remote_mounts("no mountinfo").empty());
    CHECK(remote_mounts("").empty());
}

TEST_CASE("what answers is not silent, whether it is there or not") {
    const Paths paths = {"/", "/proc", "/nowhere/at/all", ""};
    CHECK(silent_paths(paths).empty());
}

TEST_CASE("a mount that does not answer costs one thread and takes nothing else with it") {
    // Whoever asks below /dead or by the link waits until the test is over.
    const auto over = std::make_shared<std::promise<void>>();
    const auto waiting = std::make_shared<std::atomic<int>>(0);
    const auto ask = [until = over->get_future().share(), waiting](const std::string& path) {
        if (path.starts_with("/dead/") || path == "/link") {
            ++*waiting;
            until.wait();
            --*waiting;
        }
    };
    Paths paths;
    for (int i = 0; i < 60; ++i) {
        paths.push_back("/dead/" + std::to_string(i));
    }
    paths.insert(paths.end(), {"/link", "/deadly", "/alive/a", "/usr/local", "/alive/b"});
    const Paths mounts = {"/dead", "/alive", "/deadly/not"};
    auto silent = silent_paths(paths, mounts, ask);
    CHECK(silent.size() == 61);
    CHECK(std::ranges::find(silent, "/link") != silent.end());
    CHECK(std::ranges::find(silent, "/usr/local") == silent.end());
    CHECK(std::ranges::find(silent, "/alive/b") == silent.end());
    CHECK(waiting->load() == 2);

    // Whoever waits is not joined by others.
    const Paths again = {"/dead/59", "/link", "/alive/a"};
    silent = silent_paths(again, mounts, ask);
    CHECK(silent == Paths{"/dead/59", "/link"});
    CHECK(waiting->load() == 2);

    over->set_value();
    while (waiting->load() > 0) {
        std::this_thread::yield();
    }
}

} // namespace
} // namespace cudaenv::host
