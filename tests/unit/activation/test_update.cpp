#include "shellhooks/patch/update.hpp"

#include <catch2/catch_test_macros.hpp>

namespace {

using namespace cudaenv::patch;

Patch cuda(const std::string& version) {
    const std::string root = "/usr/local/cuda-" + version;
    return {{{"CUDA_HOME", root}, {"CUDA_PATH", root}}, {{"PATH", root + "/bin", End::Front}}};
}

Variables shell() {
    return {{"PATH", "/usr/bin:/bin"}, {"CONDA_PREFIX", "/e/a"}};
}

Variables updated(const Variables& from, const Patch& patch, std::string_view project = "/p") {
    return update(from, patch, "here", context_of(undo(from), project)).environment;
}

} // namespace

TEST_CASE("updating twice changes nothing the second time") {
    const auto once = updated(shell(), cuda("11.3"));
    CHECK(once.at("PATH") == "/usr/local/cuda-11.3/bin:/usr/bin:/bin");
    CHECK(difference(once, updated(once, cuda("11.3"))).empty());
}

TEST_CASE("what the user puts before our entry stays before it") {
    auto now = updated(shell(), cuda("11.3"));
    now["PATH"] = "/home/u/bin:" + now["PATH"];
    const auto again = updated(now, cuda("11.3"));
    CHECK(again.at("PATH") == "/home/u/bin:/usr/local/cuda-11.3/bin:/usr/bin:/bin");
    CHECK(undo(again).at("PATH") == "/home/u/bin:/usr/bin:/bin");
}

TEST_CASE("an entry that the user took out comes back, and leaves no trace") {
    auto now = updated(shell(), cuda("11.3"));
    now["PATH"] = "/usr/bin:/bin";
    const auto again = updated(now, cuda("11.3"));
    CHECK(again.at("PATH") == "/usr/local/cuda-11.3/bin:/usr/bin:/bin");
    CHECK(undo(again) == shell());
}

TEST_CASE("another patch replaces the first and is undone to the same shell") {
    const auto first = updated(shell(), cuda("11.3"));
    const auto second = updated(first, cuda("12.4"));
    CHECK(second.at("CUDA_HOME") == "/usr/local/cuda-12.4");
    CHECK(second.at("PATH") == "/usr/local/cuda-12.4/bin:/usr/bin:/bin");
    CHECK(undo(second) == shell());
}

TEST_CASE("another environment puts our entries in front again") {
    auto now = updated(shell(), cuda("11.3"));
    now["PATH"] = "/e/b/bin:" + now["PATH"];
    now["CONDA_PREFIX"] = "/e/b";
    CHECK(updated(now, cuda("11.3")).at("PATH") ==
          "/usr/local/cuda-11.3/bin:/e/b/bin:/usr/bin:/bin");
}

TEST_CASE("a journal written on another machine is undone and written again") {
    const auto there = updated(shell(), cuda("11.3"));
    const auto here = update(there, cuda("11.3"), "node-7", context_of(shell(), "/p"));
    CHECK(here.environment.at("CUDA_HOME") == "/usr/local/cuda-11.3");
    CHECK(read_journal(here.environment.at(std::string(k_journal_variable)))->place == "node-7");
    CHECK(undo(here.environment) == shell());
}

TEST_CASE("a decision that changes nothing is remembered until it is undone") {
    const auto now = updated(shell(), {});
    const auto journal = read_journal(now.at(std::string(k_journal_variable)));
    CHECK(journal->place == "here");
    CHECK(journal->context == context_of(shell(), "/p"));
    CHECK(difference(now, updated(now, {})).empty());
    CHECK(undo(now) == shell());
}

TEST_CASE("a shell has left when its environment, its version or its project is another") {
    const auto context = context_of(shell(), "/p/apex");
    CHECK(still_in(context, shell(), "/p/apex"));
    CHECK_FALSE(still_in(context, shell(), "/p/apex/csrc"));
    CHECK_FALSE(still_in(context, shell(), "/p"));
    CHECK_FALSE(still_in(context, shell(), ""));
    auto other = shell();
    other["CONDA_PREFIX"] = "/e/a2";
    CHECK_FALSE(still_in(context, other, "/p/apex"));
    other = shell();
    other["CUDAENV_CUDA"] = "12.4";
    CHECK_FALSE(still_in(context, other, "/p/apex"));
    other = shell();
    other.erase("CONDA_PREFIX");
    CHECK_FALSE(still_in(context, other, "/p/apex"));
    CHECK(still_in(context_of({}, ""), {}, ""));
    CHECK_FALSE(still_in(context_of({}, ""), {}, "/p/apex"));
}

