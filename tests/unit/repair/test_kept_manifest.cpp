#include "check/repair/kept_store.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

using namespace cudaenv::repair;

namespace {

KeptDistribution torch() {
    KeptDistribution kept;
    kept.prefix = "/envs/a\xff"; // no UTF-8
    kept.name = "torch";
    kept.version = "1.12.0a0+git664058f";
    kept.site = "lib/python3.9/site-packages";
    kept.metadata = kept.site + "/torch-1.12.dist-info";
    kept.source = "/home/u/src/pytorch";
    kept.kept_at = 1795341104;
    KeptFile file;
    file.path = kept.site + "/torch/\xfe\"odd\".py";
    file.sha256.fill(0xab);
    file.size = 17;
    file.mode = 0555;
    KeptFile link;
    link.path = kept.site + "/torch/lib/libtorch.so";
    link.link = "libtorch.so.1";
    kept.files = {file, link};
    return kept;
}

std::string without(const std::string& text, const std::string& piece, const std::string& with) {
    std::string changed = text;
    const auto at = changed.find(piece);
    REQUIRE(at != std::string::npos);
    return changed.replace(at, piece.size(), with);
}

} // namespace

TEST_CASE("a manifest is read as it was written, odd bytes too") {
    const auto kept = torch();
    const auto read = read_manifest(write_manifest(kept));
    REQUIRE(read);
    CHECK(read->prefix == kept.prefix);
    CHECK(read->version == kept.version);
    CHECK(read->metadata == kept.metadata);
    CHECK(read->source == kept.source);
    CHECK(read->kept_at == kept.kept_at);
    REQUIRE(read->files.size() == 2);
    CHECK(read->files[0].path == kept.files[0].path);
    CHECK(read->files[0].sha256 == kept.files[0].sha256);
    CHECK(read->files[0].size == 17);
    CHECK(read->files[0].mode == 0555);
    CHECK_FALSE(read->files[0].link);
    CHECK(read->files[1].link == "libtorch.so.1");
    CHECK(read->bytes() == 17);
}

TEST_CASE("a damaged manifest does not count") {
    const auto text = write_manifest(torch());
    REQUIRE(read_manifest(text));
    CHECK_FALSE(read_manifest(""));
    CHECK_FALSE(read_manifest("[]"));
    CHECK_FALSE(read_manifest(text.substr(0, text.size() / 2)));
    CHECK_FALSE(read_manifest(without(text, "manifest/1", "manifest/2")));
    CHECK_FALSE(read_manifest(without(text, "\"mode\"", "\"mood\"")));
    CHECK_FALSE(read_manifest(without(text, "abab", "abax")));
    CHECK_FALSE(read_manifest(without(text, "\"size\": 17", "\"size\": -17")));
}

TEST_CASE("a manifest that names a file outside the environment does not count") {
    for (const char* path : {"../x", "/etc/passwd", "a/../../x", "", "a//b", "./a"}) {
        INFO(path);
        auto kept = torch();
        kept.files[1].path = path;
        CHECK_FALSE(read_manifest(write_manifest(kept)));
    }
}

TEST_CASE("the directory of a copy is one plain name") {
    CHECK(kept_name("torch", "1.12.0a0+git6") == "torch-1.12.0a0+git6");
    CHECK(kept_name("torch", "1!2.0") == "torch-1!2.0");
    CHECK(kept_name("x", "../../etc") == "x-.._.._etc");
    CHECK(kept_name("..", "") == "_..-");
    CHECK(kept_name("x", std::string(1000, '9')).size() == 200);
}
