#include "host/probe/closed_files.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

namespace cudaenv::host {
namespace {

// "libcudart.so.12 root root 600, ...", in the order found.
std::string told(const std::vector<facts::ClosedFile>& closed) {
    std::string text;
    for (const auto& file : closed) {
        text += text.empty() ? "" : ", ";
        text += fmt::format("{} {} {} {:o}{}", file.path.substr(file.path.rfind('/') + 1),
                            file.owner, file.group, file.mode, file.own ? " own" : "");
    }
    return text;
}

TEST_CASE("a library that this user may not read is told with its owner, group and mode") {
    const test::TemporaryTree tree;
    const std::vector<std::string> paths{
        tree.file("closed.so", "x", 0640), tree.file("open.so", "x", 0644),
        tree.path() + "/absent.so", tree.directory("directory"), "closed.so"};
    CHECK(test::as_nobody([&] { return told(closed_libraries(paths)); }) ==
          "closed.so root root 640");
    CHECK(closed_libraries(paths).empty()); // root may
}

TEST_CASE("device files are to be written too, and one open GPU says that they are shared out") {
    const test::TemporaryTree tree;
    tree.file("nvidiactl", "", 0644);
    tree.file("nvidia-uvm", "", 0666);
    tree.file("nvidia-uvm-tools", "", 0600);
    tree.file("nvidia0", "", 0660);
    const auto look = [&] { return told(closed_devices(tree.path())); };
    CHECK(test::as_nobody(look) == "nvidiactl root root 644, nvidia0 root root 660");
    tree.file("nvidia1", "", 0666);
    CHECK(test::as_nobody(look) == "nvidiactl root root 644");
    CHECK(test::as_nobody([] { return told(closed_devices("/nonexistent")); }).empty());
}

TEST_CASE("libcuda is looked for on the library path first, then where drivers put it") {
    const std::vector<std::string> entries{"/opt/one"};
    const auto places = places_of_libcuda(entries);
    REQUIRE(places.size() > 3);
    CHECK(places[0] == "/opt/one/libcuda.so.1");
    CHECK(places[1].starts_with("/usr/lib/"));
}

} // namespace
} // namespace cudaenv::host
