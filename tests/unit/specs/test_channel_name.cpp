#include "solver/specs/channel_name.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>

using cudaenv::specs::ChannelName;
using cudaenv::specs::ChannelSpec;

namespace {
ChannelName channel(const std::string& text) {
    const auto parsed = ChannelName::parse(text);
    INFO(text);
    REQUIRE(parsed);
    return *parsed;
}
bool matches(const std::string& spec, const std::string& text) {
    const auto parsed = ChannelSpec::parse(spec);
    INFO(spec);
    REQUIRE(parsed);
    return parsed->matches(text);
}
} // namespace

TEST_CASE("a channel's name and its URL are the same channel") {
    CHECK(channel("conda-forge").canonical() == "conda-forge");
    CHECK(channel("https://conda.anaconda.org/conda-forge/linux-64").canonical() == "conda-forge");
    CHECK(channel("https://conda.anaconda.org/conda-forge/linux-64").platform == "linux-64");
    CHECK(channel("nvidia/label/cuda-11.8").canonical() == "nvidia/label/cuda-11.8");
    CHECK(channel("https://user:pw@my.org:80/t/token/ch/noarch").base_url() ==
          "https://my.org:80/ch");
    CHECK(channel("/data/channels/mine").base_url() == "file:///data/channels/mine");
    CHECK(channel("pkgs/main").canonical() == "defaults");
    CHECK(channel("").canonical() == "<unknown>");
}

TEST_CASE("a channel spec matches names, URLs, globs and the default channels") {
    CHECK(matches("conda-forge", "https://conda.anaconda.org/conda-forge"));
    CHECK_FALSE(matches("conda-forge", "nvidia"));
    CHECK(matches("defaults", "https://repo.anaconda.com/pkgs/main"));
    CHECK(matches("defaults", "pkgs/r"));
    CHECK_FALSE(matches("pkgs/main", "pkgs/r"));
    CHECK(matches("conda-*", "conda-forge"));
    CHECK(matches("*", ""));
    CHECK(matches("mine", "/data/channels/mine"));
    CHECK(matches("https://my.org/ch", "https://my.org/ch/"));
}

TEST_CASE("a port that is no number is refused") {
    const auto parsed = ChannelName::parse("https://user:secret@host:port/x");
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == "bad-channel");
    CHECK(parsed.error().message.find("secret") == std::string::npos);
}
