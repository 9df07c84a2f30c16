#include "host/probe/closed_files.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace cudaenv::probe {
namespace {

// "libcudart.so.12 root root 600, ...", in the order found.
std::string lines_of(const std::vector<facts::ClosedFile>& closed) {
    std::string text;
    for (const auto& file : closed) {
        text += text.empty() ? "" : ", ";
        text += fmt::format("{} {} {} {:o}{}{}", file.path.substr(file.path.rfind('/') + 1),
                            file.owner, file.group, file.mode, file.own ? " own" : "",
                            file.was_passed_over ? " passed over" : "");
    }
    return text;
}

TEST_CASE("libraries that this user may not read are reported with owner, group and mode") {
    const test::TemporaryTree tree;
    tree.file("path/libcuda.so.1", "x", 0);
    tree.file("path/libcudnn.so.9", "x", 0644);
    tree.file("path/libother.so.1", "x", 0);
    tree.file("env/lib/libcudart.so.12", "x", 0640);
    tree.file("site/torch/lib/libcudart-d0da41ae.so.11.0", "x", 0600);
    tree.file("site/nvidia/cublas/lib/libcublas.so.12", "x", 0600);
    tree.directory("site/nvidia/cublas/lib/libcublas.so.13");
    ProbeLibraries libraries;
    libraries.looked_at = {tree.path() + "/env/lib", tree.path() + "/site/torch/lib",
                           tree.path() + "/site/nvidia/cublas/lib", tree.path() + "/path",
                           "/etc/ld.so.cache"};
    libraries.closed = {tree.path() + "/env/lib/libcudart.so.12"};
    const std::vector<std::string> path{tree.path() + "/path", "/nonexistent"};
    CHECK(test::as_nobody([&] { return lines_of(closed_libraries(libraries, path)); }) ==
          "libcuda.so.1 root root 0, libcudart.so.12 root root 640 passed over, "
          "libcudart-d0da41ae.so.11.0 root root 600, libcublas.so.12 root root 600");
    CHECK(test::as_nobody([&] { return lines_of(closed_libraries({}, path)); }) ==
          "libcuda.so.1 root root 0");
    CHECK(closed_libraries(libraries, path).empty()); // root may
}

TEST_CASE("a directory that may not be searched is reported once, with what is above it") {
    const test::TemporaryTree tree;
    tree.file("path/libcudart.so.13", "x", 0644);
    tree.file("readable/libcudart.so.13", "x", 0644);
    tree.file("site/nvidia/cublas/lib/libcublas.so.13", "x", 0644);
    tree.file("searchable/libcudart.so.13", "x", 0644);
    std::filesystem::permissions(tree.path() + "/path", std::filesystem::perms::none);
    std::filesystem::permissions(tree.path() + "/readable", std::filesystem::perms{0744});
    std::filesystem::permissions(tree.path() + "/searchable", std::filesystem::perms{0711});
    std::filesystem::permissions(tree.path() + "/site/nvidia", std::filesystem::perms{0700});
    ProbeLibraries libraries;
    libraries.looked_at = {tree.path() + "/site/nvidia", tree.path() + "/site/nvidia/cublas/lib",
                           tree.path() + "/path"};
    const std::vector<std::string> path{tree.path() + "/path", tree.path() + "/path/below",
                                        tree.path() + "/readable", tree.path() + "/searchable"};
    const auto closed = test::as_nobody([&] {
        const auto found = closed_libraries(libraries, path);
        return lines_of(found) +
               (std::ranges::all_of(found, &facts::ClosedFile::is_directory) ? " all" : " not");
    });
    CHECK(closed == "path root root 0, readable root root 744, nvidia root root 700 all");
}

TEST_CASE("device files are to be written too, and one open GPU says that they are shared out") {
    const test::TemporaryTree tree;
    tree.file("nvidiactl", "", 0644);
    tree.file("nvidia-uvm", "", 0666);
    tree.file("nvidia-uvm-tools", "", 0600);
    tree.file("nvidia0", "", 0660);
    const auto look = [&] { return lines_of(closed_devices(tree.path())); };
    CHECK(test::as_nobody(look) == "nvidiactl root root 644, nvidia0 root root 660");
    tree.file("nvidia1", "", 0666);
    CHECK(test::as_nobody(look) == "nvidiactl root root 644");
    CHECK(test::as_nobody([] { return lines_of(closed_devices("/nonexistent")); }).empty());
}

} // namespace
} // namespace cudaenv::probe
