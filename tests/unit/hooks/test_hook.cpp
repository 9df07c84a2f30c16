#include "shell_run.hpp"
#include "shellhooks/hooks/hook_text.hpp"
#include "shellhooks/hooks/quote.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv::hooks;

TEST_CASE("every hooked shell has a hook in which nothing is left to be filled in") {
    for (const Shell* const each : shells()) {
        const Shell& shell = *each;
        if (shell.hook == nullptr) {
            continue;
        }
        INFO(shell.name);
        const std::string text = hook_text(shell, {"/opt/cuda env/bin/cudaenv", true});
        CHECK_FALSE(text.empty());
        CHECK(text.find("@CUDAENV_") == std::string::npos);
        CHECK(text.find(quote_word(shell, "/opt/cuda env/bin/cudaenv")) != std::string::npos);
        CHECK(text != hook_text(shell, {"/opt/cuda env/bin/cudaenv", false}));
    }
}

TEST_CASE("a program whose path looks like a mark is put in as it is") {
    const std::string text = hook_text(k_bash, {"/@CUDAENV_WRAP@/@CUDAENV_PROGRAM@", true});
    CHECK(text.find("__cudaenv_program=/@CUDAENV_WRAP@/@CUDAENV_PROGRAM@\n") != std::string::npos);
}

TEST_CASE("bash and zsh read their hooks without a word, whatever their options") {
    struct Case {
        const Shell& shell;
        std::string program;
        std::string before;
    };
    for (const Case& one : std::vector<Case>{
             {k_bash, "bash", "set -euo pipefail"},
             {k_bash, "bash", "set -eu; set -o posix"},
             {k_bash, "bash", "set -aeuC; shopt -s nullglob failglob extglob; IFS=_abc"},
             {k_zsh, "zsh", "setopt err_exit no_unset pipe_fail"},
             {k_zsh, "zsh", "setopt ksh_arrays sh_word_split no_clobber extended_glob"},
             {k_zsh, "zsh", "setopt all_export warn_create_global rc_quotes glob_subst"},
         }) {
        const std::string shell = cudaenv::tests::on_path(one.program);
        if (shell.empty()) {
            WARN("no " << one.program << " here; apt install " << one.program);
            continue;
        }
        INFO(one.program << ": " << one.before);
        const cudaenv::tests::TemporaryDirectory directory;
        const std::string hook =
            directory.write("hook", hook_text(one.shell, {"/no such/cudaenv", true}));
        const std::string once = "eval \"$(/bin/cat " + hook + ")\"\n";
        const auto run = cudaenv::tests::run_program(
            {shell, directory.write("script", one.before + '\n' + once + once +
                                                  "/usr/bin/env\n__cudaenv_unhook\necho done\n")},
            {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C.UTF-8"}});
        CHECK(run.err.empty());
        CHECK(run.status == 0);
        CHECK(run.out.ends_with("done\n"));
        CHECK(run.out.find("__cudaenv_") == std::string::npos); // nothing of it is exported
    }
}
