#include "host/channels/channel_source.hpp"
#include "tests/unit/channels/temporary_directory.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <zstd.h>

#include <chrono>

namespace cudaenv::channels {
namespace {

using test::TemporaryDirectory;
namespace fs = std::filesystem;

std::string record(std::string_view file, std::string_view name, std::string_view version,
                   std::string_view more = "") {
    return '"' + std::string(file) + R"(":{"name":")" + std::string(name) + R"(","version":")" +
           std::string(version) + R"(","build":"0","build_number":0,"depends":[])" +
           std::string(more) + "}";
}

std::string repodata(std::string_view packages, std::string_view conda = "",
                     std::string_view info = R"("subdir":"linux-64")") {
    return R"({"info":{)" + std::string(info) + R"(},"packages":{)" + std::string(packages) +
           R"(},"packages.conda":{)" + std::string(conda) + "}}";
}

std::string compressed(std::string_view text) {
    std::string out(ZSTD_compressBound(text.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
    return out;
}

std::vector<specs::PackageRecord> records(const resolve::Channel& channel, std::string_view name) {
    std::vector<specs::PackageRecord> out;
    const auto done = channel.records_of(name, out);
    INFO((done ? std::string() : done.error().message));
    REQUIRE(done);
    return out;
}

TEST_CASE("a channel's subdirs are one, the platform's records first") {
    const TemporaryDirectory dir;
    dir.write("linux-64/repodata.json", repodata(record("a-1-0.tar.bz2", "a", "1")));
    dir.write("noarch/repodata.json",
              repodata("", record("a-2-0.conda", "a", "2") + ',' + record("b-1-0.conda", "b", "1"),
                       R"("subdir":"noarch")"));
    const auto channel = open_channel(dir.path().string(), {});
    REQUIRE(channel);
    CHECK((*channel)->name() == dir.path().string());
    CHECK((*channel)->names() == std::vector<std::string>{"a", "b"});
    CHECK((*channel)->has("b"));
    CHECK_FALSE((*channel)->has("c"));
    const auto found = records(**channel, "a");
    REQUIRE(found.size() == 2);
    CHECK(found[0].version == "1");
    CHECK(found[0].subdir == "linux-64");
    CHECK_FALSE(found[0].noarch);
    CHECK(found[0].url == "file://" + dir.path().string() + "/linux-64/a-1-0.tar.bz2");
    CHECK(found[1].version == "2");
    CHECK(found[1].subdir == "noarch");
    CHECK(found[1].noarch);
    CHECK(records(**channel, "c").empty());
}

TEST_CASE("every field of a record arrives") {
    const TemporaryDirectory dir;
    dir.write("linux-64/repodata.json", repodata("", R"("x-1.0-py_3.conda":{
        "build":"py_3","build_number":3,"constrains":["y <2"],"depends":["python >=3.8","z"],
        "license":null,"md5":"00","name":"x","noarch":"python","sha256":"abc","size":12,
        "subdir":"noarch","timestamp":1600000000123,"track_features":"nomkl, pypy","version":"1.0"})"));
    const auto channel = open_channel("file://" + dir.path().string(), {});
    REQUIRE(channel);
    const auto found = records(**channel, "x");
    REQUIRE(found.size() == 1);
    const auto& x = found[0];
    CHECK(x.name == "x");
    CHECK(x.version == "1.0");
    CHECK(x.build == "py_3");
    CHECK(x.build_number == 3);
    CHECK(x.subdir == "noarch");
    CHECK(x.channel == "file://" + dir.path().string());
    CHECK(x.file_name == "x-1.0-py_3.conda");
    CHECK(x.sha256 == "abc");
    CHECK(x.depends == std::vector<std::string>{"python >=3.8", "z"});
    CHECK(x.constrains == std::vector<std::string>{"y <2"});
    CHECK(x.track_features == std::vector<std::string>{"nomkl", "pypy"});
    CHECK(x.timestamp_ms == 1600000000123);
    CHECK(x.noarch);
}

TEST_CASE("seconds become milliseconds, lists of features stay lists, older noarch is a bool") {
    const TemporaryDirectory dir;
    dir.write(
        "linux-64/repodata.json",
        repodata(record("a-1-0.tar.bz2", "a", "1",
                        R"(,"timestamp":1500000000,"track_features":["f","g"],"noarch":true)") +
                 ',' +
                 record("b-1-0.tar.bz2", "b", "1",
                        R"(,"timestamp":1500000000.5,"track_features":null,"noarch":null)")));
    const auto channel = open_channel(dir.path().string(), {});
    REQUIRE(channel);
    const auto a = records(**channel, "a");
    CHECK(a.at(0).timestamp_ms == 1500000000000);
    CHECK(a.at(0).track_features == std::vector<std::string>{"f", "g"});
    CHECK(a.at(0).noarch);
    const auto b = records(**channel, "b");
    CHECK(b.at(0).timestamp_ms == 1500000000500);
    CHECK(b.at(0).track_features.empty());
    CHECK_FALSE(b.at(0).noarch);
}

TEST_CASE("of one build as .tar.bz2 and .conda the .conda is taken, whichever comes first") {
    const TemporaryDirectory dir;
    const bool conda_first = GENERATE(false, true);
    const std::string old_form = record("a-1-0.tar.bz2", "a", "1", R"(,"sha256":"old")") + ',' +
                                 record("a-2-0.tar.bz2", "a", "2");
    const std::string new_form = record("a-1-0.conda", "a", "1", R"(,"sha256":"new")");
    dir.write("linux-64/repodata.json", conda_first ? R"({"packages.conda":{)" + new_form +
                                                          R"(},"packages":{)" + old_form + "}}"
                                                    : repodata(old_form, new_form));
    const auto channel = open_channel(dir.path().string(), {});
    REQUIRE(channel);
    const auto found = records(**channel, "a");
    REQUIRE(found.size() == 2);
    const auto& one = found[0].version == "1" ? found[0] : found[1];
    CHECK(one.sha256 == "new");
    CHECK(one.file_name == "a-1-0.conda");
}

TEST_CASE("records that lie apart in the file are found together") {
    const TemporaryDirectory dir;
    std::string packages;
    for (int i = 0; i < 300; ++i) {
        const std::string n = std::to_string(i);
        packages += record("many-" + n + "-0.conda", "many", n) + ',';
        packages +=
            record("pad" + n + "-1-0.conda", "pad" + n, "1",
                   R"(,"summary":")" + std::string(static_cast<std::size_t>(i) * 40, '.') + '"') +
            ',';
    }
    packages.pop_back();
    dir.write("linux-64/repodata.json", repodata(packages));
    const auto channel = open_channel(dir.path().string(), {});
    REQUIRE(channel);
    const auto found = records(**channel, "many");
    REQUIRE(found.size() == 300);
    for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].version == std::to_string(i));
    }
}

TEST_CASE("base_url says where the packages are, without its secrets") {
    const TemporaryDirectory dir;
    dir.write("linux-64/repodata.json",
              repodata(record("a-1-0.conda", "a", "1"), "",
                       R"("base_url":"https://me:secret@mirror/t/tk-12/main/linux-64")"));
    dir.write("noarch/repodata.json",
              repodata(record("b-1-0.conda", "b", "1"), "", R"("base_url":"../elsewhere/")"));
    const auto channel = open_channel(dir.path().string(), {});
    REQUIRE(channel);
    const std::string url = records(**channel, "a").at(0).url;
    CHECK(url.starts_with("https://"));
    CHECK(url.ends_with("/main/linux-64/a-1-0.conda"));
    CHECK(url.find("secret") == std::string::npos);
    CHECK(url.find("tk-12") == std::string::npos);
    CHECK(records(**channel, "b").at(0).url ==
          "file://" + dir.path().string() + "/noarch/../elsewhere/b-1-0.conda");
}

TEST_CASE("a compressed repodata reads like a plain one") {
    const TemporaryDirectory dir;
    const std::string text = repodata(record("a-1-0.conda", "a", "1"));
    SECTION("one frame") {
        dir.write("linux-64/repodata.json.zst", compressed(text));
    }
    SECTION("two frames, as appending compressors write") {
        dir.write("linux-64/repodata.json.zst",
                  compressed(text.substr(0, 40)) + compressed(text.substr(40)));
    }
    const auto channel = open_channel(dir.path().string(), {});
    REQUIRE(channel);
    CHECK(records(**channel, "a").at(0).file_name == "a-1-0.conda");
}

TEST_CASE("of a plain and a compressed repodata the newer is read") {
    const TemporaryDirectory dir;
    const auto plain =
        dir.write("linux-64/repodata.json", repodata(record("a-1-0.conda", "a", "1")));
    const auto packed = dir.write("linux-64/repodata.json.zst",
                                  compressed(repodata(record("a-2-0.conda", "a", "2"))));
    const auto now = fs::file_time_type::clock::now();
    fs::last_write_time(plain, now);
    fs::last_write_time(packed, now - std::chrono::hours(1));
    CHECK(records(**open_channel(dir.path().string(), {}), "a").at(0).version == "1");
    fs::last_write_time(packed, now + std::chrono::seconds(1));
    CHECK(records(**open_channel(dir.path().string(), {}), "a").at(0).version == "2");
    fs::last_write_time(packed, now);
    CHECK(records(**open_channel(dir.path().string(), {}), "a").at(0).version == "1");
}

TEST_CASE("a directory that is no channel is refused with what is missing") {
    const TemporaryDirectory dir;
    dir.write("sub/linux-64/repodata.json", "{}");
    dir.write("empty/linux-64/index.html", "");
    const auto none = open_channel(dir.path().string(), {});
    REQUIRE_FALSE(none);
    CHECK(none.error().kind == ErrorKind::BadInput);
    CHECK(none.error().path == dir.path().string());
    CHECK(none.error().message == "no conda channel here: neither linux-64/ nor noarch/ is in it");
    CHECK(none.error().hint.find("linux-64/repodata.json") != std::string::npos);

    const auto deep = open_channel(dir / "sub/linux-64", {});
    REQUIRE_FALSE(deep);
    CHECK(deep.error().hint.find("directory above") != std::string::npos);

    const auto unindexed = open_channel(dir / "empty", {});
    REQUIRE_FALSE(unindexed);
    CHECK(unindexed.error().path == dir / "empty/linux-64");
    CHECK(unindexed.error().hint.find("conda index") != std::string::npos);

    const auto nowhere = open_channel(dir / "nowhere", {});
    REQUIRE_FALSE(nowhere);
    CHECK(nowhere.error().message == "no conda channel here: no such directory");

    const auto file = open_channel(dir / "empty/linux-64/index.html", {});
    REQUIRE_FALSE(file);
    CHECK(file.error().message == "no conda channel here: this is a file");
}

TEST_CASE("a bare name is a channel on the network, unless it is a channel here") {
    const TemporaryDirectory dir;
    const auto before = fs::current_path();
    fs::current_path(dir.path());
    dir.write("here/noarch/repodata.json", repodata(record("a-1-0.conda", "a", "1")));
    const auto remote = open_channel("conda-forge", {});
    const auto local = open_channel("here", {});
    fs::current_path(before);
    REQUIRE_FALSE(remote);
    CHECK(remote.error().kind == ErrorKind::Unavailable);
    CHECK(remote.error().code == "channel-not-local");
    REQUIRE(local);
    CHECK(records(**local, "a").at(0).url ==
          "file://" + dir.path().string() + "/here/noarch/a-1-0.conda");
}

TEST_CASE("an empty channel opens and has nothing") {
    const TemporaryDirectory dir;
    dir.write("noarch/repodata.json", "{}");
    const auto channel = open_channel(dir.path().string(), {});
    REQUIRE(channel);
    CHECK((*channel)->names().empty());
    CHECK_FALSE((*channel)->has("a"));
    CHECK(records(**channel, "a").empty());
}

TEST_CASE("a damaged repodata is refused with its file, line and column") {
    const TemporaryDirectory dir;
    const auto path =
        dir.write("linux-64/repodata.json",
                  "{\"packages\": {\n  \"a-1-0.conda\": {\"name\": \"a\", \"version\": 1}\n}}");
    dir.write("noarch/repodata.json", "{}");
    const auto channel = open_channel(dir.path().string(), {});
    REQUIRE_FALSE(channel);
    const Error& error = channel.error();
    CHECK(error.kind == ErrorKind::BadInput);
    CHECK(error.code == "bad-repodata");
    CHECK(error.path == path);
    CHECK(error.line == 2);
    CHECK(error.column == 43);
    CHECK(error.message == "not a usable repodata file: record \"a-1-0.conda\": \"version\": "
                           "expected a string in quotes, found a number (byte 57)");
    CHECK_FALSE(error.hint.empty());
}

TEST_CASE("a truncated repodata says in which record it ends") {
    const TemporaryDirectory dir;
    const std::string text = repodata(record("a-1-0.conda", "a", "1"));
    const auto path = dir.write("linux-64/repodata.json", text.substr(0, text.find("depends")));
    const auto channel = open_channel(dir.path().string(), {});
    REQUIRE_FALSE(channel);
    CHECK(channel.error().path == path);
    CHECK(channel.error().message.find("ends in the middle of record \"a-1-0.conda\"") !=
          std::string::npos);
    dir.write("linux-64/repodata.json", "");
    const auto empty = open_channel(dir.path().string(), {});
    REQUIRE_FALSE(empty);
    CHECK(empty.error().message.find("the file is empty") != std::string::npos);
}

TEST_CASE("a compressed repodata that is damaged, cut or a bomb is refused") {
    const TemporaryDirectory dir;
    const TemporaryDirectory cache;
    ChannelOptions options;
    options.cache_directory = GENERATE_REF(std::string(), cache.path().string());
    std::string packages;
    for (int i = 0; i < 2000; ++i) {
        packages += record("a-" + std::to_string(i) + "-0.conda", "a", std::to_string(i)) + ',';
    }
    packages.pop_back();
    const std::string whole = compressed(repodata(packages));
    SECTION("cut") {
        dir.write("linux-64/repodata.json.zst", whole.substr(0, whole.size() / 2));
        const auto channel = open_channel(dir.path().string(), options);
        REQUIRE_FALSE(channel);
        CHECK(channel.error().code == "bad-zstd");
        CHECK(channel.error().path == dir / "linux-64/repodata.json.zst");
        CHECK(channel.error().message.find("ends in the middle") != std::string::npos);
    }
    SECTION("not zstd at all") {
        dir.write("linux-64/repodata.json.zst", repodata(packages));
        const auto channel = open_channel(dir.path().string(), options);
        REQUIRE_FALSE(channel);
        CHECK(channel.error().code == "bad-zstd");
    }
    SECTION("empty") {
        dir.write("linux-64/repodata.json.zst", "");
        const auto channel = open_channel(dir.path().string(), options);
        REQUIRE_FALSE(channel);
        CHECK(channel.error().message.find("the file is empty") != std::string::npos);
    }
    SECTION("larger than allowed") {
        dir.write("linux-64/repodata.json.zst", whole);
        options.largest_text = 10000;
        const auto channel = open_channel(dir.path().string(), options);
        REQUIRE_FALSE(channel);
        CHECK(channel.error().code == "bad-zstd");
    }
    SECTION("a bomb") {
        dir.write("linux-64/repodata.json.zst",
                  compressed("{\"x\":\"" + std::string(256U << 20U, ' ') + "\"}"));
        const auto channel = open_channel(dir.path().string(), options);
        REQUIRE_FALSE(channel);
        CHECK(channel.error().message.find("-fold") != std::string::npos);
    }
    SECTION("sound zstd of a wrong record") {
        dir.write("linux-64/repodata.json.zst", compressed(R"({"packages":{"a-1-0.conda":7}})"));
        const auto channel = open_channel(dir.path().string(), options);
        REQUIRE_FALSE(channel);
        CHECK(channel.error().code == "bad-repodata");
        CHECK(channel.error().column == 28);
    }
    CHECK(fs::is_empty(cache.path()));
}

TEST_CASE("a repodata that is not a file is refused and does not hang") {
    const TemporaryDirectory dir;
    fs::create_directories(dir / "linux-64/repodata.json");
    const auto directory = open_channel(dir.path().string(), {});
    REQUIRE_FALSE(directory);
    CHECK(directory.error().code == "cannot-read");
    fs::remove(dir / "linux-64/repodata.json");
    REQUIRE(::system(("mkfifo '" + (dir / "linux-64/repodata.json") + "'").c_str()) == 0);
    const auto fifo = open_channel(dir.path().string(), {});
    REQUIRE_FALSE(fifo);
    CHECK(fifo.error().code == "cannot-read");
}

} // namespace
} // namespace cudaenv::channels
