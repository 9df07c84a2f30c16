#include "shell_run.hpp"
#include "shellhooks/hooks/prompt_watch.hpp"
#include "shellhooks/hooks/quote.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>

using namespace cudaenv::hooks;
using cudaenv::patch::Change;
using cudaenv::tests::nasty_words;
using cudaenv::tests::on_path;
using cudaenv::tests::run_program;
using cudaenv::tests::TemporaryDirectory;

namespace {

// A shell in a state in which it reads the text, and what brought it there.
struct State {
    const Shell& shell;
    std::string program;
    std::vector<std::string> options;
    std::string before;
    std::string locale = "C.UTF-8";
};

std::vector<State> states() {
    const std::string all_bash = "shopt -s nullglob failglob extglob nocasematch nocaseglob; ";
    return {
        {k_posix, "dash", {}, "set -eu"},
        {k_posix, "dash", {}, "set -euC; IFS=/ab_"},
        {k_posix, "bash", {"--posix"}, "set -euo pipefail"},
        {k_bash, "bash", {"--norc"}, ":"},
        {k_bash, "bash", {"--norc"}, "set -euo pipefail"},
        {k_bash, "bash", {"--norc"}, "set -euo pipefail", "C"},
        {k_bash, "bash", {"--norc"}, "set -eu; set -o posix; set -C"},
        {k_bash, "bash", {"--norc"}, "set -eu; IFS=/ab_=\\'; " + all_bash},
        {k_bash,
         "bash",
         {"--norc", "-O", "expand_aliases"},
         "alias export=false unset=false command=false; "
         "export() { return 1; }; unset() { return 1; }"},
        {k_zsh, "zsh", {"-f"}, ":"},
        {k_zsh, "zsh", {"-f"}, "setopt err_exit no_unset pipe_fail", "C"},
        {k_zsh, "zsh", {"-f"}, "setopt ksh_arrays sh_word_split no_clobber glob_subst"},
        {k_zsh, "zsh", {"-f"}, "setopt extended_glob null_glob warn_create_global all_export"},
        {k_zsh, "zsh", {"-f"}, "alias export=false unset=false; IFS=/ab_="},
    };
}

std::string name_of_word(std::size_t index) {
    return "WORD_" + std::to_string(index);
}

// What `env -0` printed.
std::map<std::string, std::string> parsed(const std::string& zero_separated) {
    std::map<std::string, std::string> out;
    std::size_t at = 0;
    while (at < zero_separated.size()) {
        const std::size_t end = zero_separated.find('\0', at);
        const std::string line = zero_separated.substr(at, end - at);
        const std::size_t equals = line.find('=');
        out[line.substr(0, equals)] = line.substr(equals + 1);
        at = end + 1;
    }
    return out;
}

// As a hook does it: the text comes out of a command substitution and goes into eval.
std::string evaluating(const State& state, const std::string& path, const std::string& then) {
    return state.before + "\ntext=\"$(/bin/cat " + quote_word(k_posix, path) +
           ")\"\n\\eval \"$text\"\n" + then + '\n';
}

cudaenv::tests::ShellRun run_in(const State& state, const TemporaryDirectory& directory,
                                const std::string& script,
                                std::map<std::string, std::string> environment = {}) {
    std::vector<std::string> arguments = {on_path(state.program)};
    arguments.insert(arguments.end(), state.options.begin(), state.options.end());
    arguments.push_back(directory.write("script", script));
    environment.try_emplace("PATH", "/usr/bin:/bin");
    environment["LC_ALL"] = state.locale;
    return run_program(arguments, environment);
}

bool is_here(const State& state) {
    if (on_path(state.program).empty()) {
        WARN("no " << state.program << " here; apt install " << state.program);
        return false;
    }
    return true;
}

} // namespace

