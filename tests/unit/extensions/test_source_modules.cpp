#include "host/extensions/source_modules.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::host {
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

TEST_CASE("a source directory that is gone has no modules") {
    facts::Distribution apex;
    apex.name = "apex";
    apex.source_directory = "/no/such/directory";
    CHECK(modules_of_source({}, apex).empty());
    apex.source_directory = "/";
    CHECK(modules_of_source({}, apex).empty());
}

} // namespace
} // namespace cudaenv::host
