#include "base/variables.hpp"
#include "shellhooks/patch/direnv_diff.hpp"
#include "shellhooks/patch/journal_compare.hpp"
#include "shellhooks/patch/patch.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <map>

using namespace cudaenv;
using namespace cudaenv::patch;

namespace {

constexpr auto k_journal = "__CUDAENV_UNDO";

// CUDA 11.3 as a shell gets it.
Patch toolkit(const std::string& root) {
    return {{{"CUDA_HOME", root}, {"CUDA_PATH", root}},
            {{"PATH", root + "/bin", End::Front}, {"LD_LIBRARY_PATH", root + "/lib64", End::Back}}};
}

Patch front(const std::string& list, const std::vector<std::string>& entries) {
    Patch patch;
    for (const auto& entry : entries) {
        patch.entries.push_back({list, entry, End::Front});
    }
    return patch;
}

Patch back(const std::string& list, const std::vector<std::string>& entries) {
    Patch patch;
    for (const auto& entry : entries) {
        patch.entries.push_back({list, entry, End::Back});
    }
    return patch;
}

Variables applied(const Variables& base, const Patch& patch) {
    return apply(base, patch, "host/boot", "context").environment;
}

std::string value(const Variables& environment, const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? "(unset)" : found->second;
}

// The list after leaving, where it was `before` and the user made `edited` of what was active.
std::string left(const Variables& before, const Patch& patch, const std::string& list,
                 const std::string& active, const std::string& edited) {
    Variables shell = applied(before, patch);
    REQUIRE(value(shell, list) == active);
    shell[list] = edited;
    const Variables after = undo(shell);
    CHECK_FALSE(after.contains(k_journal));
    return value(after, list);
}

} // namespace

TEST_CASE("a toolkit is put in front of PATH and behind LD_LIBRARY_PATH, and goes again") {
    const Variables base{{"HOME", "/h"}, {"PATH", "/usr/bin:/bin"}, {"LD_LIBRARY_PATH", "/mine"}};
    const Variables shell = applied(base, toolkit("/opt/cuda-11.3"));
    CHECK(value(shell, "CUDA_HOME") == "/opt/cuda-11.3");
    CHECK(value(shell, "CUDA_PATH") == "/opt/cuda-11.3");
    CHECK(value(shell, "PATH") == "/opt/cuda-11.3/bin:/usr/bin:/bin");
    CHECK(value(shell, "LD_LIBRARY_PATH") == "/mine:/opt/cuda-11.3/lib64");
    CHECK(value(shell, "HOME") == "/h");
    CHECK(undo(shell) == base);
    CHECK(undo(undo(shell)) == base);
}

TEST_CASE("unset, empty and set come back as what they were") {
    const Patch patch{{{"CUDA_HOME", "/c"}, {"CC", "gcc-9"}, {"CXX", "g++-9"}},
                      {{"LD_LIBRARY_PATH", "/c/lib", End::Back},
                       {"LIBRARY_PATH", "/c/lib", End::Back},
                       {"PATH", "/c/bin", End::Front}}};
    const Variables base{{"CUDA_HOME", ""}, {"CC", "cc"}, {"LIBRARY_PATH", ""}, {"PATH", "/bin"}};
    const Variables shell = applied(base, patch);
    CHECK(value(shell, "LD_LIBRARY_PATH") == "/c/lib");
    CHECK(value(shell, "LIBRARY_PATH") == "/c/lib");
    CHECK(undo(shell) == base);
}

TEST_CASE("of several entries at an end the first stands first") {
    CHECK(value(applied({{"PATH", "/bin"}}, front("PATH", {"/a", "/b"})), "PATH") == "/a:/b:/bin");
    CHECK(value(applied({{"PATH", "/bin"}}, back("PATH", {"/a", "/b"})), "PATH") == "/bin:/a:/b");
}

