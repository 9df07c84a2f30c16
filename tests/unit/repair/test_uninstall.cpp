#include "check/inventory/read_inventory.hpp"
#include "check/repair/repair.hpp"
#include "check/repair/uninstall.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <set>

using namespace cudaenv;
using namespace cudaenv::inventory;
using namespace cudaenv::repair;

namespace fs = std::filesystem;

namespace {

constexpr const char* k_site = "env/lib/python3.11/site-packages/";

struct Tree {
    test::TemporaryTree tree;

    std::string site(const std::string& path, const std::string& content = "x") const {
        return tree.file(k_site + path, content);
    }
    void distribution(const std::string& name, const std::string& record) const {
        site(name + "-1.0.dist-info/METADATA",
             "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1.0\n");
        site(name + "-1.0.dist-info/RECORD", record);
        site(name + "-1.0.dist-info/INSTALLER", "pip\n");
    }
    [[nodiscard]] std::string prefix() const { return tree.path() + "/env"; }
    [[nodiscard]] bool has(const std::string& path) const {
        return fs::exists(fs::symlink_status(tree.path() + '/' + path));
    }

    std::vector<StepOutcome> uninstall(const std::string& name) const {
        const auto inventory = read_inventory(prefix());
        REQUIRE(inventory);
        const facts::Claims claims(*inventory);
        rules::CheckFinding found;
        found.repairs.push_back(rules::UninstallPip{"", name, ""});
        const std::vector<rules::CheckFinding> findings{found};
        const auto outcomes = carry_out(*inventory, claims, steps_of(findings), {});
        REQUIRE(outcomes);
        return outcomes->outcomes;
    }
    std::vector<StepOutcome> remove(const std::string& path) const {
        const auto inventory = read_inventory(prefix());
        REQUIRE(inventory);
        const facts::Claims claims(*inventory);
        rules::CheckFinding found;
        found.repairs.push_back(rules::Remove{path});
        const std::vector<rules::CheckFinding> findings{found};
        const auto outcomes = carry_out(*inventory, claims, steps_of(findings), {});
        REQUIRE(outcomes);
        return outcomes->outcomes;
    }
};

// Of "x".
constexpr const char* k_hash_of_x = "sha256=LXEWQrcmsEQBYnyp-6wy9chTD7GQPMTbAiWHF5IaSIE";

} // namespace

TEST_CASE("an inner path leads nowhere else") {
    CHECK(is_inner_path("a/b"));
    CHECK(is_inner_path("..a"));
    for (const char* path : {"", "/a", "..", "a/..", "a/../b", "./a", "a/", "a//b"}) {
        INFO(path);
        CHECK_FALSE(is_inner_path(path));
    }
}

TEST_CASE("what a RECORD claims outside of the environment stays, whichever way it leads there") {
    const Tree tree;
    tree.tree.file("victim/up", "mine");
    tree.tree.file("victim/absolute", "mine");
    tree.tree.file("victim/linked", "mine");
    tree.tree.link(std::string(k_site) + "shared", tree.tree.path() + "/victim");
    tree.site("own.py");
    tree.distribution("bad", "../../../../victim/up,,\n" + tree.tree.path() +
                                 "/victim/absolute,,\nshared/linked,,\nown.py,,\n");
    const auto outcomes = tree.uninstall("bad");
    CHECK(outcomes[0].done);
    CHECK(outcomes[0].note.find("3 files kept, outside") != std::string::npos);
    CHECK(tree.has("victim/up"));
    CHECK(tree.has("victim/absolute"));
    CHECK(tree.has("victim/linked"));
    CHECK_FALSE(tree.has(std::string(k_site) + "own.py"));
    CHECK_FALSE(tree.has(std::string(k_site) + "bad-1.0.dist-info"));
    CHECK_FALSE(tree.has("env/.cudaenv-fix"));
}

