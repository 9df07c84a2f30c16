#include "check/inventory/read_inventory.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sys/stat.h>

namespace cudaenv::inventory {
namespace {

namespace fs = std::filesystem;
using test::TemporaryTree;

const std::string k_site = "lib/python3.11/site-packages/";

// All that a record is made into, for comparison.
std::string text_of(const facts::Inventory& inventory) {
    std::string text;
    const auto add = [&](const auto&... parts) { ((text += parts, text += '|'), ...); };
    const auto add_files = [&](const facts::FileClaims& files) {
        for (const auto& claim : files) {
            add(std::string(files.path(claim)), std::to_string(claim.size));
        }
    };
    for (const auto& package : inventory.conda) {
        add("\nconda", package.name, package.version, package.record,
            std::to_string(package.written_ns), std::to_string(package.laid_down_ns));
        add_files(package.files);
    }
    for (const auto& result : inventory.distributions) {
        add("\ndistribution", result.name, result.version, result.installer, result.metadata,
            std::to_string(result.installed_ns), std::to_string(result.laid_down_ns),
            std::to_string(result.requested), result.direct_url ? result.direct_url->url : "",
            result.source_directory);
        add_files(result.files);
    }
    for (const auto& result : inventory.base) {
        add("\nbase", result.name, result.version, result.metadata);
    }
    for (const auto& leftover : inventory.leftovers) {
        add("\nleftover", leftover.path, leftover.name);
    }
    for (const auto& file : inventory.path_files) {
        add("\npath file", file.path);
        for (const auto& directory : file.directories) {
            add(directory);
        }
    }
    for (const auto& note : inventory.notes) {
        add("\nnote", note.path, note.reason);
    }
    return text;
}

void add_wheel(const TemporaryTree& tree, const std::string& name) {
    const auto info = k_site + name + "-1.0.dist-info/";
    tree.file(info + "METADATA", "Name: " + name + "\nVersion: 1.0\n\n");
    tree.file(info + "RECORD", name + "/a.py,,3\n" + name + "/b.py,,\n");
    tree.file(info + "INSTALLER", "pip\n");
}

struct Kept {
    explicit Kept(const TemporaryTree& tree, const std::string& below = "")
        : inventory(tree.path() + below) {}

    // Until what was written just now is so old that a later change would be seen.
    void settle() {
        do {
            REQUIRE(inventory.refresh());
        } while (inventory.records_read() != 0);
    }
    // How many were read, and that it is as if all were.
    std::size_t read() {
        REQUIRE(inventory.refresh());
        const auto records = inventory.records_read();
        const auto fresh = read_inventory(inventory.inventory().prefix);
        REQUIRE(fresh);
        CHECK(text_of(inventory.inventory()) == text_of(*fresh));
        return records;
    }