TEST_CASE("a value of ours that somebody saved and restored is taken back with the rest") {
    auto now = updated(shell(), cuda("11.3"));
    now["CUDA_HOME"] = "/opt/theirs"; // and they keep /usr/local/cuda-11.3 to restore it
    Patch respectful{{}, {{"PATH", "/opt/theirs/bin", End::Front}}};
    auto theirs = updated(now, respectful);
    CHECK(theirs.at("CUDA_HOME") == "/opt/theirs");
    CHECK(undo(theirs).at("CUDA_HOME") == "/opt/theirs");
    theirs["CUDA_HOME"] = "/usr/local/cuda-11.3";
    const auto again = updated(theirs, cuda("11.3"));
    CHECK(undo(again) == shell());
}

TEST_CASE("what the user has set is distinguished from what was set before the hook") {
    using Names = std::vector<std::string>;
    const Names both{"CUDA_HOME", "CUDA_PATH"};
    const Variables hooked{{"CUDA_HOME", "/sys"},
                           {"CUDA_PATH", "/sys"},
                           {"__cudaenv_found_home", "/sys"},
                           {"__cudaenv_found_path", "/sys"},
                           {"__cudaenv_found_journal", ""}};
    CHECK(inherited_variables(hooked) == both);
    CHECK(inherited_variables(updated(hooked, cuda("11.3"))) == both);

    const auto with = [](Variables shell, const std::string& name, const std::string& value) {
        shell[name] = value;
        return shell;
    };
    // A hook in a shell within finds what the one around it has set.
    const auto within = [&](Variables shell) {
        shell["__cudaenv_found_home"] = shell.at("CUDA_HOME");
        shell["__cudaenv_found_path"] = shell.at("CUDA_PATH");
        shell["__cudaenv_found_journal"] = shell.at(std::string(k_journal_variable));
        return shell;
    };
    SECTION("another value, or the same over ours, is the user's") {
        CHECK(inherited_variables(with(hooked, "CUDA_HOME", "/mine")) == Names{"CUDA_PATH"});
        const auto active = updated(hooked, cuda("11.3"));
        const auto set = updated(with(active, "CUDA_HOME", "/sys"), cuda("11.3"));
        CHECK(inherited_variables(set) == Names{"CUDA_PATH"});
        CHECK(inherited_variables(within(set)) == Names{"CUDA_PATH"});
    }
    SECTION("a shell within an active one comes to the same, whatever is active later") {
        auto inner = within(updated(hooked, cuda("11.3")));
        CHECK(inherited_variables(inner) == both);
        CHECK(inherited_variables(updated(inner, cuda("12.4"))) == both);
        inner = within(updated(with(hooked, "CUDA_HOME", "/mine"), {}));
        CHECK(inherited_variables(inner) == Names{"CUDA_PATH"});
        CHECK(inherited_variables(undo(inner)) == Names{"CUDA_PATH"});
    }
    SECTION("a login shell within, whose profile sets it over ours") {
        const auto login = within(with(updated(hooked, cuda("11.3")), "CUDA_HOME", "/sys"));
        CHECK(inherited_variables(login) == both);
        CHECK(inherited_variables(updated(login, cuda("12.4"))) == both);
    }
    SECTION("without a hook nothing is known but what the journal says") {
        CHECK(inherited_variables({{"CUDA_HOME", "/mine"}}) == Names{"CUDA_HOME"});
        Variables script = updated(with(hooked, "CUDA_HOME", "/mine"), {});
        std::erase_if(script, [](const auto& one) { return one.first.starts_with("__cudaenv"); });
        CHECK(inherited_variables(script) == Names{"CUDA_PATH"});
    }
}
