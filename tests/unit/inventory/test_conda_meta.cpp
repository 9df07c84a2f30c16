#include "check/inventory/conda_meta.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>

namespace cudaenv::inventory {
namespace {

using facts::ClaimHash;
using facts::ClaimKind;

const std::string k_a(64, 'a');
const std::string k_b(64, 'b');

Result<facts::CondaPackage> read(const std::string& text) {
    ClaimedPaths paths("/e");
    CondaMetaReader reader;
    return reader.read(text, paths);
}

TEST_CASE("a record of conda's names the package, what it needs and each file with its hash") {
    const auto package =
        read(R"({"name": "pytorch", "version": "2.1.0", "build": "py3.11_cuda11.8_0",
        "channel": "https://conda.anaconda.org/pytorch/linux-64", "depends": ["python >=3.11", "mkl"],
        "link": {"source": "/pkgs/x", "type": 1}, "files": ["lib/other"],
        "paths_data": {"paths_version": 1, "paths": [
          {"_path": "lib/a.so", "path_type": "hardlink", "sha256": ")" +
             k_a + R"(",
           "sha256_in_prefix": ")" +
             k_a + R"(", "size_in_bytes": 12},
          {"_path": "bin/tool", "path_type": "hardlink", "prefix_placeholder": "/opt/placehold",
           "file_mode": "text", "sha256": ")" +
             k_a + R"(", "sha256_in_prefix": ")" + k_b + R"("},
          {"_path": "lib/b.so", "path_type": "softlink", "sha256": ")" +
             k_b + R"("},
          {"_path": "share/d", "path_type": "directory"}]}})");
    REQUIRE(package);
    CHECK(package->name == "pytorch");
    CHECK(package->version == "2.1.0");
    CHECK(package->build == "py3.11_cuda11.8_0");
    CHECK(package->channel == "https://conda.anaconda.org/pytorch/linux-64");
    CHECK(package->depends == std::vector<std::string>{"python >=3.11", "mkl"});
    const auto& files = package->files;
    REQUIRE(files.size() == 4);
    CHECK(files.path(0) == "lib/a.so");
    CHECK(files[0].size == 12);
    CHECK(files[0].hash == ClaimHash::Sha256);
    CHECK(files[0].sha256[31] == 0xaa);
    CHECK_FALSE(files[0].prefix_replaced);
    CHECK(files[1].prefix_replaced);
    CHECK(files[1].sha256[0] == 0xbb);
    CHECK(files[1].size == facts::FileClaim::k_no_size);
    CHECK(files[2].kind == ClaimKind::Softlink);
    CHECK(files[2].sha256[0] == 0xbb);
    CHECK_FALSE(files[2].prefix_replaced);
    CHECK(files[3].kind == ClaimKind::Directory);
    CHECK(files[3].hash == ClaimHash::None);
}

TEST_CASE("of an old record without paths_data the files are claimed") {
    for (const auto* paths_data : {"", R"("paths_data": {},)", R"("paths_data": null,)",
                                   R"("paths_data": {"paths": [], "paths_version": 1},)"}) {
        const auto package =
            read(std::string("{") + paths_data + R"("name": "a", "files": ["bin/x", "./lib/y"]})");
        REQUIRE(package);
        REQUIRE(package->files.size() == 2);
        CHECK(package->files.path(0) == "bin/x");
        CHECK(package->files.path(1) == "lib/y");
        CHECK(package->files[0].hash == ClaimHash::None);
    }
}

TEST_CASE("of a noarch Python package the files are claimed where conda linked them") {
    // As conda 26.1 writes it: `_path` as in the package, `files` as linked.
    const auto record = [](const std::string& noarch) {
        return R"({"name": "six", "version": "1.16.0", "noarch": ")" + noarch +
               R"(", "files": ["bin/six", "lib/python3.11/site-packages/six.py",
                 "lib/python3.11/site-packages/__pycache__/six.cpython-311.pyc"],
               "paths_data": {"paths_version": 1, "paths": [
                 {"_path": "site-packages/six.py", "path_type": "hardlink", "size_in_bytes": 3},
                 {"_path": "python-scripts/six-tool", "path_type": "hardlink"},
                 {"_path": "bin/six", "path_type": "unix_python_entry_point"},
                 {"_path": "lib/python3.11/site-packages/__pycache__/six.cpython-311.pyc",
                  "path_type": "pyc_file"}]}})";
    };
    const auto package = read(record("python"));
    REQUIRE(package);
    const auto& files = package->files;
    REQUIRE(files.size() == 4);
    CHECK(files.path(0) == "lib/python3.11/site-packages/six.py");
    CHECK(files[0].size == 3);
    CHECK(files.path(1) == "bin/six-tool");
    CHECK(files.path(2) == "bin/six");
    CHECK(files.path(3) == "lib/python3.11/site-packages/__pycache__/six.cpython-311.pyc");

    SECTION("of another that has such a directory it is its own") {
        const auto generic = read(record("generic"));
        REQUIRE(generic);
        CHECK(generic->files.path(0) == "site-packages/six.py");
    }
    SECTION("without the names that were linked nothing is claimed of it") {
        const auto bare = read(R"({"name": "six", "noarch": "python", "paths_data": {"paths": [
            {"_path": "site-packages/six.py"}, {"_path": "bin/six"}]}})");
        REQUIRE(bare);
        REQUIRE(bare->files.size() == 1);
        CHECK(bare->files.path(0) == "bin/six");
    }
}

