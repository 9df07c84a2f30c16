#include "solver/pins/config.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace cudaenv;
using namespace cudaenv::pins;

TEST_CASE("with no file every setting has its default and says so") {
    const Config config = Config::merge({});
    CHECK(config.settings().size() == setting_keys().size());
    for (const EffectiveSetting& setting : config.settings()) {
        CHECK(setting.origin == "default");
        CHECK_FALSE(setting.locked);
    }
    CHECK(config.purpose() == Purpose::Run);
    CHECK(config.channels().empty());
    CHECK(config.toolkit_directories().empty());
    CHECK(config.ld_library_path() == "auto");
    CHECK(config.compilers());
    CHECK(config.constraints() == "off");
}

TEST_CASE("the nearer layer wins and each value knows its line") {
    const auto system = parse_config("[resolve]\nchannels = [\"s\"]\nfor = \"build\"\n", "/etc/c",
                                     FileScope::System);
    const auto user =
        parse_config("[resolve]\nchannels = [\"u\"]\n[activate]\nld_library_path = \"always\"\n"
                     "[toolkits]\ndirectories = [\"/opt/x\", \"~/cuda\"]\n",
                     "/home/u/c", FileScope::User);
    const auto project =
        parse_project("[activate]\ncompilers = false\nld_library_path = \"never\"\n", "/p");
    const auto local = parse_project("[resolve]\nchannels = [\"l\"]\n", "/l");
    REQUIRE((system && user && project && local));
    const Config config = Config::merge({&*system, &*user, &*project, &*local});
    CHECK(config.channels() == std::vector<std::string>{"l"});
    CHECK(config.find("resolve.channels")->origin == "/l line 2");
    CHECK(config.purpose() == Purpose::Build);
    CHECK(config.find("resolve.for")->origin == "/etc/c line 3");
    CHECK(config.ld_library_path() == "never");
    CHECK_FALSE(config.compilers());
    CHECK(config.toolkit_directories() == std::vector<std::string>{"/opt/x", "~/cuda"});
    CHECK(config.notes().empty());
    CHECK(config.find("nothing") == nullptr);
}

TEST_CASE("a key that the administrator locks keeps the administrator's value, and the user's is "
          "reported") {
    const auto system = parse_config("locked = [\"resolve.channels\", \"activate.compilers\"]\n"
                                     "[resolve]\nchannels = [\"site\"]\n",
                                     "/etc/c", FileScope::System);
    const auto user = parse_config("[resolve]\nchannels = [\"mine\"]\n", "/u", FileScope::User);
    const auto project =
        parse_project("[activate]\ncompilers = false\n[resolve]\nchannels=[\"site\"]\n", "/p");
    REQUIRE((system && user && project));
    const Config config = Config::merge({&*system, &*user, &*project, nullptr});
    CHECK(config.channels() == std::vector<std::string>{"site"});
    CHECK(config.find("resolve.channels")->locked);
    CHECK(config.compilers()); // locked at its default
    CHECK(config.notes() ==
          std::vector<std::string>{"/u line 2: resolve.channels is locked by /etc/c; ignored",
                                   "/p line 2: activate.compilers is locked by /etc/c; ignored"});
}

TEST_CASE("a wrong config file is refused with its place") {
    struct Case {
        const char* text;
        FileScope scope;
        const char* message;
        const char* hint;
        int line;
    };
    const auto c =
        GENERATE(Case{"locked = []\n", FileScope::User, "\"locked\" does nothing here",
                      "only the administrator's /etc/cudaenv/config.toml locks keys", 1},
                 Case{"locked = [\"resolve.chanels\"]\n", FileScope::System,
                      "unknown key \"resolve.chanels\"", "did you mean \"resolve.channels\"?", 1},
                 Case{"locked = [\"pins.cuda\"]\n", FileScope::System, "pins cannot be locked",
                      "a project's pin overrides the administrator's", 1},
                 Case{"locked = true\n", FileScope::System, "locked is true or false",
                      "expected a list of keys, as in [\"resolve.channels\"]", 1},
                 Case{"[resolve]\ntargets = [\"sm_86\"]\n", FileScope::User,
                      "\"sm_86\" is not a compute capability",
                      "expected a list of compute capabilities, as in [\"8.6\", \"9.0\"]", 2},
                 Case{"[toolkits]\ndirectories = [\"opt\"]\n", FileScope::User,
                      "\"opt\" is not an absolute path",
                      "expected a list of directories, as in [\"/opt/cuda-12.1\"]", 2},
                 Case{"[toolkit]\n", FileScope::User, "unknown key \"toolkit\"",
                      "did you mean \"toolkits\"?", 1},
                 Case{"[activate]\nld_library_path = \"x\"\n", FileScope::User,
                      "activate.ld_library_path is \"x\"",
                      "expected \"auto\" or \"never\" or \"always\"", 2});
    INFO(c.text);
    const auto file = parse_config(c.text, "c", c.scope);
    REQUIRE_FALSE(file);
    CHECK(file.error().message == c.message);
    CHECK(file.error().hint == c.hint);
    CHECK(file.error().line == c.line);
}

TEST_CASE("config set keeps comments and reads back as what was set") {
    const std::string text = "# mine\n[activate] # a\ncompilers = true # b\n";
    const auto set = [&](std::string_view key, std::vector<std::string> words) {
        return edit_config(text, "c", FileScope::User, key, ConfigAction::Set, words);
    };
    CHECK(set("activate.compilers", {"false"}) ==
          "# mine\n[activate] # a\ncompilers = false # b\n");
    CHECK(set("activate.compilers", {"true"}) == text);
    CHECK(set("resolve.channels", {"pytorch", "a \"b\""}) ==
          text + "\n[resolve]\nchannels = [\"pytorch\", \"a \\\"b\\\"\"]\n");
    CHECK(set("pins.cuda", {"11.3"}) == text + "\n[pins]\ncuda = \"11.3\"\n");
    CHECK(edit_config(text, "c", FileScope::User, "activate.compilers", ConfigAction::Unset, {}) ==
          "# mine\n[activate] # a\n");
    CHECK(set("activate.compilers", {"maybe"}).error().hint == "expected true or false");
    CHECK(set("activate.compilers", {}).error().message == "activate.compilers takes one value");
    CHECK(set("activate.compiler", {"true"}).error().hint ==
          "did you mean \"activate.compilers\"?");
    CHECK(set("toolkits.directories", {"rel"}).error().message ==
          "\"rel\" is not an absolute path");
    CHECK(set("pins.cudaa", {"1"}).error().code == "unknown-pin");
}

TEST_CASE("pins in config.toml are edited beside its other tables") {
    const std::string text =
        "locked = [\"resolve.for\"]\n[pins]\ncuda = \"11.3\"\n[toolkits]\ndirectories=[]\n";
    const std::vector<PinEdit> edits{{"torch", "2"}};
    CHECK(edit_pins(text, "c", edits, FileScope::System) ==
          "locked = [\"resolve.for\"]\n[pins]\ncuda = \"11.3\"\ntorch = "
          "\"2\"\n[toolkits]\ndirectories=[]\n");
    CHECK_FALSE(edit_pins(text, "c", edits, FileScope::User));
}
