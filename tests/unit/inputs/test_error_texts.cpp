// tests/golden/inputs/errors.txt: files that cannot be read, each with the whole error.
#include "base/printable.hpp"
#include "base/text.hpp"
#include "tests/support/places.hpp"
#include "tests/unit/inputs/files.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fstream>
#include <iterator>

using namespace cudaenv;
using namespace cudaenv::test;

namespace {

std::string shown(const Error& error) {
    std::string text = error.code + ": " + error.path;
    if (error.line > 0) {
        text += ":" + std::to_string(error.line) + ":" + std::to_string(error.column);
    }
    return text + ": " + error.message + "\n    " + error.hint + "\n";
}

} // namespace

TEST_CASE("every error of a file says where it is and what would be right") {
    const auto path = source_directory() / "tests/golden/inputs/errors.txt";
    std::ifstream file(path);
    const std::string golden((std::istreambuf_iterator<char>(file)), {});
    // "=== WORD", the file, "---", the error.
    std::string now;
    int cases = 0;
    std::string word;
    std::string text;
    bool in_error = false;
    const auto finish = [&] {
        if (word.empty()) {
            return;
        }
        ++cases;
        const auto input = read_files({{inputs::split_input_word(word).path, text}}, word);
        now +=
            "=== " + word + "\n" + text + "---\n" + (input ? "no error\n" : shown(input.error()));
        if (!input) {
            CHECK(input.error().kind == ErrorKind::BadInput);
        }
    };
    for (const std::string_view line : split(golden, '\n')) {
        if (line.starts_with("=== ")) {
            finish();
            word = line.substr(4);
            text.clear();
            in_error = false;
        } else if (line == "---") {
            in_error = true;
        } else if (!in_error) {
            text += std::string(line) + "\n";
        }
    }
    finish();
    CHECK(cases >= 30);
    CHECK(now == golden);
}
