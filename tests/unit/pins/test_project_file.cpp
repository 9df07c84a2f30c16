#include "solver/pins/project_file.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace cudaenv;
using namespace cudaenv::pins;

namespace {

constexpr std::string_view k_example = R"(# cudaenv.toml
[pins]
cuda = "11.3"          # a bare version is a prefix
torch = "1.12"
cudnn = ">=8.2"
python = "3.9"
[resolve]
channels = ["pytorch", "conda-forge"]
for = "build"
[activate]
ld_library_path = "auto"   # auto | never
compilers = true
constraints = "off"
)";

} // namespace

TEST_CASE("the documented project file is read whole, in its own order") {
    const auto file = parse_project(k_example, "/p/cudaenv.toml");
    REQUIRE(file);
    REQUIRE(file->pins.size() == 4);
    CHECK(file->pins[0].name == "cuda");
    CHECK(file->pins[0].constraint == "11.3");
    CHECK(file->pins[0].origin == "/p/cudaenv.toml line 3");
    CHECK(file->pins[1].name == "torch");
    CHECK(file->pins[2].constraint == ">=8.2");
    CHECK(file->pins[3].origin == "/p/cudaenv.toml line 6");
    CHECK(file->purpose() == Purpose::Build);
    CHECK(file->channels() == std::vector<std::string>{"pytorch", "conda-forge"});
    REQUIRE(find_setting(file->settings, "activate.compilers") != nullptr);
    CHECK(find_setting(file->settings, "activate.compilers")->value == SettingValue(true));
    CHECK(find_setting(file->settings, "activate.constraints")->origin() ==
          "/p/cudaenv.toml line 13");
}

TEST_CASE("an empty project file pins nothing") {
    const auto file = parse_project("", "x");
    REQUIRE(file);
    CHECK(file->pins.empty());
    CHECK_FALSE(file->purpose());
    CHECK_FALSE(file->channels());
}

TEST_CASE("every form that TOML has for a table of pins is read alike") {
    for (const char* text :
         {"[pins]\ncuda = \"11.3\"\n", "pins = {cuda = \"11.3\"}\n", "pins.cuda = \"11.3\"\n",
          "[ \"pins\" ]\n'cuda' = '11.3'\n", "[pins]\r\n\"c\\u0075da\" = \"\"\"11.3\"\"\"\r\n",
          "\xEF\xBB\xBF[pins]\ncudatoolkit = \"=11.3\"", "[pins]\n  cuda=\"11.3.*\"#x"}) {
        INFO(text);
        const auto file = parse_project(text, "x");
        REQUIRE(file);
        REQUIRE(file->pins.size() == 1);
        CHECK(file->pins[0].name == "cuda");
        CHECK(file->pins[0].constraint == "11.3");
    }
}