TEST_CASE("what is there already is left alone, and then there is no journal") {
    const Variables base{
        {"CUDA_HOME", "/c"}, {"PATH", "/c/bin:/bin"}, {"LIBRARY_PATH", "/l:/c/lib"}};
    Patch patch{{{"CUDA_HOME", "/c"}},
                {{"PATH", "/c/bin", End::Front}, {"LIBRARY_PATH", "/c/lib", End::Back}}};
    const Applied none = apply(base, patch, "host/boot", "context");
    CHECK(none.environment == base);
    CHECK(none.journal.empty());
    CHECK(apply(base, {}, "host/boot", "context").environment == base);

    const Variables elsewhere{{"PATH", "/bin:/c/bin"}};
    CHECK(value(applied(elsewhere, front("PATH", {"/c/bin"})), "PATH") == "/c/bin:/bin:/c/bin");
    CHECK(undo(applied(elsewhere, front("PATH", {"/c/bin"}))) == elsewhere);
    // The order asked for counts, also where one of them is in front already.
    const Variables half{{"PATH", "/b:/bin"}};
    CHECK(value(applied(half, front("PATH", {"/a", "/b"})), "PATH") == "/a:/b:/bin");
    CHECK(undo(applied(half, front("PATH", {"/a", "/b"}))) == half);
    const Variables wrong_order{{"PATH", "/b:/a:/bin"}};
    CHECK(undo(applied(wrong_order, front("PATH", {"/b", "/c"}))) == wrong_order);
}

TEST_CASE("entries that something took off a list are known, those that are there are not") {
    Patch patch = front("PATH", {"/c/bin", "/d/bin"});
    patch.entries.push_back({"LD_LIBRARY_PATH", "/c/lib", End::Back});
    Variables shell = applied({{"PATH", "/bin"}}, patch);
    CHECK(lost_entries(shell).empty());
    shell["PATH"] = "/sbin:/d/bin";
    shell.erase("LD_LIBRARY_PATH");
    const auto lost = lost_entries(shell);
    REQUIRE(lost.size() == 2);
    CHECK((lost[0].list == "PATH" && lost[0].entry == "/c/bin"));
    CHECK((lost[1].list == "LD_LIBRARY_PATH" && lost[1].entry == "/c/lib"));
    CHECK(lost_entries({{"PATH", "/bin"}}).empty());
    CHECK(lost_entries({{std::string(k_journal_variable), "no journal"}}).empty());
}

TEST_CASE("journals of one patch are the same wherever it was applied") {
    const Patch patch{{{"CUDA_HOME", "/c"}}, {{"PATH", "/c/bin", End::Front}}};
    const Journal a = apply({{"PATH", "/bin"}}, patch, "p", "c").journal;
    const Journal b = apply({{"PATH", "/x:/bin"}, {"CUDA_HOME", "/d"}}, patch, "p", "e").journal;
    CHECK(is_same_patch(a, b));
    const Patch other{{{"CUDA_HOME", "/d"}}, {{"PATH", "/c/bin", End::Front}}};
    CHECK_FALSE(is_same_patch(a, apply({{"PATH", "/bin"}}, other, "p", "c").journal));
    CHECK_FALSE(is_same_patch(a, Journal{}));
}

TEST_CASE("a variable that the user has changed or unset stays as the user left it") {
    const Variables base{{"CC", "cc"}};
    const Patch patch{{{"CC", "gcc-9"}, {"CUDA_HOME", "/c"}, {"CUDA_PATH", "/c"}}, {}};
    Variables shell = applied(base, patch);
    shell["CUDA_HOME"] = "/mine";
    shell["CUDA_PATH"] = "";
    shell.erase("CC");
    CHECK(undo(shell) == Variables{{"CUDA_HOME", "/mine"}, {"CUDA_PATH", ""}});
}

TEST_CASE("of a list only our entries go, wherever the user has moved them") {
    const Variables base{{"PATH", "/a:/b"}};
    const Patch patch = front("PATH", {"/c/bin"});
    const auto after = [&](const std::string& edited) {
        return left(base, patch, "PATH", "/c/bin:/a:/b", edited);
    };
    CHECK(after("/x:/c/bin:/a:/b") == "/x:/a:/b");
    CHECK(after("/c/bin:/a:/b:/x") == "/a:/b:/x");
    CHECK(after("/a:/c/bin:/b") == "/a:/b");
    CHECK(after("/a:/b:/c/bin") == "/a:/b");
    CHECK(after("/a:/b") == "/a:/b");
    CHECK(after("/x") == "/x");
    CHECK(after("") == "");
    CHECK(after("/c/bin/sub:/a") == "/c/bin/sub:/a");
}

TEST_CASE("a list that the user has unset stays unset") {
    Variables shell = applied({{"LIBRARY_PATH", "/a"}}, back("LIBRARY_PATH", {"/c"}));
    shell.erase("LIBRARY_PATH");
    CHECK(undo(shell) == Variables{});
}

