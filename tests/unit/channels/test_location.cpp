#include "host/channels/channel_source.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::channels {
namespace {

TEST_CASE("a directory is taken as it is") {
    for (const char* path : {"/srv/channel", "./here", "../x y", "a/b"}) {
        const auto location = locate_channel(path);
        REQUIRE(location);
        CHECK(location->directory == path);
        CHECK(location->name == path);
        CHECK_FALSE(location->bare_word);
    }
    CHECK(locate_channel("/srv/channel//")->directory == "/srv/channel");
    CHECK(locate_channel("/")->directory == "/");
    CHECK(locate_channel("conda-forge")->bare_word);
}

TEST_CASE("a file URL is a path with its escapes decoded") {
    CHECK(locate_channel("file:///srv/my%20channel")->directory == "/srv/my channel");
    CHECK(locate_channel("file://localhost/srv/c%C3%A9")->directory == "/srv/c\xC3\xA9");
    CHECK(locate_channel("FILE:/srv/x/")->directory == "/srv/x");
    CHECK(locate_channel("file:///srv/x?y#z")->directory == "/srv/x");
}

TEST_CASE("a path becomes a URL and comes back") {
    for (const char* path : {"/srv/x", "/a b/%/#?/é", "/c++/v!1"}) {
        CHECK(locate_channel(file_url(path))->directory == path);
    }
    CHECK(file_url("/a b") == "file:///a%20b");
}

TEST_CASE("a URL that is no path of this machine says what is right") {
    const auto other = locate_channel("file://server/share");
    REQUIRE_FALSE(other);
    CHECK(other.error().kind == ErrorKind::BadInput);
    CHECK(other.error().hint.find("file:///") != std::string::npos);

    const auto escape = locate_channel("file:///a%2");
    REQUIRE_FALSE(escape);
    CHECK(escape.error().kind == ErrorKind::BadInput);
    CHECK(escape.error().column == 10);
    CHECK_FALSE(locate_channel("file:///a%00b"));
    CHECK_FALSE(locate_channel("file:///a%zz"));
    CHECK_FALSE(locate_channel("file://"));
    CHECK_FALSE(locate_channel(" "));
}

TEST_CASE("a channel on the network is unavailable, and its secrets are not shown") {
    const auto remote = locate_channel("https://me:secret@host/t/tk-1234/channel");
    REQUIRE_FALSE(remote);
    CHECK(remote.error().kind == ErrorKind::Unavailable);
    CHECK(remote.error().code == "channel-not-local");
    CHECK(remote.error().message.find("secret") == std::string::npos);
    CHECK(remote.error().message.find("tk-1234") == std::string::npos);
    CHECK(remote.error().hint.find("file://") != std::string::npos);
}

} // namespace
} // namespace cudaenv::channels