TEST_CASE("a file that another distribution claims stays, and so does one that was changed") {
    const Tree tree;
    tree.site("pkg/shared.py");
    tree.site("pkg/same.py", "x");
    tree.site("pkg/changed.py", "changed");
    tree.site("pkg/__pycache__/same.cpython-311.pyc", "compiled");
    tree.site("pkg/__pycache__/samer.cpython-311.pyc", "compiled");
    tree.distribution("one", std::string("pkg/shared.py,,\npkg/same.py,") + k_hash_of_x +
                                 ",1\npkg/changed.py," + k_hash_of_x + ",1\n");
    tree.distribution("two", "pkg/shared.py,,\n");
    const auto outcomes = tree.uninstall("one");
    CHECK(outcomes[0].done);
    CHECK(outcomes[0].note.find("pkg/changed.py") != std::string::npos);
    const std::string pkg = std::string(k_site) + "pkg/";
    CHECK(tree.has(pkg + "shared.py"));
    CHECK(tree.has(pkg + "changed.py"));
    CHECK_FALSE(tree.has(pkg + "same.py"));
    CHECK_FALSE(tree.has(pkg + "__pycache__/same.cpython-311.pyc"));
    CHECK(tree.has(pkg + "__pycache__/samer.cpython-311.pyc"));
    CHECK(tree.has(std::string(k_site) + "two-1.0.dist-info/RECORD"));
}

TEST_CASE("what was done can be undone: every file is as before, its directory too") {
    const Tree tree;
    tree.site("pkg/same.py", "x");
    tree.site("pkg/deep/other.py", "x");
    tree.distribution("one", std::string("pkg/same.py,") + k_hash_of_x + ",1\npkg/deep/other.py," +
                                 k_hash_of_x + ",1\n");
    const auto names = [&] {
        std::set<std::string> all;
        for (const auto& entry : fs::recursive_directory_iterator(tree.prefix())) {
            all.insert(entry.path().string());
        }
        return all;
    };
    const auto before = names();
    const auto inventory = read_inventory(tree.prefix());
    REQUIRE(inventory);
    const facts::Claims claims(*inventory);
    rules::CheckFinding found;
    found.repairs.push_back(rules::UninstallPip{"", "one", ""});
    const std::vector<rules::CheckFinding> findings{found};
    {
        auto carried = carry_out(*inventory, claims, steps_of(findings), {});
        REQUIRE(carried);
        CHECK(carried->outcomes[0].done);
        CHECK_FALSE(tree.has(std::string(k_site) + "pkg"));
        CHECK(carried->take_back());
        CHECK(tree.has(std::string(k_site) + "one-1.0.dist-info/METADATA"));
    }
    CHECK(names() == before);
}

TEST_CASE("the environment's own files stay, and files without a digest in the RECORD") {
    const Tree tree;
    tree.site("pkg/same.py", "x");
    tree.site("mine.py", "mine");
    tree.site("pkg/__pycache__/other.cpython-311.pyc", "compiled");
    tree.tree.file("env/pyvenv.cfg", "x");
    tree.tree.file("env/bin/python3", "x");
    tree.tree.file("env/bin/activate", "x");
    tree.tree.file("env/bin/tool", "x");
    tree.tree.file("env/conda-meta/history", "x");
    std::string record = "mine.py,,\npkg/__pycache__/other.cpython-311.pyc,,\n";
    for (const char* path :
         {"pkg/same.py", "../../../pyvenv.cfg", "../../../bin/python3", "../../../bin/activate",
          "../../../bin/tool", "../../../conda-meta/history"}) {
        record += std::string(path) + ',' + k_hash_of_x + ",1\n";
    }
    tree.distribution("one", record);
    const auto outcomes = tree.uninstall("one");
    CHECK(outcomes[0].done);
    CHECK(outcomes[0].note.find("5 files kept, because the content is not what its RECORD says") !=
          std::string::npos);
    for (const char* path :
         {"env/pyvenv.cfg", "env/bin/python3", "env/bin/activate", "env/conda-meta/history"}) {
        INFO(path);
        CHECK(tree.has(path));
    }
    CHECK(tree.has(std::string(k_site) + "mine.py"));
    CHECK_FALSE(tree.has("env/bin/tool"));
    CHECK_FALSE(tree.has(std::string(k_site) + "pkg"));
}

