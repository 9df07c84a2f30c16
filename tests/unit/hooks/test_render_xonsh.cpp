#include "environment_after.hpp"

using namespace cudaenv::hooks;
using namespace cudaenv::tests;
using cudaenv::patch::Change;

namespace {

struct Xonsh {
    TemporaryDirectory directory;
    std::string program = on_path("xonsh");

    Xonsh() {
        if (program.empty()) {
            SKIP("no xonsh here; apt install xonsh");
        }
    }
    // A command of xonsh that carries out the changes.
    std::string changes_in(const std::string& name, const std::vector<Change>& changes) const {
        const auto file = directory.write(name, k_xonsh.render_changes(changes));
        return "execx(open('" + file + "').read())\n";
    }
    ShellRun run(const std::string& script, Environment environment = {},
                 const std::string& locale = "C.UTF-8") const {
        environment.try_emplace("PATH", "/usr/bin:/bin");
        environment["HOME"] = directory.path();
        environment["LC_ALL"] = locale;
        const ShellRun done =
            run_program({program, "--no-rc", directory.write("script.xsh", script)}, environment);
        CHECK(done.err.empty());
        CHECK(done.status == 0);
        return done;
    }
};

constexpr const char* k_print_environment =
    "import subprocess as s; "
    "s.run(['/usr/bin/env', '-0'], env=__xonsh__.env.detype())\n";

} // namespace

TEST_CASE("xonsh makes exactly the changes, whatever the bytes, and takes them back") {
    const Xonsh xonsh;
    const auto changes = nasty_changes();
    const auto none = unset_all(changes);
    const auto set = xonsh.changes_in("set", changes);
    for (const char* locale : {"C.UTF-8", "C"}) {
        check_environment(parsed_environment(xonsh.run(set + k_print_environment, {}, locale).out),
                          changes);
    }
    const ShellRun unset = xonsh.run(set + xonsh.changes_in("unset", none) + k_print_environment);
    check_environment(parsed_environment(unset.out), none);
}

TEST_CASE("xonsh's own objects come back where their text does") {
    const Xonsh xonsh;
    const std::string home = xonsh.directory.path();
    const auto there = xonsh.changes_in(
        "there", {{"LD_LIBRARY_PATH", "/ours:" + home + "/lib"}, {"MAX_JOBS", "4"}});
    const auto back =
        xonsh.changes_in("back", {{"LD_LIBRARY_PATH", home + "/lib"}, {"MAX_JOBS", "8"}});
    const ShellRun run = xonsh.run("$LD_LIBRARY_PATH = ['~/lib']\n$MAX_JOBS = 8\n" + there +
                                   "print($LD_LIBRARY_PATH[0], repr($MAX_JOBS))\n" + back +
                                   "print($LD_LIBRARY_PATH, repr($MAX_JOBS))\n");
    CHECK(run.out == "/ours '4'\n['~/lib'] 8\n");
}

TEST_CASE("xonsh still expands what the user adds to a path of ours") {
    const Xonsh xonsh;
    const auto there = xonsh.changes_in("there", {{"LD_LIBRARY_PATH", "/$HOME/ours"}});
    const ShellRun run = xonsh.run(there + "$LD_LIBRARY_PATH.append('~/mine')\n"
                                           "print(__xonsh__.env.detype()['LD_LIBRARY_PATH'])\n");
    CHECK(run.out == "/$HOME/ours:" + xonsh.directory.path() + "/mine\n");
}

TEST_CASE("xonsh's changes leave no name behind") {
    const Xonsh xonsh;
    const ShellRun run = xonsh.run(xonsh.changes_in("there", {{"A", "b"}}) +
                                   "print([n for n in dir() if 'cudaenv' in n])\n");
    CHECK(run.out == "[]\n");
}

TEST_CASE("xonsh's list of what vox keeps is changed in place, and no variable is made of it") {
    const Xonsh xonsh;
    const auto answer = [&](const std::string& name, const std::string& value) {
        xonsh.changes_in(name, {{"_OLD_VIRTUAL_PATH", value}});
        return "exec(open('" + xonsh.directory.path() + "/" + name + "').read(), names)\n";
    };
    const auto change = answer("change", "/a b:/c");
    const ShellRun run =
        xonsh.run("kept = ['/ours', '/a b', '/c']\nnames = {'__cudaenv_kept_path': kept}\n" +
                  change + "print(kept, '_OLD_VIRTUAL_PATH' in __xonsh__.env.detype())\n" +
                  answer("empty", "") + "print(kept)\nnames['__cudaenv_kept_path'] = None\n" +
                  change + "print(kept, __xonsh__.env.detype()['_OLD_VIRTUAL_PATH'])\n");
    CHECK(run.out == "['/a b', '/c'] False\n[]\n[] /a b:/c\n");
}