    KeptInventory inventory;
};

TEST_CASE("of an inventory that is kept only what changed is read, and it is as a fresh one") {
    const TemporaryTree tree;
    tree.file("conda-meta/history", "");
    tree.file("conda-meta/tool-1.0-0.json",
              R"({"name": "tool", "version": "1.0", "build": "0", "files": ["bin/tool"]})");
    for (const auto* name : {"a", "b", "c"}) {
        add_wheel(tree, name);
    }
    tree.file(k_site + "d.egg-info/PKG-INFO", "Name: d\nVersion: 2\n\n");
    tree.file(k_site + "d.egg-info/installed-files.txt", "../d.py\n");
    tree.file(k_site + "e-3.egg-info", "Name: e\nVersion: 3\n\n");
    tree.file(k_site + "more.pth", "/somewhere/else\n");
    Kept kept(tree);
    CHECK(kept.read() == 7);
    kept.settle();
    CHECK(kept.read() == 0);
    CHECK(kept.inventory.inventory().distributions.size() == 5);

    const auto once = [&](const std::function<void()>& change) {
        change();
        CHECK(kept.read() == 1);
        kept.settle();
        CHECK(kept.read() == 0);
    };
    SECTION("a new one") {
        once([&] { add_wheel(tree, "f"); });
        CHECK(kept.inventory.inventory().distributions.size() == 6);
    }
    SECTION("one that is gone") {
        fs::remove_all(tree.path() + '/' + k_site + "b-1.0.dist-info");
        CHECK(kept.read() == 0);
        CHECK(kept.inventory.inventory().distributions.size() == 4);
    }
    SECTION("files of it, rewritten in place with size and time as they were") {
        for (const auto* name : {"a-1.0.dist-info/RECORD", "a-1.0.dist-info/METADATA",
                                 "a-1.0.dist-info/INSTALLER", "d.egg-info/PKG-INFO",
                                 "d.egg-info/installed-files.txt", "e-3.egg-info", "more.pth"}) {
            once([&] {
                const auto path = tree.path() + '/' + k_site + name;
                struct stat status {};
                REQUIRE(::stat(path.c_str(), &status) == 0);
                std::fstream(path, std::ios::in | std::ios::out).put('z');
                const timespec times[2] = {status.st_atim, status.st_mtim};
                REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
            });
        }
    }
    SECTION("files that come and go") {
        const auto path = tree.path() + '/' + k_site + "a-1.0.dist-info/";
        for (const auto* name : {"REQUESTED", "direct_url.json", "WHEEL"}) {
            once(
                [&] { tree.file(k_site + "a-1.0.dist-info/" + name, "{\"url\": \"file:///x\"}"); });
            once([&] { fs::remove(path + name); });
        }
        once([&] { fs::remove(path + "METADATA"); });
        CHECK(kept.inventory.inventory().leftovers.size() == 1);
    }
    SECTION("conda's") {
        once([&] {
            tree.file("conda-meta/tool-1.0-0.json",
                      R"({"name": "tool", "version": "1.1", "build": "0", "files": ["bin/TOOL"]})");
        });
        CHECK(kept.inventory.inventory().conda.front().version == "1.1");
    }
}

TEST_CASE("of an inventory that is kept eggs and a base's packages come and go as they are seen") {
    const TemporaryTree tree;
    tree.file("env/pyvenv.cfg", "home = " + tree.path() + "/base/bin\nversion = 3.11.7\n" +
                                    "include-system-site-packages = true\n");
    const auto at = [](const std::string& name) { return "env/" + k_site + name; };
    tree.file(at("easy-install.pth"), "./a-1-py3.11.egg\n./z-1-py3.11.egg\n");
    tree.file(at("a-1-py3.11.egg/EGG-INFO/PKG-INFO"), "Name: a\nVersion: 1\n\n");
    tree.file(at("z-1-py3.11.egg"), "PK\x03\x04");
    tree.file(at("six-2.dist-info/METADATA"), "Name: six\nVersion: 2\n\n");
    tree.file("base/" + k_site + "six-1.dist-info/METADATA", "Name: six\nVersion: 1\n\n");
    tree.file("base/" + k_site + "b-1.dist-info/METADATA", "Name: b\nVersion: 1\n\n");
    Kept kept(tree, "/env");
    CHECK(kept.read() == 6);
    kept.settle();
    CHECK(kept.inventory.inventory().distributions.size() == 3);
    CHECK(kept.inventory.inventory().base.size() == 1);
    SECTION("an egg that its .pth names no more, and again") {
        tree.file(at("easy-install.pth"), "./z-1-py3.11.egg\n");
        CHECK(kept.read() == 1);
        CHECK(kept.inventory.inventory().distributions.size() == 2);
        tree.file(at("easy-install.pth"), "./a-1-py3.11.egg\n./z-1-py3.11.egg\n");
        CHECK(kept.read() == 2);
        CHECK(kept.inventory.inventory().distributions.size() == 3);
    }
    SECTION("what hid a base's is gone") {
        fs::remove_all(tree.path() + '/' + at("six-2.dist-info"));
        CHECK(kept.read() == 0);
        CHECK(kept.inventory.inventory().base.size() == 2);
    }
    SECTION("another version in an egg") {
        tree.file(at("a-1-py3.11.egg/EGG-INFO/PKG-INFO"), "Name: a\nVersion: 3\n\n");
        CHECK(kept.read() == 1);
        CHECK(kept.inventory.inventory().distributions.front().version == "3");
    }
}

TEST_CASE("records that could not be read, and those that point elsewhere, are read each time") {
    const TemporaryTree tree;
    tree.file(k_site + "own.egg-link", tree.path() + "/source\n.");
    tree.file("source/own.egg-info/PKG-INFO", "Name: own\nVersion: 1\n\n");
    tree.file("conda-meta/broken-1.0-0.json", "{");
    Kept kept(tree);
    for (int times = 0; times < 3; ++times) {
        CHECK(kept.read() == 2);
    }
    tree.file("source/own.egg-info/PKG-INFO", "Name: own\nVersion: 2\n\n");
    CHECK(kept.read() == 2);
    CHECK(kept.inventory.inventory().distributions.front().version == "2");
}

TEST_CASE("an environment that is removed and created again is read as it is each time") {
    const TemporaryTree tree;
    add_wheel(tree, "a");
    tree.link("name", "one");
    fs::create_directory(tree.path() + "/one");
    fs::rename(tree.path() + "/lib", tree.path() + "/one/lib");
    KeptInventory kept(tree.path() + "/name");
    REQUIRE(kept.refresh());
    CHECK(kept.inventory().distributions.size() == 1);
    fs::rename(tree.path() + "/one", tree.path() + "/two");
    CHECK_FALSE(kept.refresh());
    CHECK(kept.inventory().distributions.empty());
    fs::remove(tree.path() + "/name");
    tree.link("name", "two");
    REQUIRE(kept.refresh());
    CHECK(kept.inventory().distributions.size() == 1);
    CHECK(kept.records_read() == 1);
}

} // namespace
} // namespace cudaenv::inventory