TEST_CASE("changes are one command each, and an unexported variable stays so") {
    const std::vector<Change> changes = {
        {"CUDA_HOME", "/usr/local/cuda-11.3"},
        {"CUDA_PATH", std::nullopt},
        {"LD_LIBRARY_PATH", ""},
        {"_OLD_VIRTUAL_PATH", "/a b"},
    };
    CHECK(k_posix.render_changes(changes) ==
          "\\command export CUDA_HOME=/usr/local/cuda-11.3 2>/dev/null || :\n"
          "\\command unset -v CUDA_PATH 2>/dev/null || :\n"
          "\\command export LD_LIBRARY_PATH='' 2>/dev/null || :\n"
          "_OLD_VIRTUAL_PATH='/a b'\n");
    CHECK(k_bash.render_changes({changes.data(), 2}) ==
          "\\command export CUDA_HOME=/usr/local/cuda-11.3 2>/dev/null || :\n"
          "\\command unset -v CUDA_PATH 2>/dev/null || :\n");
    CHECK(k_zsh.render_changes({changes.data(), 2}) ==
          "[[ ${(t)CUDA_HOME-} == *readonly* ]] || "
          "\\builtin export CUDA_HOME=/usr/local/cuda-11.3\n"
          "[[ ${(t)CUDA_PATH-} == *readonly* ]] || \\builtin unset -v CUDA_PATH\n");
    for (const Shell* const each : {&k_posix, &k_bash, &k_zsh}) {
        const Shell& shell = *each;
        CHECK(shell.render_changes({}).empty());
        CHECK(shell.render_changes(std::vector<Change>{{"not a name", "x"}, {"1A", "x"}}).empty());
    }
}

TEST_CASE("a shell that evaluates changes has exactly those, whatever the bytes and its options") {
    const std::vector<std::string> words = nasty_words();
    std::vector<Change> changes;
    for (std::size_t i = 0; i < words.size(); ++i) {
        changes.push_back({name_of_word(i), words[i]});
    }
    changes.push_back({"GONE", std::nullopt});
    changes.push_back({"NEVER_THERE", std::nullopt});
    changes.push_back({"_OLD_VIRTUAL_PATH", "/kept"});
    for (const State& state : states()) {
        if (!is_here(state)) {
            continue;
        }
        INFO(state.program << ": " << state.before);
        const TemporaryDirectory directory;
        const std::string text = directory.write("text", state.shell.render_changes(changes));
        const auto run = run_in(
            state, directory,
            evaluating(state, text,
                       "/usr/bin/env -0 && /usr/bin/printf 'old=%s\\0' \"$_OLD_VIRTUAL_PATH\""),
            {{"GONE", "x"}, {"STAYS", "y"}, {"WORD_1", "before"}});
        CHECK(run.err.empty());
        REQUIRE(run.status == 0);
        const auto environment = parsed(run.out);
        for (std::size_t i = 0; i < words.size(); ++i) {
            INFO("word <" << words[i] << ">");
            REQUIRE(environment.contains(name_of_word(i)));
            CHECK(environment.at(name_of_word(i)) == words[i]);
        }
        CHECK_FALSE(environment.contains("GONE"));
        CHECK_FALSE(environment.contains("NEVER_THERE"));
        CHECK(environment.at("STAYS") == "y");
        CHECK(environment.at("old") == "/kept");
        if (state.before.find("all_export") == std::string::npos) {
            CHECK_FALSE(environment.contains("_OLD_VIRTUAL_PATH"));
        }
    }
}

TEST_CASE("a readonly variable stays, and the changes after it are made") {
    const std::vector<Change> changes = {
        {"CUDA_HOME", "/ours"}, {"CUDA_PATH", std::nullopt}, {"CUDNN_HOME", "/ours"}};
    for (const State& state : states()) {
        if (!is_here(state)) {
            continue;
        }
        INFO(state.program << ": " << state.before);
        const TemporaryDirectory directory;
        const std::string text = directory.write("text", state.shell.render_changes(changes));
        State locked = state;
        locked.before = "readonly CUDA_HOME=/mine CUDA_PATH=/mine\n" + state.before;
        const auto run =
            run_in(locked, directory,
                   evaluating(locked, text, "echo \"$CUDA_HOME $CUDA_PATH $CUDNN_HOME\""));
        CHECK(run.err.empty());
        CHECK(run.status == 0);
        CHECK(run.out == "/mine /mine /ours\n");
    }
}

namespace {

const std::vector<State>& prompt_states() {
    static const std::vector<State> k_states = {
        {k_bash, "bash", {"--norc"}, "set -eu"},
        {k_bash, "bash", {"--norc"}, "set -u", "C"},
        {k_bash, "bash", {"--norc"}, "set -o posix; IFS=/ab_; shopt -s nullglob failglob"},
        {k_zsh, "zsh", {"-f"}, "setopt no_unset err_exit"},
        {k_zsh, "zsh", {"-f"}, ":", "C"},
        {k_zsh, "zsh", {"-f"}, "setopt ksh_arrays sh_word_split glob_subst; IFS=/0"},
    };
    return k_states;
}

constexpr const char* k_verdict = "if __cudaenv_stale; then echo stale; else echo same; fi\n";

} // namespace