TEST_CASE("directories that are empty then go, up to the site") {
    const Tree tree;
    tree.site("pkg/deep/er/a.py");
    tree.site("other.py");
    tree.distribution("one", "pkg/deep/er/a.py,,\n");
    tree.uninstall("one");
    CHECK_FALSE(tree.has(std::string(k_site) + "pkg"));
    CHECK(tree.has(k_site));
    CHECK(tree.has(std::string(k_site) + "other.py"));
}

TEST_CASE("without a RECORD nothing is uninstalled") {
    const Tree tree;
    tree.site("one-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: one\nVersion: 1.0\n");
    const auto outcomes = tree.uninstall("one");
    CHECK_FALSE(outcomes[0].done);
    CHECK(outcomes[0].error.find("RECORD") != std::string::npos);
    CHECK(tree.has(std::string(k_site) + "one-1.0.dist-info/METADATA"));
}

TEST_CASE("only a leftover in a site is removed") {
    const Tree tree;
    tree.site("~umpy/x.py");
    tree.site("numpy/x.py");
    tree.site("pkg/~inner/x.py");
    tree.tree.file("victim/~x", "mine");
    for (const char* path :
         {"lib/python3.11/site-packages/numpy", "lib/python3.11/site-packages/pkg/~inner",
          "../victim/~x", "lib/python3.11/site-packages", "", "lib"}) {
        INFO(path);
        const auto outcomes = tree.remove(path);
        CHECK_FALSE(outcomes[0].done);
        CHECK_FALSE(outcomes[0].error.empty());
    }
    CHECK(tree.has("victim/~x"));
    CHECK(tree.has(std::string(k_site) + "pkg/~inner/x.py"));
    CHECK(tree.remove("lib/python3.11/site-packages/~umpy")[0].done);
    CHECK_FALSE(tree.has(std::string(k_site) + "~umpy"));
    CHECK(tree.has(std::string(k_site) + "numpy/x.py"));
}

TEST_CASE("two steps of one finding are done together or not at all") {
    const Tree tree;
    tree.site("own.py");
    tree.distribution("one", "own.py,,\n");
    const auto inventory = read_inventory(tree.prefix());
    REQUIRE(inventory);
    const facts::Claims claims(*inventory);
    rules::CheckFinding found;
    found.repairs = {rules::UninstallPip{"", "one", ""}, rules::RestoreKept{"two", ""}};
    const std::vector<rules::CheckFinding> findings{found};
    const auto outcomes = carry_out(*inventory, claims, steps_of(findings), {});
    REQUIRE(outcomes);
    CHECK_FALSE(outcomes->outcomes[0].done);
    CHECK(outcomes->outcomes[0].error.empty());
    CHECK(outcomes->outcomes[1].error == "there is no kept copy of two");
    CHECK(tree.has(std::string(k_site) + "own.py"));
}

TEST_CASE("where the client has gone before the first change, nothing is changed") {
    const Tree tree;
    tree.site("own.py", "x");
    tree.distribution("one", std::string("own.py,") + k_hash_of_x + ",1\n");
    const auto inventory = read_inventory(tree.prefix());
    REQUIRE(inventory);
    const facts::Claims claims(*inventory);
    rules::CheckFinding found;
    found.repairs = {rules::UninstallPip{"", "one", ""}};
    const std::vector<rules::CheckFinding> findings{found};
    const auto stopped =
        carry_out(*inventory, claims, steps_of(findings), {}, [] { return false; });
    REQUIRE_FALSE(stopped);
    CHECK(stopped.error().code == k_stopped);
    CHECK(tree.has(std::string(k_site) + "own.py"));
    CHECK(tree.has(std::string(k_site) + "one-1.0.dist-info/RECORD"));
    CHECK(tree.uninstall("one").at(0).done);
}
