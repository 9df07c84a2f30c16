#include "host/inventory/read_inventory.hpp"
#include "host/repair/repair.hpp"
#include "host/repair/uninstall.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <filesystem>

using namespace cudaenv;
using namespace cudaenv::host;

namespace fs = std::filesystem;

namespace {

constexpr const char* k_site = "env/lib/python3.11/site-packages/";

struct Scene {
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
        plan::CheckFinding found;
        plan::Repair repair;
        repair.kind = plan::Repair::Kind::UninstallPip;
        repair.distribution = name;
        found.repairs.push_back(repair);
        const std::vector<plan::CheckFinding> findings{found};
        const auto outcomes = carry_out(*inventory, claims, steps_of(findings), {});
        REQUIRE(outcomes);
        return *outcomes;
    }
    std::vector<StepOutcome> remove(const std::string& path) const {
        const auto inventory = read_inventory(prefix());
        REQUIRE(inventory);
        const facts::Claims claims(*inventory);
        plan::CheckFinding found;
        plan::Repair repair;
        repair.path = path;
        found.repairs.push_back(repair);
        const std::vector<plan::CheckFinding> findings{found};
        const auto outcomes = carry_out(*inventory, claims, steps_of(findings), {});
        REQUIRE(outcomes);
        return *outcomes;
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
    const Scene scene;
    scene.tree.file("victim/up", "mine");
    scene.tree.file("victim/absolute", "mine");
    scene.tree.file("victim/linked", "mine");
    scene.tree.link(std::string(k_site) + "shared", scene.tree.path() + "/victim");
    scene.site("own.py");
    scene.distribution("bad", "../../../../victim/up,,\n" + scene.tree.path() +
                                  "/victim/absolute,,\nshared/linked,,\nown.py,,\n");
    const auto outcomes = scene.uninstall("bad");
    CHECK(outcomes[0].done);
    CHECK(outcomes[0].note.find("3 files left, outside") != std::string::npos);
    CHECK(scene.has("victim/up"));
    CHECK(scene.has("victim/absolute"));
    CHECK(scene.has("victim/linked"));
    CHECK_FALSE(scene.has(std::string(k_site) + "own.py"));
    CHECK_FALSE(scene.has(std::string(k_site) + "bad-1.0.dist-info"));
    CHECK_FALSE(scene.has("env/.cudaenv-fix"));
}

TEST_CASE("a file that another distribution claims stays, and so does one that was changed") {
    const Scene scene;
    scene.site("pkg/shared.py");
    scene.site("pkg/same.py", "x");
    scene.site("pkg/changed.py", "changed");
    scene.site("pkg/__pycache__/same.cpython-311.pyc", "compiled");
    scene.site("pkg/__pycache__/samer.cpython-311.pyc", "compiled");
    scene.distribution("one", std::string("pkg/shared.py,,\npkg/same.py,") + k_hash_of_x +
                                  ",1\npkg/changed.py," + k_hash_of_x + ",1\n");
    scene.distribution("two", "pkg/shared.py,,\n");
    const auto outcomes = scene.uninstall("one");
    CHECK(outcomes[0].done);
    CHECK(outcomes[0].note.find("pkg/changed.py") != std::string::npos);
    const std::string pkg = std::string(k_site) + "pkg/";
    CHECK(scene.has(pkg + "shared.py"));
    CHECK(scene.has(pkg + "changed.py"));
    CHECK_FALSE(scene.has(pkg + "same.py"));
    CHECK_FALSE(scene.has(pkg + "__pycache__/same.cpython-311.pyc"));
    CHECK(scene.has(pkg + "__pycache__/samer.cpython-311.pyc"));
    CHECK(scene.has(std::string(k_site) + "two-1.0.dist-info/RECORD"));
}

TEST_CASE("what makes the environment one stays, and so does what a RECORD has without a digest") {
    const Scene scene;
    scene.site("pkg/same.py", "x");
    scene.site("mine.py", "mine");
    scene.site("pkg/__pycache__/other.cpython-311.pyc", "compiled");
    scene.tree.file("env/pyvenv.cfg", "x");
    scene.tree.file("env/bin/python3", "x");
    scene.tree.file("env/bin/activate", "x");
    scene.tree.file("env/bin/tool", "x");
    scene.tree.file("env/conda-meta/history", "x");
    std::string record = "mine.py,,\npkg/__pycache__/other.cpython-311.pyc,,\n";
    for (const char* path :
         {"pkg/same.py", "../../../pyvenv.cfg", "../../../bin/python3", "../../../bin/activate",
          "../../../bin/tool", "../../../conda-meta/history"}) {
        record += std::string(path) + ',' + k_hash_of_x + ",1\n";
    }
    scene.distribution("one", record);
    const auto outcomes = scene.uninstall("one");
    CHECK(outcomes[0].done);
    CHECK(outcomes[0].note.find("5 files left, not as its RECORD says") != std::string::npos);
    for (const char* path :
         {"env/pyvenv.cfg", "env/bin/python3", "env/bin/activate", "env/conda-meta/history"}) {
        INFO(path);
        CHECK(scene.has(path));
    }
    CHECK(scene.has(std::string(k_site) + "mine.py"));
    CHECK_FALSE(scene.has("env/bin/tool"));
    CHECK_FALSE(scene.has(std::string(k_site) + "pkg"));
}

TEST_CASE("directories that are empty then go, up to the site") {
    const Scene scene;
    scene.site("pkg/deep/er/a.py");
    scene.site("other.py");
    scene.distribution("one", "pkg/deep/er/a.py,,\n");
    scene.uninstall("one");
    CHECK_FALSE(scene.has(std::string(k_site) + "pkg"));
    CHECK(scene.has(k_site));
    CHECK(scene.has(std::string(k_site) + "other.py"));
}

TEST_CASE("without a RECORD nothing is uninstalled") {
    const Scene scene;
    scene.site("one-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: one\nVersion: 1.0\n");
    const auto outcomes = scene.uninstall("one");
    CHECK_FALSE(outcomes[0].done);
    CHECK(outcomes[0].error.find("RECORD") != std::string::npos);
    CHECK(scene.has(std::string(k_site) + "one-1.0.dist-info/METADATA"));
}

TEST_CASE("only a leftover in a site is removed") {
    const Scene scene;
    scene.site("~umpy/x.py");
    scene.site("numpy/x.py");
    scene.site("pkg/~inner/x.py");
    scene.tree.file("victim/~x", "mine");
    for (const char* path :
         {"lib/python3.11/site-packages/numpy", "lib/python3.11/site-packages/pkg/~inner",
          "../victim/~x", "lib/python3.11/site-packages", "", "lib"}) {
        INFO(path);
        const auto outcomes = scene.remove(path);
        CHECK_FALSE(outcomes[0].done);
        CHECK_FALSE(outcomes[0].error.empty());
    }
    CHECK(scene.has("victim/~x"));
    CHECK(scene.has(std::string(k_site) + "pkg/~inner/x.py"));
    CHECK(scene.remove("lib/python3.11/site-packages/~umpy")[0].done);
    CHECK_FALSE(scene.has(std::string(k_site) + "~umpy"));
    CHECK(scene.has(std::string(k_site) + "numpy/x.py"));
}

TEST_CASE("two steps of one finding are done together or not at all") {
    const Scene scene;
    scene.site("own.py");
    scene.distribution("one", "own.py,,\n");
    const auto inventory = read_inventory(scene.prefix());
    REQUIRE(inventory);
    const facts::Claims claims(*inventory);
    plan::Repair uninstall;
    uninstall.kind = plan::Repair::Kind::UninstallPip;
    uninstall.distribution = "one";
    plan::Repair kept;
    kept.kind = plan::Repair::Kind::RestoreKept;
    kept.distribution = "two";
    plan::CheckFinding found;
    found.repairs = {uninstall, kept};
    const std::vector<plan::CheckFinding> findings{found};
    const auto outcomes = carry_out(*inventory, claims, steps_of(findings), {});
    REQUIRE(outcomes);
    CHECK_FALSE((*outcomes)[0].done);
    CHECK((*outcomes)[0].error.empty());
    CHECK((*outcomes)[1].error == "nothing is kept of two");
    CHECK(scene.has(std::string(k_site) + "own.py"));
}

TEST_CASE("where the client has gone before the first change, nothing is changed") {
    const Scene scene;
    scene.site("own.py", "x");
    scene.distribution("one", std::string("own.py,") + k_hash_of_x + ",1\n");
    const auto inventory = read_inventory(scene.prefix());
    REQUIRE(inventory);
    const facts::Claims claims(*inventory);
    plan::Repair uninstall;
    uninstall.kind = plan::Repair::Kind::UninstallPip;
    uninstall.distribution = "one";
    plan::CheckFinding found;
    found.repairs = {uninstall};
    const std::vector<plan::CheckFinding> findings{found};
    const auto stopped =
        carry_out(*inventory, claims, steps_of(findings), {}, [] { return false; });
    REQUIRE_FALSE(stopped);
    CHECK(stopped.error().code == k_stopped);
    CHECK(scene.has(std::string(k_site) + "own.py"));
    CHECK(scene.has(std::string(k_site) + "one-1.0.dist-info/RECORD"));
    CHECK(scene.uninstall("one").at(0).done);
}