TEST_CASE("a token in the channel of a record is not kept") {
    const auto package =
        read(R"({"name": "a", "channel": "https://host/t/SECRET-TOKEN/chan/linux-64"})");
    REQUIRE(package);
    CHECK(package->channel == "https://host/t/***/chan/linux-64");
}

TEST_CASE("names of files that are no UTF-8 come back as the bytes that they are") {
    SECTION("as Python writes them") {
        const auto package = read(R"({"name": "a", "files": ["caf\udce9\udcFF.py", "\\udce9", )"
                                  R"("\ud83d\ude00", "\u00e9"]})");
        REQUIRE(package);
        REQUIRE(package->files.size() == 4);
        CHECK(package->files.path(0) == "caf\xe9\xff.py");
        CHECK(package->files.path(1) == "\\udce9");
        CHECK(package->files.path(2) == "\xf0\x9f\x98\x80");
        CHECK(package->files.path(3) == "\xc3\xa9");
    }
    SECTION("as bytes") {
        const auto package = read("{\"name\": \"a\", \"files\": [\"caf\xe9.py\", \"\xc3\xa9\", "
                                  "\"\xf0\x9f\x98\", \"\x80\"]}");
        REQUIRE(package);
        REQUIRE(package->files.size() == 4);
        CHECK(package->files.path(0) == "caf\xe9.py");
        CHECK(package->files.path(1) == "\xc3\xa9");
        CHECK(package->files.path(2) == "\xf0\x9f\x98");
        CHECK(package->files.path(3) == "\x80");
    }
}

TEST_CASE("a file that is not a conda record is refused with a reason") {
    CHECK(read("").error().code == "bad-json");
    ClaimedPaths paths("/e");
    CHECK(CondaMetaReader().read({}, paths).error().code == "bad-json");
    CHECK(read("{\"name\": \"a\"").error().code == "bad-json");
    CHECK(read("[]").error().code == "bad-record");
    CHECK(read("{}").error().code == "bad-record");
    CHECK(read(R"({"name": 7})").error().code == "bad-record");
    CHECK(read(R"({"name": "a", "files": ["\ud800"]})").error().code == "bad-json");
    CHECK(read("{\"name\": \"a\", \"x\": " + std::string(5000, '[')).error().code == "bad-json");
}

TEST_CASE("fields of the wrong kind are passed over, and paths that name no file") {
    const auto package = read(R"({"name": "a", "depends": 3, "version": [], "files": {},
        "paths_data": {"paths": [4, {}, {"_path": 3}, {"_path": ""}, {"_path": "."},
        {"_path": "a\u0000b"}, {"_path": "ok", "size_in_bytes": -1, "sha256": "zz"},
        {"_path": "../out"}]}})");
    REQUIRE(package);
    REQUIRE(package->files.size() == 2);
    CHECK(package->files.path(0) == "ok");
    CHECK(package->files[0].size == facts::FileClaim::k_no_size);
    CHECK(package->files.other_hash(0) == "zz");
    CHECK(package->files.path(1) == "/out");
}

TEST_CASE("one reader reads record after record") {
    ClaimedPaths paths("/e");
    CondaMetaReader reader;
    REQUIRE(reader.read(R"({"name": "a", "files": ["x"]})", paths));
    REQUIRE_FALSE(reader.read("{", paths));
    const auto second = reader.read(R"({"name": "b", "files": ["y", "z"]})", paths);
    REQUIRE(second);
    CHECK(second->name == "b");
    CHECK(second->files.size() == 2);
}

} // namespace
} // namespace cudaenv::inventory
