#include "shell_run.hpp"
#include "shellhooks/hooks/prompt_watch.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <limits>

using namespace cudaenv::hooks;

namespace {

bool same(const Watch& a, const Watch& b) {
    const auto same_variable = [](const auto& x, const auto& y) {
        return x.name == y.name && x.value == y.value;
    };
    const auto same_file = [](const WatchedFile& x, const WatchedFile& y) {
        return x.path == y.path && x.exists == y.exists && x.stamp == y.stamp &&
               x.modified_ns == y.modified_ns;
    };
    return a.directory == b.directory &&
           std::ranges::equal(a.variables, b.variables, same_variable) &&
           std::ranges::equal(a.files, b.files, same_file);
}

} // namespace

TEST_CASE("a watch is written as one plain word and read back as it was") {
    Watch watch{"/p q", {{"CC", std::nullopt}, {"CXX", ""}}, {}};
    for (const std::string& word : cudaenv::tests::nasty_words()) {
        watch.variables.push_back({"NAME", word});
        watch.files.push_back({"/" + word, true, word, std::numeric_limits<long long>::min()});
        watch.files.push_back({"/" + word, false, "", 0});
    }
    watch.files.push_back({"/f", true, "", std::numeric_limits<long long>::max()});
    const std::string word = write_watch(watch);
    CHECK(std::ranges::all_of(word, [](char c) {
        return std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_./+-:,=%;")
                   .find(c) != std::string_view::npos;
    }));
    const auto read = read_watch(word);
    REQUIRE(read);
    CHECK(same(*read, watch));
}

TEST_CASE("an empty watch is written and read") {
    const auto read = read_watch(write_watch({}));
    REQUIRE(read);
    CHECK(same(*read, {}));
}

TEST_CASE("a watch's text is short where nothing is odd") {
    CHECK(write_watch({"/p",
                       {{"CC", std::nullopt}, {"CXX", "g++"}},
                       {{"/p/cudaenv.toml", true, "/s/1", 17}, {"/cudaenv.toml", false, "", 0}}}) ==
          "1;/p;u:CC;v:CXX=g++;f:/p/cudaenv.toml:17:/s/1;a:/cudaenv.toml;");
}

TEST_CASE("what is no watch is not read as one") {
    for (const char* text : {"",
                             "1",
                             "1;",
                             "2;/p;",
                             "1;/p",
                             "1;/p;x:A;",
                             "1;/p;u:;",
                             "1;/p;u:A",
                             "1;/p;v:A;",
                             "1;/p;v:A=%;",
                             "1;/p;v:A=%0;",
                             "1;/p;v:A=%00;",
                             "1;/p;v:A=%zz;",
                             "1;/p;v:A=b c;",
                             "1;/p;f:/a;",
                             "1;/p;f:/a:1;",
                             "1;/p;f:/a:x:s;",
                             "1;/p;f:/a:1x:s;",
                             "1;/p;f::1:s;",
                             "1;/p;a:;",
                             "1;/p;;",
                             "1;/p;u",
                             "1;/p;f:/a:99999999999999999999:s;"}) {
        INFO(text);
        CHECK_FALSE(read_watch(text));
    }
}