TEST_CASE("a watched variable is compared byte for byte, and unset differs from empty") {
    const std::vector<std::string> words = nasty_words();
    for (const State& state : prompt_states()) {
        if (!is_here(state)) {
            continue;
        }
        INFO(state.program << ": " << state.before);
        std::string script = state.before + "\ncd /\n";
        std::string expected;
        for (const std::string& word : words) {
            // Same, longer, unset, empty.
            script += state.shell.render_watch({"/", {{"WATCHED", word}}, {}});
            script += "WATCHED=" + quote_word(state.shell, word) + '\n' + k_verdict;
            script += "WATCHED=" + quote_word(state.shell, word + "x") + '\n' + k_verdict;
            script += "unset WATCHED\n" + std::string(k_verdict);
            script += "WATCHED=\n" + std::string(k_verdict);
            expected += "same\nstale\nstale\n";
            expected += word.empty() ? "same\n" : "stale\n";
        }
        script += state.shell.render_watch({"/", {{"A", {}}, {"WATCHED", {}}, {"Z", {}}}, {}});
        script += "WATCHED=\n" + std::string(k_verdict) + "unset WATCHED\n" + k_verdict;
        expected += "stale\nsame\n";
        const TemporaryDirectory directory;
        const auto run = run_in(state, directory, script);
        CHECK(run.err.empty());
        CHECK(run.status == 0);
        CHECK(run.out == expected);
    }
}

TEST_CASE("a watched directory is $PWD itself") {
    for (const State& state : prompt_states()) {
        if (!is_here(state)) {
            continue;
        }
        const TemporaryDirectory directory;
        const std::string odd = directory.path() + "/a 'b' $(c)\n[d]*é";
        std::filesystem::create_directory(odd);
        const std::string script = state.before + '\n' + state.shell.render_watch({odd, {}, {}}) +
                                   "cd " + quote_word(state.shell, odd) + '\n' + k_verdict +
                                   "cd ..\n" + k_verdict;
        const auto run = run_in(state, directory, script);
        CHECK(run.err.empty());
        CHECK(run.out == "same\nstale\n");
    }
}

namespace {

void set_modified(const std::string& path, long long nanoseconds) {
    const timespec time{.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    const std::array<timespec, 2> times{time, time};
    REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times.data(), 0) == 0);
}

} // namespace

TEST_CASE(
    "a watched file is the same while it is there and as old as its stamp, in both directions") {
    constexpr long long k_time = 1700000000123456789;
    for (const State& state : prompt_states()) {
        if (!is_here(state)) {
            continue;
        }
        INFO(state.program << ": " << state.before);
        const TemporaryDirectory directory;
        const std::string file = directory.write("it's *", "x");
        const std::string stamp = directory.write("stamp", "");
        const std::string before = directory.write("before", "");
        const std::string after = directory.write("after", "");
        set_modified(stamp, k_time);
        set_modified(before, k_time - 1);
        set_modified(after, k_time + 1);
        const WatchedFile watched{file,   true, stamp, k_time, WatchedFile::Seen::Time,
                                  before, after};
        const std::string script = state.before + '\n' +
                                   state.shell.render_watch({directory.path(), {}, {watched}}) +
                                   "cd " + directory.path() + '\n' + k_verdict;
        const auto verdict = [&] {
            const auto run = run_in(state, directory, script);
            CHECK(run.err.empty());
            return run.out;
        };
        set_modified(file, k_time);
        CHECK(verdict() == "same\n");
        set_modified(file, k_time + 1);
        CHECK(verdict() == "stale\n");
        set_modified(file, k_time - 1);
        CHECK(verdict() == "stale\n");
        set_modified(file, k_time);
        for (const std::string& gone : {stamp, before, after}) {
            std::filesystem::remove(gone);
        }
        CHECK(verdict() == "stale\n");
        std::filesystem::remove(file);
        CHECK(verdict() == "stale\n"); // all are gone
        for (const char* back : {"stamp", "before", "after"}) {
            std::ignore = directory.write(back, "");
        }
        CHECK(verdict() == "stale\n");
    }
}

TEST_CASE("a file that was not there is watched for") {
    for (const State& state : prompt_states()) {
        if (!is_here(state)) {
            continue;
        }
        const TemporaryDirectory directory;
        const std::string file = directory.path() + "/cudaenv.toml";
        const std::string script = state.before + "\ncd /\n" +
                                   state.shell.render_watch({"/", {}, {{file, false, "", 0}}}) +
                                   k_verdict + "echo > " + file + '\n' + k_verdict;
        CHECK(run_in(state, directory, script).out == "same\nstale\n");
    }
}