TEST_CASE("an entry of the user's that equals ours stays where the user put it") {
    CHECK(left({{"PATH", "/a"}}, front("PATH", {"/c"}), "PATH", "/c:/a", "/c:/a:/c") == "/a:/c");
    CHECK(left({{"PATH", "/a"}}, front("PATH", {"/c"}), "PATH", "/c:/a", "/c:/c:/a") == "/c:/a");
    CHECK(left({{"PATH", "/a"}}, back("PATH", {"/c"}), "PATH", "/a:/c", "/c:/a:/c") == "/c:/a");
    CHECK(left({{"PATH", "/a"}}, back("PATH", {"/c"}), "PATH", "/a:/c", "/a:/c:/c") == "/a:/c");
    // Whatever stands between them.
    CHECK(left({{"PATH", "/a"}}, front("PATH", {"/c"}), "PATH", "/c:/a", "/c:/x:/c:/a") ==
          "/c:/x:/a");
    CHECK(left({{"PATH", "/a"}}, back("PATH", {"/c"}), "PATH", "/a:/c", "/a:/c:/x:/c") ==
          "/a:/x:/c");
    CHECK(left({{"PATH", "/a"}}, front("PATH", {"/c"}), "PATH", "/c:/a", "/c:/x:/c") == "/x:/c");
    CHECK(left({{"PATH", "/a"}}, front("PATH", {"/c"}), "PATH", "/c:/a", "/a:/c:/a") == "/a:/a");
}

TEST_CASE("the user's empty entries survive byte for byte, and no other appears") {
    for (const std::string before : {":", "::", ":/a", "/a:", "/a::/b", ":/a::", "/a:/b"}) {
        for (const Patch& patch : {front("PATH", {"/c", "/d"}), back("PATH", {"/c", "/d"})}) {
            const Variables base{{"PATH", before}};
            CHECK(undo(applied(base, patch)) == base);
        }
    }
    CHECK(value(applied({{"LIBRARY_PATH", ""}}, back("LIBRARY_PATH", {"/c"})), "LIBRARY_PATH") ==
          "/c");
    CHECK(left({{"PATH", "/a"}}, front("PATH", {"/c"}), "PATH", "/c:/a", "/x::/c:/a:") ==
          "/x::/a:");
}

TEST_CASE("a list that was unset gets the user's entries without a colon of ours") {
    const Patch patch = back("LD_LIBRARY_PATH", {"/c"});
    CHECK(left({}, patch, "LD_LIBRARY_PATH", "/c", "/x:/c") == "/x");
    CHECK(left({}, patch, "LD_LIBRARY_PATH", "/c", "/c:/x") == "/x");
    CHECK(left({}, patch, "LD_LIBRARY_PATH", "/c", "/x") == "/x");
    CHECK(left({}, patch, "LD_LIBRARY_PATH", "/c", "") == "");
    CHECK(left({{"LD_LIBRARY_PATH", ""}}, patch, "LD_LIBRARY_PATH", "/c", "/c") == "");
    // As Environment Modules leave a list that nothing is on any more.
    CHECK(left({{"LD_LIBRARY_PATH", "/m"}}, patch, "LD_LIBRARY_PATH", "/m:/c", "/c") == "(unset)");
}

TEST_CASE("an entry that the list had by itself outlives a restored list and one without doubles") {
    const Variables base{{"PATH", "/a:/c:/b"}};
    const Patch patch = front("PATH", {"/c"});
    const std::string active = "/c:/a:/c:/b";
    CHECK(left(base, patch, "PATH", active, "/a:/c:/b") == "/a:/c:/b");
    CHECK(left(base, patch, "PATH", active, "/c:/a:/b") == "/a:/c:/b"); // typeset -U path
    CHECK(left(base, patch, "PATH", active, "/x:/c:/a:/b") == "/x:/a:/c:/b");
    CHECK(left(base, patch, "PATH", active, "/a:/b") == "/a:/b");
    CHECK(left(base, patch, "PATH", active, "/c:/b") == "/c:/b");
    const Variables reversed{{"PATH", "/a:/d:/c"}};
    CHECK(left(reversed, front("PATH", {"/c", "/d"}), "PATH", "/c:/d:/a:/d:/c", "/c:/d:/a") ==
          "/a:/d:/c");
    CHECK(left(base, back("PATH", {"/c"}), "PATH", "/a:/c:/b:/c", "/a:/c:/b") == "/a:/c:/b");
}

