#include "solver/pins/config.hpp"
#include "solver/pins/project_file.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>

using namespace cudaenv;
using namespace cudaenv::pins;

namespace {

bool wraps(std::string_view toml) {
    const auto user = parse_config(toml, "/u", FileScope::User);
    REQUIRE(user);
    const Config config = Config::merge({nullptr, &*user, nullptr, nullptr});
    return std::get<bool>(config.find("activate.wrap")->value);
}

} // namespace

TEST_CASE("wrapping is on, and off in either spelling") {
    CHECK(wraps(""));
    CHECK_FALSE(wraps("[activate]\nwrap = false\n"));
    CHECK_FALSE(wraps("activation.wrap = false\n"));
    CHECK(find_setting_key("activation.wrap") == find_setting_key("activate.wrap"));
    CHECK(find_setting_key("activation.wrapp") == nullptr);
    CHECK(find_setting_key("activation") == nullptr);
}

TEST_CASE("config set writes one spelling") {
    const std::array<std::string, 1> words{"false"};
    CHECK(edit_config("", "/u", FileScope::User, "activation.wrap", ConfigAction::Set, words) ==
          "[activate]\nwrap = false\n");
}

TEST_CASE("a project cannot say how a shell's hook behaves") {
    const auto refused = parse_project("[activate]\nwrap = false\n", "/p");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message == "activate.wrap cannot be set in a project");
    const auto noted = parse_project("[activate]\nwrap = false\n", "/p", UnknownKeys::Note);
    REQUIRE(noted);
    CHECK(noted->settings.empty());
    CHECK(noted->notes.size() == 1);
}

TEST_CASE("nothing is probed in the background unless the user or the administrator says so") {
    const auto probes = [](std::string_view system, std::string_view user) {
        const auto administrators = parse_config(system, "/s", FileScope::System);
        const auto users = parse_config(user, "/u", FileScope::User);
        REQUIRE(administrators);
        REQUIRE(users);
        const Config config = Config::merge({&*administrators, &*users, nullptr, nullptr});
        return std::get<bool>(config.find("probe.background")->value);
    };
    const std::string_view on = "[probe]\nbackground = true\n";
    CHECK_FALSE(probes("", ""));
    CHECK(probes("", on));
    CHECK(probes(on, ""));
    CHECK_FALSE(probes("locked = [\"probe.background\"]\n", on));
    CHECK_FALSE(parse_project(on, "/p"));
}