TEST_CASE("a watch that cannot be compared is stale") {
    const auto stale_in = [](const Shell& shell) {
        return std::string(&shell == &k_bash ? "__cudaenv_check=:\n" : "") +
               "function __cudaenv_stale {\n:\n}\n";
    };
    for (const Shell* const each : {&k_bash, &k_zsh}) {
        const Shell& shell = *each;
        const std::string stale = stale_in(shell);
        CHECK(shell.render_watch({}) == stale);
        CHECK(shell.render_watch({"/p", {}, {{"/p/cudaenv.toml", true, "", 0}}}) == stale);
    }
    CHECK(k_bash.render_watch({"/p", {}, {{"/p/cudaenv.toml", true, "", 1}}}) == stale_in(k_bash));
    CHECK(k_zsh.render_watch({"/p", {}, {{"/p/cudaenv.toml", true, "/s", 1}}}) == stale_in(k_zsh));
    CHECK(k_posix.render_watch({"/p", {}, {}}).empty());
}

TEST_CASE("with nocasematch a watch of bash is stale by itself") {
    if (on_path("bash").empty()) {
        SKIP("no bash here; apt install bash");
    }
    const TemporaryDirectory directory;
    const State state{k_bash, "bash", {"--norc"}, "shopt -s nocasematch"};
    const std::string script = state.before + "\ncd /\n" +
                               k_bash.render_watch({"/", {{"WATCHED", "/a"}}, {}}) +
                               "WATCHED=/A\n" + k_verdict;
    CHECK(run_in(state, directory, script).out == "stale\n");
}

TEST_CASE("bash's prompt check agrees with its function, and under set -u defers to it") {
    if (on_path("bash").empty()) {
        SKIP("no bash here; apt install bash");
    }
    const TemporaryDirectory directory;
    const std::string verdict =
        "if eval \"$__cudaenv_check\"; then echo stale; else echo same; fi\n";
    const State state{k_bash, "bash", {"--norc"}, ""};
    const std::string script =
        "cd /\nA=/a B=\n" + k_bash.render_watch({"/", {{"A", "/a"}, {"B", ""}}, {}}) + verdict +
        "A=/b\n" + verdict + "unset A\n" + verdict + "A=/a\n" + verdict + "unset B\n" + verdict +
        "B=\nset -u\n" + verdict + k_verdict + "unset A\n" + verdict + k_verdict;
    const auto run = run_in(state, directory, script);
    CHECK(run.err.empty());
    CHECK(run.out == "same\nstale\nstale\nsame\nstale\nstale\nsame\nstale\nstale\n");
}

TEST_CASE("a watch compares the variables in one row, and then the files") {
    const Watch watch{
        "/p",
        {{"CC", std::nullopt},
         {"CONDA_PREFIX", "/e"},
         {"CXX", ""},
         {"VIRTUAL_ENV", {}},
         {"not a name", {}}},
        {{"/p/cudaenv.toml", true, "/s/1", 1, WatchedFile::Seen::Time, "/s/0", "/s/2"},
         {"/cudaenv.toml", false, "", 0},
         {"/usr/bin/nvcc", true, "", 1, WatchedFile::Seen::Existence},
         {"/usr/local", true, "/s/2", 2, WatchedFile::Seen::Newer, "/s/1", "/s/3"},
         {"/config.toml", true, "", 2, WatchedFile::Seen::WhereFree}}};
    const std::string files = "$__cudaenv_1 -nt $__cudaenv_2 ||\n"
                              "$__cudaenv_1 -ot $__cudaenv_2 ||\n"
                              "-e $__cudaenv_3 ||\n"
                              "! -e $__cudaenv_4 ||\n"
                              "$__cudaenv_5 -nt $__cudaenv_6";
    CHECK(k_bash.render_watch(watch) ==
          "__cudaenv_0=/p,,/e\n"
          "__cudaenv_1=./cudaenv.toml\n"
          "__cudaenv_2=/s/1\n"
          "__cudaenv_3=/cudaenv.toml\n"
          "__cudaenv_4=/usr/bin/nvcc\n"
          "__cudaenv_5=/usr/local\n"
          "__cudaenv_6=/s/2\n"
          "__cudaenv_check=" +
              quote_word(k_bash, "[[ -o nounset ||\n"
                                 "a$PWD,${CC+x}${CXX-x}$VIRTUAL_ENV,$CONDA_PREFIX != "
                                 "[!A]$__cudaenv_0 ||\n" +
                                     files + " ]]") +
              "\n\\command export -n __cudaenv_0 __cudaenv_1 __cudaenv_2 __cudaenv_3 __cudaenv_4 "
              "__cudaenv_5 __cudaenv_6 __cudaenv_check\n"
              "function __cudaenv_stale {\n"
              "[[ a${PWD-},${CC+x}${CXX-x}${VIRTUAL_ENV+x},${CONDA_PREFIX-} != [!A]$__cudaenv_0 "
              "||\n" +
              files + " ]]\n}\n");
    CHECK(k_zsh.render_watch(watch) == "function __cudaenv_stale {\n"
                                       "[[ -v CC ||\n"
                                       "-v VIRTUAL_ENV ||\n"
                                       "${PWD-},${CXX-x},${CONDA_PREFIX-} != /p,,/e ||\n"
                                       "! /s/2 -nt ./cudaenv.toml ||\n"
                                       "! ./cudaenv.toml -nt /s/0 ||\n"
                                       "-e /cudaenv.toml ||\n"
                                       "! -e /usr/bin/nvcc ||\n"
                                       "! /s/3 -nt /usr/local ]]\n}\n");
}