TEST_CASE("the same directory at both ends goes from both") {
    Patch patch = front("PATH", {"/c"});
    patch.entries.push_back({"PATH", "/c", End::Back});
    const Variables base{{"PATH", "/a"}};
    const Variables shell = applied(base, patch);
    CHECK(value(shell, "PATH") == "/c:/a:/c");
    CHECK(undo(shell) == base);
}

TEST_CASE("from one toolkit to another and back is as if it had been there at once") {
    const Variables base{{"PATH", "/bin"}, {"CUDA_HOME", "/old"}};
    const Variables first = applied(base, toolkit("/c/11.3"));
    const Variables second = applied(undo(first), toolkit("/c/12.4"));
    CHECK(second == applied(base, toolkit("/c/12.4")));
    CHECK(applied(undo(second), toolkit("/c/11.3")) == first);
    CHECK(undo(second) == base);
}

TEST_CASE("venv's snapshot of PATH loses our entries and stays otherwise as it is") {
    const Variables base{{"PATH", "/bin"}};
    Variables shell = applied(base, toolkit("/c"));
    shell["_OLD_VIRTUAL_PATH"] = shell["PATH"];
    shell["PATH"] = "/venv/bin:" + shell["PATH"];
    CHECK(undo(shell) == Variables{{"PATH", "/venv/bin:/bin"}, {"_OLD_VIRTUAL_PATH", "/bin"}});
    shell["_OLD_VIRTUAL_PATH"] = "/other:/usr/bin";
    CHECK(value(undo(shell), "_OLD_VIRTUAL_PATH") == "/other:/usr/bin");
}

TEST_CASE("what direnv keeps to bring back loses what is ours") {
    // As direnv 2.32.1 wrote it in a directory whose .envrc is `PATH_add bin` and `export CC=clang
    // FOO=1`, with CC=/gcc-9 and /c/bin first on PATH.
    const std::string diff =
        "eJxs0E1vm0AQBuD_MmcoH6Y1cFsviwGHjwAuhMsqrCMKhZUDBQxR_ntlW6p7yG3mHc17eD7gDOYHYAwmSBVjogEC"
        "RCh1rjuTypqb0jj096GsOXwKwP99sPaVVyCA5cYk-EktNwYTRGnoJ-"
        "n0iG33iVzrbrH07Y1PPXtcM5RihyRgwpu3-"
        "GszHuYVPaMAb9O9rIucsnLbzbTw6idXvTyX9u54vqAlUNKzPuycfqUevcS5SnAZ5aTB0VTI8jyHYixuirY7JJHSV"
        "n94vFbft3tl01nvBnudtFM4ht5Lc2R79djlfibmRoz7djwE3Swura8mcoK5poXx8Lt_-"
        "VG8ZzqxHN8mTbTUSkGSzS7z7HqwvfTU2NQoOx3NCFFq_HJXzQUB7DAEE5T_PO8AN8ovaT__BgAA__893npU";
    const Variables base{{"PATH", "/usr/bin:/bin"}};
    Variables shell = applied(base, {{{"CC", "/gcc-9"}}, {{"PATH", "/c/bin", End::Front}}});
    shell["DIRENV_DIFF"] = diff;
    const std::string mended = value(undo(shell), "DIRENV_DIFF");
    CHECK(mended != diff);
    std::map<std::string, std::string> kept;
    mended_direnv_diff(mended, [&](const std::string& name, const std::string& was) {
        kept[name] = was;
        return std::optional(was);
    });
    CHECK(kept == std::map<std::string, std::string>{{"PATH", "/usr/bin:/bin"}});
    // What is not direnv's is left as it is, and so is what was there before us.
    for (const std::string& text : {std::string(), std::string("x"), std::string("eJw="),
                                    std::string("%%%"), std::string(5000, 'A')}) {
        shell["DIRENV_DIFF"] = text;
        CHECK(value(undo(shell), "DIRENV_DIFF") == text);
    }
    Variables before{{"PATH", "/usr/bin:/bin"}, {"DIRENV_DIFF", diff}};
    CHECK(undo(applied(before, {{{"CC", "/gcc-9"}}, {{"PATH", "/c/bin", End::Front}}})) == before);
}