TEST_CASE("a wrong project file is one message with line, column and what would be right") {
    struct Case {
        const char* text;
        const char* code;
        const char* message;
        const char* hint;
        int line;
        int column;
    };
    const auto c = GENERATE(
        Case{"[pins]\ncudaa = \"11\"\n", "unknown-pin", "unknown pin \"cudaa\"",
             "did you mean \"cuda\"?", 2, 1},
        Case{"[pins]\ncuda = 11.30\n", "bad-value",
             "the version 11.30 is a number, and as a number 11.30 is 11.3",
             "write cuda = \"11.30\"", 2, 8},
        Case{"[pins]\ncuda = 11\n", "bad-value",
             "the version 11 is a number, and as a number 11.30 is 11.3", "write cuda = \"11\"", 2,
             8},
        Case{"[pins]\n cuda = 11.3.1 # x\n", "bad-toml", "11.3.1 is not in quotes",
             "write cuda = \"11.3.1\"", 2, 9},
        Case{"[pins]\ncuda = >=11\n", "bad-toml", ">=11 is not in quotes", "write cuda = \">=11\"",
             2, 8},
        Case{"[pins]\ncuda = \"eleven\"\n", "bad-version", "\"eleven\" is not a version",
             "expected digits and dots, as in 11.3", 2, 9},
        Case{"[pins]\ncuda = \">=11,<x\"\n", "bad-version", "\"x\" is not a version",
             "expected digits and dots, as in 11.3", 2, 15},
        Case{"[pins]\ncuda = true\n", "bad-value", "the pin \"cuda\" is true or false",
             "expected a version in quotes, as in \"11.3\"", 2, 8},
        Case{"[pins]\ncuda = 2020-01-01\n", "bad-value", "the pin \"cuda\" is a date",
             "expected a version in quotes, as in \"11.3\"", 2, 8},
        Case{"[pins.cuda]\nversion = \"11\"\n", "bad-value", "the pin \"cuda\" is a table",
             "expected a version in quotes, as in \"11.3\"", 1, 1},
        Case{"[pins]\ntorch = \"1\"\npytorch = \"1\"\n", "bad-pin",
             "\"pytorch\" pins torch a second time", "the first is p line 2; keep one", 3, 1},
        Case{"pins = \"11.3\"\n", "bad-value", "pins is a string",
             "expected a table: [pins], then lines such as cuda = \"11.3\"", 1, 1},
        Case{"[[pins]]\ncuda = \"11.3\"\n", "bad-value", "pins is an array",
             "expected a table: [pins], then lines such as cuda = \"11.3\"", 1, 3},
        Case{"[pin]\ncuda = \"11.3\"\n", "unknown-key", "unknown key \"pin\"",
             "did you mean \"pins\"?", 1, 2},
        Case{"cuda = \"11.3\"\n", "unknown-key", "unknown key \"cuda\"",
             "pins belong below a line [pins]", 1, 1},
        Case{"[toolkits]\ndirectories = []\n", "unknown-key", "unknown key \"toolkits\"",
             "this table is for the user's own config.toml", 1, 2},
        Case{"[resolve]\nchanels = []\n", "unknown-key", "unknown key \"chanels\" in [resolve]",
             "did you mean \"channels\"?", 2, 1},
        Case{"[resolve]\nfor = \"runs\"\n", "bad-value", "resolve.for is \"runs\"",
             "expected \"run\" or \"build\"", 2, 7},
        Case{"[resolve]\nchannels = \"pytorch\"\n", "bad-value", "resolve.channels is a string",
             "expected a list of strings, as in [\"pytorch\", \"conda-forge\"]", 2, 12},
        Case{"[resolve]\nchannels = [\"a\",\n 1]\n", "bad-value",
             "resolve.channels has a number in its list",
             "expected a list of strings, as in [\"pytorch\", \"conda-forge\"]", 3, 2},
        Case{"[activate]\ncompilers = \"yes\"\n", "bad-value", "activate.compilers is a string",
             "expected true or false", 2, 13},
        Case{"[activate]\nld_library_path = \"always\"\n", "bad-value",
             "activate.ld_library_path cannot be \"always\" in a project",
             "expected \"auto\" or \"never\"; \"always\" is for the user's own config.toml", 2, 19},
        Case{"[resolve]\n# \xC3\xA4\nfor = 'build' # \xC3\xA4\n\"\xC3\xA4\" = 1\n", "unknown-key",
             "unknown key \"\xC3\xA4\" in [resolve]", "known are channels, for, targets", 4, 1},
        Case{"pins = { \"\xC3\xA4\" = 1 }\n", "unknown-pin", "unknown pin \"\xC3\xA4\"",
             "known are cuda, cudnn, nccl, torch, torchvision, torchaudio, tensorflow, jax, cupy, "
             "numpy, python, gcc",
             1, 10},
        Case{"pins = {cuda = \"\xC3\xA4\"}\n", "bad-version", "\"\xC3\xA4\" is not a version",
             "expected digits and dots, as in 11.3", 1, 17});
    INFO(c.text);
    const auto file = parse_project(c.text, "p");
    REQUIRE_FALSE(file);
    CHECK(file.error().code == c.code);
    CHECK(file.error().message == c.message);
    CHECK(file.error().hint == c.hint);
    CHECK(file.error().path == "p");
    CHECK(file.error().line == c.line);
    CHECK(file.error().column == c.column);
}

