#include "host/names/condarc.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv::names;

namespace {

using Lines = std::vector<std::string>;

Lines items(std::string_view text) {
    Lines lines;
    const auto list = parse_condarc(text);
    REQUIRE(list);
    for (const CondarcItem& item : list->items) {
        lines.push_back(item.text);
    }
    return lines;
}

int broken_line(std::string_view text) {
    const auto list = parse_condarc(text);
    REQUIRE_FALSE(list);
    CHECK(list.error().code == "bad-condarc");
    return list.error().line;
}

CondarcList list_of(Lines texts) {
    CondarcList list;
    for (std::string& text : texts) {
        list.items.push_back({std::move(text), CondarcMark::None});
    }
    return list;
}

} // namespace

TEST_CASE("envs_dirs is read in the forms that people and conda write") {
    CHECK(items("envs_dirs:\n  - /a\n  - ~/b  # mine\n") == Lines{"/a", "~/b"});
    CHECK(items("channels:\n- x\nenvs_dirs:\n- /a\n- '/b c'\n- \"/d#e\"\n") ==
          Lines{"/a", "/b c", "/d#e"});
    CHECK(items("envs_dirs: [/a, '/b, c', $HOME/d]\nssl_verify: true\n") ==
          Lines{"/a", "/b, c", "$HOME/d"});
    CHECK(items("envs_dirs: [ # first\n  /a, # one\n  /b\n]\n") == Lines{"/a", "/b"});
    CHECK(items("---\r\n# all\r\n\"envs_dirs\":\r\n  - /a\r\n...\n") == Lines{"/a"});
    CHECK(items("envs_path:\n  - /a#b\n") == Lines{"/a#b"});
    CHECK(items("envs_dirs: &list [/a]\n") == Lines{"/a"});
    CHECK(items("{envs_dirs: [/a]}\n") == Lines{"/a"});
    CHECK(items("  envs_dirs:\n    - /a\n  channels: []\n") == Lines{"/a"});
    CHECK(items("\xef\xbb\xbf"
                "envs_dirs: ['it''s']") == Lines{"it's"});
}

TEST_CASE("a file without the list has none, whatever else it holds") {
    for (const char* text :
         {"", "\n# only words\n", "envs_dirs:\n", "envs_dirs: ~\nchannels: [a]\n",
          "envs_dirs: []\n", "channel_alias: https://a.b:8080/c\n",
          "custom_channels:\n  a: https://x/t/y\n  b: {c: [1, 2]}\nproxy_servers: {http: 'a: b'}\n",
          "text: |\n  envs_dirs:\n    - /a\n\n  more\nlast: 1\n", "a: b\n  envs_dirs more\n",
          "list:\n  - a: 1\n    envs_dirs: [/a]\n  - |\n    b\n"}) {
        CAPTURE(text);
        CHECK(items(text).empty());
    }
}

TEST_CASE("what YAML or conda refuses is an error with its line") {
    CHECK(broken_line("envs_dirs: [/a\nchannels: [b]\n") == 2);
    CHECK(broken_line("channels: 'x\nenvs_dirs: [/a]\n") == 1);
    CHECK(broken_line("a: b\nenvs_dirs\n") == 2);
    CHECK(broken_line("a: b: c\nenvs_dirs: [/a]\n") == 1);
    CHECK(broken_line("envs_dirs:\n\t- /a\n") == 2);
    CHECK(broken_line("envs_dirs: /a\n") == 1);
    CHECK(broken_line("envs_dirs: {a: b}\n") == 1);
    CHECK(broken_line("envs_dirs:\n  a: b\n") == 2);
    CHECK(broken_line("envs_dirs:\n  - a: /a\n   - /b\n") == 3);
    CHECK(broken_line("envs_dirs: [/a]\nenvs_path: [/b]\n") > 0);
    CHECK(broken_line("envs_dirs: [*list]\n") == 1);
    CHECK(broken_line("envs_dirs: ['/a' /b]\n") == 1);
}

TEST_CASE("sources are merged as conda merges them: the last first, marks above all") {
    CHECK(merge_condarc({list_of({"/system", "/both"}), list_of({"/user", "/both"})}) ==
          Lines{"/user", "/both", "/system"});
    const auto marked = parse_condarc("envs_dirs:\n  - /low  #!bottom\n  - /mid\n");
    const auto top = parse_condarc("envs_dirs:\n  - /high #!top\n");
    REQUIRE((marked && top));
    CHECK(merge_condarc({*top, *marked, list_of({"/user"})}) ==
          Lines{"/high", "/user", "/mid", "/low"});
    const auto last = parse_condarc("envs_dirs: [/only]  #!final\n");
    REQUIRE(last);
    CHECK(last->mark == CondarcMark::Final);
    CHECK(merge_condarc({list_of({"/system"}), *last, list_of({"/user"})}) ==
          Lines{"/only", "/system"});
    CHECK(merge_condarc({}).empty());
}