TEST_CASE("values that hold every mark are compared one by one") {
    const Watch watch{"/a,:%@=", {{"B", "x"}}, {}};
    for (const State& state : prompt_states()) {
        if (!is_here(state)) {
            continue;
        }
        const TemporaryDirectory directory;
        const auto run = run_in(state, directory,
                                state.before + '\n' + state.shell.render_watch(watch) +
                                    "PWD=/a,:%@=\nB=x\n" + k_verdict + "B=y\n" + k_verdict);
        CHECK(run.err.empty());
        CHECK(run.out == "same\nstale\n");
    }
}

TEST_CASE("a value that moves over a mark to its neighbour is another") {
    const Watch watch{"/", {{"A", "1,2"}, {"B", "3"}, {"C", "4"}}, {}};
    for (const State& state : prompt_states()) {
        if (!is_here(state)) {
            continue;
        }
        std::string script = state.before + "\ncd /\n" + state.shell.render_watch(watch);
        for (const char* values : {"A=1,2 B=3 C=4", "A=1 B=2,3 C=4",
                                   "A=1,2 B=3:4 C=", "A=1,2:3 B= C=4", "A=1,2 B= C=3:4"}) {
            script += std::string(values) + '\n' + k_verdict;
        }
        const TemporaryDirectory directory;
        CHECK(run_in(state, directory, script).out == "same\nstale\nstale\nstale\nstale\n");
    }
}

TEST_CASE("of a file that only has to be there no more is seen") {
    for (const State& state : prompt_states()) {
        if (!is_here(state)) {
            continue;
        }
        const TemporaryDirectory directory;
        const std::string file = directory.write("nvcc", "");
        const Watch watch{"/", {}, {{file, true, "", 1, WatchedFile::Seen::Existence}}};
        const std::string script =
            state.before + "\ncd /\n" + state.shell.render_watch(watch) + k_verdict;
        CHECK(run_in(state, directory, script).out == "same\n");
        std::filesystem::remove(file);
        CHECK(run_in(state, directory, script).out == "stale\n");
    }
}

TEST_CASE("of a directory a newer time is seen, and that its stamps are gone") {
    constexpr long long k_time = 1700000000123456789;
    for (const State& state : prompt_states()) {
        if (!is_here(state)) {
            continue;
        }
        const TemporaryDirectory directory; // of the script
        const TemporaryDirectory place;
        const std::string watched = place.write("site-packages", "");
        const std::string stamp = place.write("stamp", "");
        const std::string after = place.write("after", "");
        set_modified(stamp, k_time);
        set_modified(after, k_time + 1);
        const Watch watch{
            "/",
            {},
            {{watched, true, stamp, k_time, WatchedFile::Seen::Newer, "/unused", after},
             {place.path(), true, stamp, k_time, WatchedFile::Seen::Newer, "/unused", after}}};
        const std::string script =
            state.before + "\ncd /\n" + state.shell.render_watch(watch) + k_verdict;
        const auto verdict = [&] {
            set_modified(place.path(), k_time);
            return run_in(state, directory, script).out;
        };
        set_modified(watched, k_time);
        CHECK(verdict() == "same\n");
        set_modified(watched, k_time + 1);
        CHECK(verdict() == "stale\n");
        set_modified(watched, k_time);
        std::filesystem::remove(stamp);
        std::filesystem::remove(after);
        CHECK(verdict() == "stale\n");
    }
}