TEST_CASE("conda's snapshots of what we had set become what was there before") {
    const Variables base{{"CC", "cc"}, {"CUDA_PATH", ""}, {"LD_LIBRARY_PATH", "/mine"}};
    const Patch patch{
        {{"CC", "gcc-9"}, {"CUDA_HOME", "/c"}, {"CUDA_PATH", "/c"}, {"CXX", "g++-9"}},
        {{"LD_LIBRARY_PATH", "/c/lib", End::Back}, {"LIBRARY_PATH", "/c/lib", End::Back}}};
    Variables shell = applied(base, patch);
    for (const char* name : {"CC", "CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH"}) {
        shell[std::string("__CONDA_SHLVL_12_") + name] = shell[name];
        shell[name] = "conda's";
    }
    shell["__CONDA_SHLVL_1_CXX"] = "clang++";
    shell["__CONDA_SHLVL_1_HOME"] = "/c";
    CHECK(undo(shell) == Variables{{"CC", "conda's"},
                                   {"CUDA_HOME", "conda's"},
                                   {"CUDA_PATH", "conda's"},
                                   {"LD_LIBRARY_PATH", "conda's"},
                                   {"LIBRARY_PATH", "conda's"},
                                   {"__CONDA_SHLVL_12_CC", "cc"},
                                   {"__CONDA_SHLVL_12_LD_LIBRARY_PATH", "/mine"},
                                   {"__CONDA_SHLVL_1_CXX", "clang++"},
                                   {"__CONDA_SHLVL_1_HOME", "/c"}});
}

TEST_CASE("a snapshot that was there before us stays, also where it says what we say") {
    const Variables base{{"CUDA_HOME", "/env"},
                         {"PATH", "/env/bin:/bin"},
                         {"_OLD_VIRTUAL_PATH", "/c/bin:/bin"},
                         {"__CONDA_SHLVL_0_CUDA_HOME", "/c"}};
    Variables shell = applied(base, toolkit("/c"));
    CHECK(undo(shell) == base);
    shell["__CONDA_SHLVL_1_CUDA_HOME"] = shell["CUDA_HOME"];
    CHECK(value(undo(shell), "__CONDA_SHLVL_0_CUDA_HOME") == "/c");
    CHECK(value(undo(shell), "__CONDA_SHLVL_1_CUDA_HOME") == "/env");
}

TEST_CASE("where Lmod counts, an entry is moved to the front, not added a second time") {
    const std::string counter = "__LMOD_REF_COUNT_PATH";
    const Variables base{{"PATH", "/d:/b:/c/bin:/bin"}, {counter, "/d:1;/c/bin:1;/bin:1"}};
    const Patch patch = front("PATH", {"/c/bin"});
    const Variables shell = applied(base, patch);
    CHECK(value(shell, "PATH") == "/c/bin:/d:/b:/bin");
    CHECK(undo(shell) == base);

    const auto edited = [&](const char* path, const char* count) {
        Variables changed = shell;
        changed["PATH"] = path;
        changed[counter] = count;
        const Variables after = undo(changed);
        return value(after, "PATH") + ' ' + value(after, counter);
    };
    // Its module is unloaded; another is loaded; what stood before it is unloaded.
    CHECK(edited("/d:/b:/bin", "/d:1;/b:1;/bin:1") == "/d:/b:/bin /d:1;/b:1;/bin:1");
    CHECK(edited("/t:/c/bin:/d:/b:/bin", "/t:1;/c/bin:1;/d:1;/b:1;/bin:1") ==
          "/t:/d:/b:/c/bin:/bin /t:1;/d:1;/b:1;/c/bin:1;/bin:1");
    CHECK(edited("/c/bin:/d:/bin", "/c/bin:1;/d:1;/bin:1") ==
          "/d:/c/bin:/bin /d:1;/c/bin:1;/bin:1");
    // A counter that is not written as expected is left alone.
    CHECK(edited("/d:/b:/bin", "/d;/b") == "/d:/b:/bin /d;/b");
}

