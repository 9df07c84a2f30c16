#include "base/yaml_document.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace cudaenv;

namespace {

// The tree as one line: {key: [a, "b"]}, null for nothing.
std::string flat(const YamlNode& node) {
    std::string text;
    switch (node.kind) {
    case YamlNode::Kind::Null:
        return "null";
    case YamlNode::Kind::Alias:
        return node.text;
    case YamlNode::Kind::Scalar:
        return node.quoted ? '"' + node.text + '"' : node.text;
    case YamlNode::Kind::Sequence:
        for (const YamlNode& item : node.items) {
            text += (text.empty() ? "" : ", ") + flat(item);
        }
        return '[' + text + ']';
    case YamlNode::Kind::Mapping:
        for (const YamlEntry& entry : node.entries) {
            text += (text.empty() ? "" : ", ") + entry.key + ": " + flat(entry.value);
        }
        return '{' + text + '}';
    }
    return text;
}

std::string read(std::string_view text) {
    const auto root = parse_yaml(text);
    return root ? flat(*root)
                : "line " + std::to_string(root.error().line) + " column " +
                      std::to_string(root.error().column) + ": " + root.error().message;
}

} // namespace

TEST_CASE("block and flow collections are read alike") {
    CHECK(read("a: 1\nb:\n  - x\n  - y: 2\n    z: 3\nc:\n- 4\nd:\n") ==
          "{a: 1, b: [x, {y: 2, z: 3}], c: [4], d: null}");
    CHECK(read("{a: 1, b: [x, {y: 2, z: 3}], c: [4], d: }") ==
          "{a: 1, b: [x, {y: 2, z: 3}], c: [4], d: null}");
    CHECK(read("- - a\n  - b\n-\n  - c\n- \n") == "[[a, b], [c], null]");
    CHECK(read("[a: 1,\n # in it\n b]") == "[{a: 1}, b]");
}

TEST_CASE(
    "scalars: plain up to a comment, quoted with their escapes, block ones with their lines") {
    CHECK(read("a: x y # z\nb: x#y\nc: http://h:80/p\n") == "{a: x y, b: x#y, c: http://h:80/p}");
    CHECK(read("a: 'it''s'\nb: \"q\\\"\\\\\"\n\"c\" : d\n") == "{a: \"it's\", b: \"q\"\\\", c: d}");
    CHECK(read("a: |\n  one\n\n  two\nb: >-\n  one\n  two\nc: 1\n") ==
          "{a: \"one\n\ntwo\n\", b: \"one two\", c: 1}");
    CHECK(read("a: &x 1\nb: *x\nc: !!str 2\nd: &y\n  e: f\n") == "{a: 1, b: *x, c: 2, d: {e: f}}");
    CHECK(read("a: one\n  two\n\n  three # x\nb: 1\n") == "{a: one two\nthree, b: 1}");
    CHECK(read("- one\n  two\n- 1\n") == "[one two, 1]");
    CHECK(parse_yaml("~")->is_null());
    CHECK_FALSE(parse_yaml("'~'")->is_null());
    CHECK(parse_yaml("")->is_null());
}

TEST_CASE("places are lines and columns in bytes") {
    const auto root = parse_yaml("\n# x\nkey:\n    - \"é\"\n    - b\n\"é\": [é, é]\n");
    REQUIRE(root);
    const YamlNode& list = root->entries[0].value;
    CHECK(root->entries[0].line == 3);
    CHECK(list.items[0].column == 7);
    CHECK(list.items[1].line == 5);
    CHECK(root->entries[1].value.items[0].column == 8);
    CHECK(root->entries[1].value.items[1].column == 12);
}

TEST_CASE("what is not YAML is an error with its place") {
    CHECK(read("a: 1\n  b: 2\n") ==
          "line 2 column 4: mapping values are not allowed in this context");
    CHECK(read("a:\n  - x\n y: 1\n") == "line 3 column 2: did not find expected key while parsing "
                                        "a block mapping that begins in line 1");
    CHECK(read("- a\n   - b\n- c: d\n  - e\n") ==
          "line 4 column 3: did not find expected key while parsing a block mapping that begins in "
          "line 3");
    CHECK(read("a:\n\t- x\n") == "line 2 column 1: found character that cannot start any token "
                                 "while scanning for the next token");
    CHECK(read("? [a]\n: b\n") == "line 1 column 3: a key that is not a text is not read");
    CHECK(read("a: - b\n") ==
          "line 1 column 4: block sequence entries are not allowed in this context");
    CHECK(read("a: b: c\n") == "line 1 column 5: mapping values are not allowed in this context");
    CHECK(read("a: [b\nc: d\n") == "line 2 column 2: did not find expected ',' or ']' while "
                                   "parsing a flow sequence that begins in line 1");
    CHECK(read("a: 'b\n") ==
          "line 1 column 4: found unexpected end of stream while scanning a quoted scalar");
    CHECK(read("a: 'b' c\n") == "line 1 column 8: did not find expected key while parsing a block "
                                "mapping that begins in line 1");
    CHECK(read("a: 1\nb\n") ==
          "line 2 column 1: could not find expected ':' while scanning a simple key");
    CHECK(read("a: `b`\n") == "line 1 column 4: found character that cannot start any token while "
                              "scanning for the next token");
    CHECK(read("a: 1\n---\nb: 2\n") ==
          "line 2 column 1: a second document in one file is not read");
    CHECK(read("é: 1\nb: \xff\n") == "line 2 column 4: invalid leading UTF-8 octet");
}

TEST_CASE("deep nesting is an error, not a deep recursion") {
    const std::string text = GENERATE(
        std::string(100000, '['), std::string(100000, '{'),
        [] {
            std::string lines;
            for (std::size_t i = 0; i < 2000; ++i) {
                lines += std::string(i, ' ') + "a:\n";
            }
            return lines;
        }(),
        [] {
            std::string items;
            for (int i = 0; i < 2000; ++i) {
                items += "- ";
            }
            return items + "x";
        }());
    REQUIRE_FALSE(parse_yaml(text));
}
