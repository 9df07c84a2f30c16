#include "check/inventory/record_text.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

namespace cudaenv::inventory {
namespace {

using facts::ClaimHash;
using facts::FileClaim;
using Paths = std::vector<std::string>;

RecordText read(std::string_view text) {
    ClaimedPaths paths("/e");
    return parse_record(text, "s", paths);
}

Paths paths_of(const RecordText& record) {
    Paths result;
    for (const auto& claim : record.files) {
        result.emplace_back(record.files.path(claim));
    }
    return result;
}

TEST_CASE("a line of RECORD claims a path with its hash as 32 bytes and its size") {
    // The hash is that of "": e3b0c442 98fc1c14 ... b855.
    const auto record =
        read("nvidia/__init__.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n");
    REQUIRE(record.files.size() == 1);
    CHECK(record.files.path(0) == "s/nvidia/__init__.py");
    const auto& claim = record.files[0];
    CHECK(claim.size == 0);
    REQUIRE(claim.hash == ClaimHash::Sha256);
    CHECK(claim.sha256[0] == 0xe3);
    CHECK(claim.sha256[1] == 0xb0);
    CHECK(claim.sha256[30] == 0xb8);
    CHECK(claim.sha256[31] == 0x55);
    CHECK(record.damaged == 0);
}

TEST_CASE("a sha256 may be written in hexadecimal digits, as Debian's packages have it") {
    const auto record = read("a,sha256=" + std::string(62, '0') +
                             "fE,1\nb,sha256=" + std::string(63, '0') + "g,1\n");
    REQUIRE(record.files.size() == 2);
    CHECK(record.files[0].hash == ClaimHash::Sha256);
    CHECK(record.files[0].sha256[31] == 0xfe);
    CHECK(record.files[1].hash == ClaimHash::Other);
    CHECK(record.damaged == 1);
}

TEST_CASE("a line of RECORD may have neither hash nor size, nor even the commas") {
    const auto record = read("a-1.dist-info/RECORD,,\nb.py\nc.py,\n\nd/,,\r\n");
    CHECK(paths_of(record) == Paths{"s/a-1.dist-info/RECORD", "s/b.py", "s/c.py", "s/d"});
    CHECK(record.files[0].size == FileClaim::k_no_size);
    CHECK(record.files[0].hash == ClaimHash::None);
    CHECK(record.files[2].kind == facts::ClaimKind::File);
    CHECK(record.files[3].kind == facts::ClaimKind::Directory);
    CHECK(record.damaged == 0);
}

TEST_CASE("a name in quotes may hold commas, quotes and the end of a line") {
    const auto record =
        read("\"a,b.py\",,7\n\"say \"\"hi\"\".txt\",,\n\"two\nlines\",,3\n\"c\"d,,\n"
             "e\"f.py,,\nlast,,9");
    CHECK(paths_of(record) ==
          Paths{"s/a,b.py", "s/say \"hi\".txt", "s/two\nlines", "s/cd", "s/e\"f.py", "s/last"});
    CHECK(record.files[0].size == 7);
    CHECK(record.files[2].size == 3);
    CHECK(record.files[5].size == 9);
    CHECK(record.damaged == 0);
}

TEST_CASE("a hash of another algorithm is kept as text") {
    const auto record = read("a,,\nb,sha512=abcd,4\nc,md5=00,\n");
    REQUIRE(record.files.size() == 3);
    CHECK(record.files[1].hash == ClaimHash::Other);
    CHECK(record.files.other_hash(0).empty());
    CHECK(record.files.other_hash(1) == "sha512=abcd");
    CHECK(record.files.other_hash(2) == "md5=00");
    CHECK(record.damaged == 0);
}

TEST_CASE("damaged lines are counted, the first is named, and the others are read") {
    const auto record = read("good.py,,1\n"
                             "too,many,of,them\n"
                             ",sha256=x,1\n"
                             "size.py,,12kb\n"
                             "hash.py,sha256=short,5\n"
                             "good2.py,,2\n");
    CHECK(record.damaged == 4);
    CHECK(record.first_damaged_line == 2);
    CHECK(paths_of(record) == Paths{"s/good.py", "s/size.py", "s/hash.py", "s/good2.py"});
    CHECK(record.files[1].size == FileClaim::k_no_size);
    CHECK(record.files[2].hash == ClaimHash::Other);
    CHECK(record.files.other_hash(2) == "sha256=short");
    CHECK(record.files[2].size == 5);
}

TEST_CASE("a quote that is never closed costs its own line alone") {
    const auto record = read("a,,\n\"b,,\nc,,\nd,,\n");
    CHECK(paths_of(record) == Paths{"s/a", "s/c", "s/d"});
    CHECK(record.damaged == 1);
    CHECK(record.first_damaged_line == 2);

    std::string text = "\"b,,\n";
    for (int line = 0; line < 2000; ++line) {
        text += "file" + std::to_string(line) + ".py,,\n";
    }
    text += "\"quoted, too\",,\n";
    const auto far = read(text);
    CHECK(far.files.size() == 2001);
    CHECK(far.damaged == 1);
}

TEST_CASE("the number of a damaged line counts the lines inside of quotes") {
    const auto record = read("\"a\nb\nc\",,\n\"d\",,\nx,y,z,1\n");
    CHECK(record.files.size() == 2);
    CHECK(record.first_damaged_line == 5);
}

TEST_CASE("a NUL in a name damages its line, and a name that is no UTF-8 does not") {
    const auto record = read(std::string_view("a\0b,,\ncaf\xe9.py,,\n", 16));
    CHECK(paths_of(record) == Paths{"s/caf\xe9.py"});
    CHECK(record.damaged == 1);
}

TEST_CASE("a RECORD that is something else claims little and does not fail") {
    CHECK(read("").files.empty());
    CHECK(read("\n\n\r\n").files.empty());
    CHECK(read("\n\n\r\n").damaged == 0);
    CHECK(read(std::string(1000, '"')).damaged + read(std::string(1000, '"')).files.size() == 1);
    CHECK(read(std::string(100'000, '\0')).damaged == 1);
}

TEST_CASE("installed-files.txt of an egg-info is seen from the egg-info") {
    ClaimedPaths paths("/e");
    const auto result = parse_installed_files("../yaml/__init__.py\nPKG-INFO\n\n../../../bin/x\r\n",
                                              "lib/s/Y.egg-info", paths);
    CHECK(paths_of(result) ==
          Paths{"lib/s/yaml/__init__.py", "lib/s/Y.egg-info/PKG-INFO", "bin/x"});
    CHECK(result.damaged == 0);
}

} // namespace
} // namespace cudaenv::inventory