TEST_CASE("what a module system counted while a directory was ours is as if it had not been") {
    const Variables base{{"PATH", "/bin"}, {"LD_LIBRARY_PATH", "/l"}};
    Variables shell = applied(base, toolkit("/c"));
    SECTION("another module's directory is counted beside ours") {
        shell["PATH"] = "/t:/c/bin:/bin";
        shell["__LMOD_REF_COUNT_PATH"] = "/t:1;/c/bin:1;/bin:1";
        const Variables after = undo(shell);
        CHECK(value(after, "PATH") == "/t:/bin");
        CHECK(value(after, "__LMOD_REF_COUNT_PATH") == "/t:1;/bin:1");
    }
    SECTION("a module that wants the same directory keeps it") {
        shell["PATH"] = "/c/bin:/bin";
        shell["__LMOD_REF_COUNT_PATH"] = "/c/bin:2;/bin:1";
        shell["LD_LIBRARY_PATH"] = "/l:/c/lib64";
        shell["__MODULES_SHARE_LD_LIBRARY_PATH"] = "/c/lib64:2:/l:3";
        const Variables after = undo(shell);
        CHECK(value(after, "PATH") == "/c/bin:/bin");
        CHECK(value(after, "__LMOD_REF_COUNT_PATH") == "/c/bin:1;/bin:1");
        CHECK(value(after, "LD_LIBRARY_PATH") == "/l:/c/lib64");
        CHECK(value(after, "__MODULES_SHARE_LD_LIBRARY_PATH") == "/l:3");
    }
    SECTION("where only ours is left, the counter goes with it") {
        shell["LD_LIBRARY_PATH"] = "/c/lib64";
        shell["__LMOD_REF_COUNT_LD_LIBRARY_PATH"] = "/c/lib64:1";
        const Variables after = undo(shell);
        CHECK(value(after, "LD_LIBRARY_PATH") == "(unset)");
        CHECK(value(after, "__LMOD_REF_COUNT_LD_LIBRARY_PATH") == "(unset)");
    }
}

TEST_CASE("a snapshot is known by its name") {
    CHECK(snapshot_of("_OLD_VIRTUAL_PATH") == "PATH");
    CHECK(snapshot_of("__LMOD_REF_COUNT_PATH") == "PATH");
    CHECK(snapshot_of("__MODULES_SHARE_LD_LIBRARY_PATH") == "LD_LIBRARY_PATH");
    CHECK(snapshot_of("__CONDA_SHLVL_0_CUDA_HOME") == "CUDA_HOME");
    CHECK(snapshot_of("__CONDA_SHLVL_123_PATH") == "PATH");
    for (const char* none : {"", "PATH", "__CONDA_SHLVL_", "__CONDA_SHLVL_1", "__CONDA_SHLVL_1_",
                             "__CONDA_SHLVL__PATH", "__CONDA_SHLVL_x_PATH", "__CONDA_SHLVL_1PATH",
                             "CONDA_SHLVL_1_PATH", "_OLD_VIRTUAL_PATHS"}) {
        CHECK_FALSE(snapshot_of(none));
    }
}

TEST_CASE("a journal that cannot be read goes, and nothing else is touched") {
    Variables shell = applied({{"PATH", "/bin"}}, toolkit("/c"));
    shell[k_journal].pop_back();
    Variables expected = shell;
    expected.erase(k_journal);
    CHECK(undo(shell) == expected);
    CHECK(undo({{"PATH", "/c"}, {k_journal, ""}}) == Variables{{"PATH", "/c"}});
}

TEST_CASE("what could not be written down is not done") {
    const Variables base{{"CC", std::string(70'000, 'x')}, {"PATH", "/bin"}};
    Patch patch = toolkit("/c");
    patch.variables.push_back({"CC", "gcc-9"});
    const Applied none = apply(base, patch, "host/boot", "context");
    CHECK(none.environment == base);
    CHECK(none.journal.empty());
}

TEST_CASE("a difference says what to set and what to unset, by name") {
    const Variables from{{"A", "1"}, {"B", "2"}, {"C", ""}, {"E", "5"}, {"F", "6"}};
    const Variables to{{"A", "1"}, {"B", "3"}, {"D", ""}, {"E", ""}, {"G", "7"}};
    std::string said;
    for (const auto& [name, changed] : difference(from, to)) {
        said += name + (changed ? "=" + *changed : " goes") + "\n";
    }
    CHECK(said == "B=3\nC goes\nD=\nE=\nF goes\nG=7\n");
    CHECK(difference(from, from).empty());
}

TEST_CASE("lists are managed, and watched are no names twice") {
    CHECK(std::ranges::is_sorted(managed_variables()));
    CHECK(std::ranges::includes(managed_variables(), managed_lists()));
    CHECK(std::ranges::adjacent_find(watched_variables()) == watched_variables().end());
}
