#include "environment_after.hpp"

using namespace cudaenv::hooks;
using namespace cudaenv::tests;
using cudaenv::patch::Change;

namespace {

struct Fish {
    TemporaryDirectory directory;
    std::string program = on_path("fish");

    Fish() {
        if (program.empty()) {
            SKIP("no fish here; apt install fish");
        }
    }
    std::string changes_in(const std::string& name, const std::vector<Change>& changes) const {
        return directory.write(name, k_fish.render_changes(changes));
    }
    ShellRun run(const std::string& script, Environment environment = {},
                 const std::string& locale = "C.UTF-8") const {
        environment.try_emplace("PATH", "/usr/bin:/bin");
        environment["HOME"] = directory.path(); // universal variables lie there
        environment["LC_ALL"] = locale;
        // Not --no-config, which makes universal variables global ones.
        const ShellRun done =
            run_program({program, directory.write("script", script)}, environment);
        CHECK(done.err.empty());
        CHECK(done.status == 0);
        return done;
    }
};

} // namespace

TEST_CASE("fish makes exactly the changes, whatever the bytes, and takes them back") {
    const Fish fish;
    const auto changes = nasty_changes();
    for (const char* locale : {"C.UTF-8", "C"}) {
        const ShellRun set =
            fish.run("source " + fish.changes_in("set", changes) + "\nenv -0", {}, locale);
        check_environment(parsed_environment(set.out), changes);
    }
    const auto none = unset_all(changes);
    const ShellRun unset = fish.run("source " + fish.changes_in("set", changes) + "\nsource " +
                                    fish.changes_in("unset", none) + "\nenv -0");
    check_environment(parsed_environment(unset.out), none);
}

TEST_CASE("fish's lists come back as the lists they were") {
    const Fish fish;
    const auto there = fish.changes_in("there", {{"CC", "/opt/gcc"}, {"PATH", "/x:/usr/bin:/bin"}});
    const auto back = fish.changes_in("back", {{"CC", "gcc -m64"}, {"PATH", "/usr/bin:/bin"}});
    const ShellRun run = fish.run("set -gx CC gcc -m64\nsource " + there +
                                  "\necho $CC (count $PATH) $PATH[1]\nsource " + back +
                                  "\ncount $CC; count $PATH; set -n | string match '__cudaenv_*'; "
                                  "true");
    CHECK(run.out == "/opt/gcc 3 /x\n2\n2\n");
}

TEST_CASE("fish's universal variables are only covered, and show again") {
    const Fish fish;
    const auto there = fish.changes_in("there", {{"CUDA_HOME", "/ours"}});
    const auto back = fish.changes_in("back", {{"CUDA_HOME", "/mine"}});
    const auto gone = fish.changes_in("gone", {{"CUDA_HOME", {}}});
    const ShellRun run = fish.run(
        "set -Ux CUDA_HOME /mine\nsource " + there + "\necho $CUDA_HOME\nsource " + back +
        "\necho $CUDA_HOME; set -qg CUDA_HOME; or echo no global\nset -U CUDA_HOME /other; echo "
        "$CUDA_HOME\nsource " +
        there + "\nsource " + gone + "\necho $CUDA_HOME");
    CHECK(run.out == "/ours\n/mine\nno global\n/other\n/other\n");
}

TEST_CASE("fish keeps venv's copy of PATH as exported as it was") {
    const Fish fish;
    const auto change = fish.changes_in("change", {{"_OLD_VIRTUAL_PATH", "/a:/b"}});
    const ShellRun plain = fish.run("set -g _OLD_VIRTUAL_PATH /x\nsource " + change +
                                    "\ncount $_OLD_VIRTUAL_PATH; env | grep _OLD_; true");
    CHECK(plain.out == "2\n");
    const ShellRun exported = fish.run("set -gx _OLD_VIRTUAL_PATH /x\nsource " + change +
                                       "\ncount $_OLD_VIRTUAL_PATH; env | grep _OLD_; true");
    CHECK(exported.out == "2\n_OLD_VIRTUAL_PATH=/a:/b\n");
}

TEST_CASE("fish is handed the watch in a variable that it does not export") {
    const Fish fish;
    const Watch watch{.directory = "/a b", .variables = {{"X", "'; %"}}, .files = {}};
    const auto text = fish.directory.write("watch", k_fish.render_watch(watch));
    const ShellRun run =
        fish.run("source " + text + "\necho $__cudaenv_watch; env | grep __cudaenv; true");
    CHECK(run.out == write_watch(watch) + '\n');
}
