#include "environment_after.hpp"

using namespace cudaenv::hooks;
using namespace cudaenv::tests;
using cudaenv::patch::Change;

namespace {

struct Tcsh {
    TemporaryDirectory directory;
    std::string program = on_path("tcsh");

    Tcsh() {
        if (program.empty()) {
            SKIP("no tcsh here; apt install tcsh");
        }
    }
    std::string changes_in(const std::string& name, const std::vector<Change>& changes) const {
        return directory.write(name, k_tcsh.render_changes(changes));
    }
    ShellRun run(const std::string& script, const std::string& locale = "C.UTF-8") const {
        const ShellRun done = run_program(
            {program, "-f", directory.write("script", script)},
            {{"PATH", "/usr/bin:/bin"}, {"HOME", directory.path()}, {"LC_ALL", locale}});
        CHECK(done.err.empty());
        CHECK(done.status == 0);
        return done;
    }
};

} // namespace

TEST_CASE("tcsh makes exactly the changes, whatever the bytes and its settings") {
    const Tcsh tcsh;
    const auto changes = nasty_changes();
    const auto none = unset_all(changes);
    const auto set_file = tcsh.changes_in("set", changes);
    const auto unset_file = tcsh.changes_in("unset", none);
    for (const char* locale : {"C.UTF-8", "C"}) {
        for (const char* before :
             {"", "set noglob noclobber", "set nonomatch", "set backslash_quote",
              "set histchars='@^'", "set histchars='' backslash_quote"}) {
            INFO("after <" << before << "> in " << locale);
            const std::string script = before + std::string("\nsource ") + set_file + "\nenv -0\n";
            check_environment(parsed_environment(tcsh.run(script, locale).out), changes);
        }
    }
    const ShellRun unset = tcsh.run("source " + set_file + "\nsource " + unset_file + "\nenv -0\n");
    check_environment(parsed_environment(unset.out), none);
}

TEST_CASE("tcsh keeps its own settings of quoting") {
    const Tcsh tcsh;
    const auto file = tcsh.changes_in("set", {{"A", "it's!"}});
    const ShellRun run = tcsh.run("set backslash_quote histchars='@^'\nsource " + file +
                                  "\necho $?backslash_quote $histchars $A; set | grep __cudaenv\n"
                                  "unset backslash_quote histchars\nsource " +
                                  file + "\necho $?backslash_quote $?histchars; true\n");
    CHECK(run.out == "1 @^ it's!\n0 0\n");
}

TEST_CASE("tcsh takes a PATH longer than a word once could be") {
    const Tcsh tcsh;
    std::string path = "/usr/bin:/bin";
    while (path.size() < 100'000) {
        path += ":/a directory/of the/number " + std::to_string(path.size());
    }
    const std::vector<Change> changes = {{"PATH", path}};
    const ShellRun run =
        tcsh.run("source " + tcsh.changes_in("set", changes) + "\n/usr/bin/env -0\n");
    check_environment(parsed_environment(run.out), changes);
}

TEST_CASE("what tcsh is to evaluate can be one line where no value has a newline") {
    const Tcsh tcsh;
    const std::vector<Change> changes = {{"A", "it's $x !a *"}, {"B", "/b c"}, {"C", {}}};
    const auto file = tcsh.changes_in("set", changes);
    const ShellRun run = tcsh.run("setenv C 1\neval \"`cat " + file + "`\"\nenv -0\n");
    check_environment(parsed_environment(run.out), changes);
}

TEST_CASE("tcsh keeps venv's copy of PATH and the watch to itself") {
    const Tcsh tcsh;
    const Watch watch{.directory = "/a b", .variables = {{"X", "'; %!"}}, .files = {}};
    const auto text = tcsh.directory.write(
        "text", k_tcsh.render_changes(std::vector<Change>{{"_OLD_VIRTUAL_PATH", "/a b:/c"}}) +
                    k_tcsh.render_watch(watch));
    const ShellRun run = tcsh.run("source " + text +
                                  "\necho $_OLD_VIRTUAL_PATH:q; echo $__cudaenv_watch:q\n"
                                  "env | grep -c -e _OLD_ -e __cudaenv; true\n");
    CHECK(run.out == "/a b:/c\n" + write_watch(watch) + "\n0\n");
}
