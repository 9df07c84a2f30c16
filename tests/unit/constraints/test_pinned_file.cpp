#include "cli/commands/file_changes.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv::cli;

TEST_CASE("every pinned file is byte for byte as it was after with and without") {
    for (const char* text : {"", "numpy 1.*\n", "numpy 1.*", "# theirs\n\nnumpy 1.*\r\n"}) {
        CAPTURE(text);
        const auto change = with_pinned(std::string(text), {"pytorch ==2.4.0 b"}, true);
        REQUIRE(change.text);
        CHECK(change.text->ends_with("pytorch ==2.4.0 b\n"));
        const auto record = pinned_record("# head\n" + change.record + "torch==2.4.0\n");
        CHECK_FALSE(record.made);
        CHECK(without_pinned(*change.text, record) == text);
    }
}

TEST_CASE("it has no comments, which some condas reject") {
    const auto change = with_pinned(std::nullopt, {"pytorch ==2.4.0 b"}, true);
    CHECK(change.text == "pytorch ==2.4.0 b\n");
    CHECK(pinned_record(change.record).made);
}

TEST_CASE("a package that the user has pinned is left to the user") {
    for (const char* line :
         {"pytorch 2.*\n", "conda-forge::PyTorch=2\n", "  pytorch>=2  # why\n"}) {
        CAPTURE(line);
        const auto change =
            with_pinned(std::string(line), {"pytorch ==2.4.0 b", "torchvision ==0.19.0 b"}, true);
        CHECK(*change.text == std::string(line) + "torchvision ==0.19.0 b\n");
    }
}

TEST_CASE("what the user wrote behind our lines stays") {
    const auto change = with_pinned(std::string("numpy 1.*"), {"pytorch ==2.4.0 b"}, true);
    const auto record = pinned_record(change.record);
    CHECK(without_pinned(*change.text + "scipy\n", record) == "numpy 1.*\nscipy\n");
}

TEST_CASE("a venv has no such file") {
    const auto change = with_pinned(std::nullopt, {"pytorch ==2.4.0 b"}, false);
    CHECK_FALSE(change.text);
    CHECK(change.record.empty());
}
