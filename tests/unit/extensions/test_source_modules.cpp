#include "check/extensions/source_modules.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <filesystem>

namespace cudaenv::extensions {
namespace {

TEST_CASE("modules built in place are found, and not those of builds, environments and links") {
    const test::TemporaryTree tree;
    for (const auto* name :
         {"src/apex_C.cpython-311-x86_64-linux-gnu.so", "src/apex/deep/_C.so",
          "src/build/lib/old.so", "src/.venv/lib/x.so", "src/dist/y.so", "src/venv/pyvenv.cfg",
          "src/venv/lib/z.so", "src/notes.txt", "elsewhere/other.so"}) {
        tree.file(name, "");
    }
    tree.link("src/linked", tree.path() + "/elsewhere");
    tree.link("src/loop", ".");
    tree.link("src/alias.so", "apex/deep/_C.so");
    facts::Inventory inventory;
    facts::Distribution apex;
    apex.name = "apex";
    const std::vector<std::string> expected{tree.path() + "/src/apex/deep/_C.so",
                                            tree.path() +
                                                "/src/apex_C.cpython-311-x86_64-linux-gnu.so"};
    SECTION("of direct_url.json") {
        apex.direct_url = facts::DirectUrl{};
        apex.direct_url->local_directory = tree.path() + "/src";
    }
    SECTION("of an egg-link") {
        apex.source_directory = tree.path() + "/src";
    }
    SECTION("of a path file") {
        inventory.path_files = {{"s/__editable__.apex-0.1.pth", {tree.path() + "/src"}, {}},
                                {"s/other.pth", {tree.path() + "/elsewhere"}, {}}};
    }
    CHECK(modules_of_source(inventory, apex) == expected);
}

TEST_CASE("a build/ has the modules that the next build would take for this Python") {
    const test::TemporaryTree tree;
    const auto at = [&](const std::string& name, int hours) {
        const auto path = tree.file(name, "");
        const auto now = std::filesystem::file_time_type::clock::now();
        std::filesystem::last_write_time(path, now - std::chrono::hours(hours));
        return path;
    };
    const auto ours = at("src/build/lib.linux-x86_64-cpython-311/a/_C.so", 2);
    const auto older_setuptools = at("src/build/lib.linux-x86_64-3.11/_D.so", 2);
    at("src/build/lib.linux-x86_64-cpython-310/a/_C.so", 2);
    at("src/build/lib.linux-x86_64-cpython-3110/a/_C.so", 2);
    at("src/build/temp.linux-x86_64-cpython-311/a.so", 2);
    at("src/build/lib/pure.so", 2);
    at("src/csrc/deep/kernel.cu", 3);
    at("src/setup.py", 1); // no source of a module
    facts::Distribution apex;
    apex.name = "apex";
    apex.site = "lib/python3.11/site-packages";
    apex.source_directory = tree.path() + "/src";
    using Paths = std::vector<std::string>;
    CHECK(modules_of_build(apex) == Paths{older_setuptools, ours});
    SECTION("none of which a source is newer") {
        at("src/csrc/deep/kernel.cu", 1);
        CHECK(modules_of_build(apex).empty());
    }
    SECTION("none where the Python is not known, or the source is gone") {
        apex.site = "lib/python3/dist-packages";
        CHECK(modules_of_build(apex).empty());
        apex.site = "lib/python3.11/site-packages";
        apex.source_directory = tree.path() + "/nowhere";
        CHECK(modules_of_build(apex).empty());
    }
    SECTION("none where build/ leads out of the source") {
        std::filesystem::rename(tree.path() + "/src/build", tree.path() + "/shared");
        tree.link("src/build", tree.path() + "/shared");
        CHECK(modules_of_build(apex).empty());
    }
}

TEST_CASE("a source directory that is gone has no modules") {
    facts::Distribution apex;
    apex.name = "apex";
    apex.source_directory = "/no/such/directory";
    CHECK(modules_of_source({}, apex).empty());
    apex.source_directory = "/";
    CHECK(modules_of_source({}, apex).empty());
}

} // namespace
} // namespace cudaenv::extensions