TEST_CASE("what is not TOML says where") {
    const auto file = parse_project("[pins]\ncuda = \"11.3\n", "/p/cudaenv.toml");
    REQUIRE_FALSE(file);
    CHECK(file.error().code == "bad-toml");
    CHECK(file.error().line == 2);
    CHECK(file.error().message.substr(0, 9) == "not TOML:");
    CHECK_FALSE(parse_project("[pins]\ncuda = \"11.3\"\ncuda = \"11.4\"\n", "p"));
    CHECK_FALSE(parse_project("[pins\n", "p"));
    CHECK_FALSE(parse_project(std::string_view("\0", 1), "p"));
    CHECK_FALSE(parse_project("[pins]\ncuda = \"\xff\"\n", "p"));
}

TEST_CASE("a broken structure is reported with what was expected and where") {
    struct Case {
        const char* text;
        const char* message;
        int line;
        int column;
    };
    const auto c = GENERATE(
        Case{"[pins]\ncuda = [}\n", "not TOML: expected a value", 2, 9},
        Case{"[pins]\ncuda = [\"1\"\n\n", "not TOML: expected ]", 4, 1},
        Case{"[pins]\ncuda\n", "not TOML: expected = after the key", 2, 5},
        Case{"[pins\ncuda = \"1\"\n", "not TOML: expected ] after the table's name", 1, 6},
        Case{"[pins]\ncuda = \"11.3\n", "not TOML: expected \" at the end of the text", 2, 13},
        Case{"[pins]\ncuda = \"11.3\" torch = \"1\"\n", "not TOML: expected the end of the line", 2,
             15},
        Case{"pins = { cuda = \"11.3\" torch = \"1\" }\n",
             "not TOML: expected , or } in an inline table", 1, 24},
        Case{"[pins]\n= \"1\"\n", "not TOML: expected a key", 2, 1},
        Case{"[pins]\ncuda = eleven!\n", "not TOML: expected a value; text needs quotes", 2, 8},
        Case{"[pins]\ncuda = \"\\q\"\n", "not TOML: expected one of b t n f r \" \\ u U after \\",
             2, 11});
    INFO(c.text);
    const auto file = parse_project(c.text, "p");
    REQUIRE_FALSE(file);
    CHECK(file.error().code == "bad-toml");
    CHECK(file.error().message == c.message);
    CHECK(file.error().line == c.line);
    CHECK(file.error().column == c.column);
}

TEST_CASE("a file longer than a settings file can be is refused before it is read") {
    const std::string long_text(k_most_toml_bytes + 1, '\n');
    const auto file = parse_project(long_text, "p");
    REQUIRE_FALSE(file);
    CHECK(file.error().code == "file-too-large");
}

TEST_CASE("a text made to nest without end is refused, not followed") {
    std::string keys = "a";
    for (int i = 0; i < 200000; ++i) {
        keys += ".a";
    }
    CHECK_FALSE(parse_project(keys + " = 1\n", "p"));
    CHECK_FALSE(parse_project("x = " + std::string(100000, '['), "p"));
    std::string tables = "x = ";
    for (int i = 0; i < 50000; ++i) {
        tables += "{a=";
    }
    CHECK_FALSE(parse_project(tables, "p"));
}

TEST_CASE("for the prompt unknown keys are notes and the rest still counts") {
    const auto file = parse_project(
        "[pins]\ncudaa = \"1\"\ncuda = \"11.3\"\n[future]\nx = 1\n[resolve]\nnew = 1\n", "p",
        UnknownKeys::Note);
    REQUIRE(file);
    REQUIRE(file->pins.size() == 1);
    REQUIRE(file->notes.size() == 3);
    CHECK(file->notes[0].find("p line 4: unknown key \"future\"") == 0);
    CHECK(file->notes[1] == "p line 2: unknown pin \"cudaa\"; did you mean \"cuda\"?");
    // A wrong value of a known key stays an error.
    CHECK_FALSE(parse_project("[pins]\ncuda = 11.3\n", "p", UnknownKeys::Note));
}
