#include "check/inventory/metadata_text.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::inventory {
namespace {

using Texts = std::vector<std::string>;

TEST_CASE("METADATA has name, version and requirements, folded ones on one line") {
    const auto metadata = parse_metadata("Metadata-Version: 2.1\r\n"
                                         "Name: My.Package\r\n"
                                         "VERSION:1.0\r\n"
                                         "Summary: a\r\n"
                                         "        Name: not this\r\n"
                                         "Requires-Dist: numpy (>=1.20)\r\n"
                                         "Requires-Dist: torch==2.1.0 ;\r\n"
                                         "\textra == \"gpu\"\r\n"
                                         "\r\n"
                                         "Requires-Dist: text\r\n");
    CHECK(metadata.name == "My.Package");
    CHECK(metadata.version == "1.0");
    CHECK(metadata.requires_dist == Texts{"numpy (>=1.20)", "torch==2.1.0 ; extra == \"gpu\""});
}

TEST_CASE("a description among the headers hides no requirement behind it") {
    const auto metadata =
        parse_metadata("Name: a\nDescription: long\n        |\n        Version: 9\n"
                       "Version: 1\nRequires-Dist: b\n\nbody\n");
    CHECK(metadata.version == "1");
    CHECK(metadata.requires_dist == Texts{"b"});
}

TEST_CASE("damaged headers are passed over") {
    const auto metadata =
        parse_metadata("\xef\xbb\xbfName: a\nno colon here\n: b\nVersion: 1\nName: c");
    CHECK(metadata.name == "a");
    CHECK(metadata.version == "1");
    CHECK(parse_metadata("\nName: a\n").name.empty());
    CHECK(parse_metadata("").name.empty());
}

TEST_CASE("the end of the headers is found wherever the text was cut before") {
    const std::string text = "Name: a\r\nVersion: 1\r\n\r\nbody\n\nmore";
    const auto end = text.find("body");
    for (std::size_t from = 0; from < end; ++from) {
        CHECK(end_of_headers(text, from) == end);
    }
    CHECK(end_of_headers("Name: a\n") == std::string::npos);
    CHECK(end_of_headers("Name: a\n\n") == 9);
    CHECK(end_of_headers("\nbody") == 1);
    CHECK(end_of_headers("\r\nbody") == 2);
    CHECK(end_of_headers("\r\nbody", 1) == 2);
    CHECK(end_of_headers("") == std::string::npos);
}

TEST_CASE("WHEEL has the generator and the tags") {
    const auto metadata =
        parse_wheel("Wheel-Version: 1.0\nGenerator: bdist_wheel (0.41.2)\n"
                    "Root-Is-Purelib: false\nTag: cp311-cp311-manylinux_2_17_x86_64\n"
                    "Tag: cp311-cp311-manylinux2014_x86_64\n\n");
    CHECK(metadata.generator == "bdist_wheel (0.41.2)");
    CHECK(metadata.tags ==
          Texts{"cp311-cp311-manylinux_2_17_x86_64", "cp311-cp311-manylinux2014_x86_64"});
}

TEST_CASE("requires.txt is read as Requires-Dist") {
    CHECK(parse_requires_txt("six>=1.0\n\n[gpu]\ncupy\n\n[:python_version < \"3.8\"]\nbackport\n"
                             "[test:sys_platform == \"linux\"]\nx @ https://h/x.zip\n") ==
          Texts{"six>=1.0", "cupy; extra == \"gpu\"", "backport; python_version < \"3.8\"",
                "x @ https://h/x.zip ; (sys_platform == \"linux\") and extra == \"test\""});
}

TEST_CASE("direct_url.json has a distribution's origin, read without its credentials") {
    const auto git = parse_direct_url(
        R"({"url": "https://me:secret@host/apex.git?token=x", "vcs_info": {"vcs": "git",
            "requested_revision": "main", "commit_id": "0123abc"}})");
    REQUIRE(git);
    CHECK(git->url == "https://***@host/apex.git?***");
    CHECK(git->vcs == "git");
    CHECK(git->commit == "0123abc");
    CHECK(git->local_directory.empty());
    CHECK_FALSE(git->editable);

    const auto editable = parse_direct_url(
        R"({"dir_info": {"editable": true}, "url": "file:///home/me/t/my%20torch"})");
    REQUIRE(editable);
    CHECK(editable->editable);
    CHECK(editable->local_directory == "/home/me/t/my torch");
    CHECK(editable->url == "file:///home/me/t/my%20torch");

    const auto archive = parse_direct_url(
        R"({"archive_info": {"hash": "sha256=ab", "hashes": {"sha256": "ab"}}, "url": "file:///a.whl"})");
    REQUIRE(archive);
    CHECK(archive->archive_hash == "sha256=ab");
    CHECK(archive->local_directory.empty());
    CHECK(parse_direct_url(R"({"archive_info": {"hash": "md5=cd"}, "url": "https://h/a.whl"})")
              ->archive_hash == "md5=cd");
}

TEST_CASE("a direct_url.json that a conda package contains says nothing of this machine") {
    const auto is_condas = [](const char* url) {
        const auto parsed =
            parse_direct_url(R"({"dir_info": {}, "url": ")" + std::string(url) + "\"}");
        REQUIRE(parsed);
        return is_of_conda_build(*parsed);
    };
    for (const char* url :
         {"file:///home/conda/feedstock_root/build_artifacts/numpy_1700000000000/work",
          "file:///croot/pip_1724092405/work/dist/pip-24.2-py3-none-any.whl",
          "file:///opt/conda/conda-bld/pytorch_1659484806/work",
          "file:///home/me/output/bld/rattler-build_six_1700000000/work"}) {
        CAPTURE(url);
        CHECK(is_condas(url));
    }
    for (const char* url :
         {"file:///home/me/src/pytorch", "file:///home/me/work/pytorch", "file:///data/run_12/work",
          "file:///home/me/pytorch_1659484806/workshop", "https://host/numpy_1700000000000/work"}) {
        CAPTURE(url);
        CHECK_FALSE(is_condas(url));
    }
}

TEST_CASE("direct_url.json that names no url is refused") {
    for (const auto* text : {"", "{", "[]", "{}", R"({"url": 3})", R"({"url": ""})"}) {
        CHECK_FALSE(parse_direct_url(text));
    }
    CHECK(
        parse_direct_url(R"({"url": "file:///a%00b", "vcs_info": 3, "dir_info": {"editable": 1}})")
            ->local_directory.empty());
}

} // namespace
} // namespace cudaenv::inventory
