#include "solver/pins/pins.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <set>

using namespace cudaenv;
using namespace cudaenv::pins;

namespace {

std::string shown(const std::vector<Pin>& pins) {
    std::string out;
    for (const Pin& pin : pins) {
        out += (out.empty() ? "" : " ") + pin.name + '|' + pin.constraint;
    }
    return out;
}

} // namespace

TEST_CASE("a pin can be written in each of the ways people write one") {
    struct Case {
        const char* text;
        const char* pins;
    };
    const auto c = GENERATE(
        Case{"11.3", "cuda|11.3"}, Case{"cuda=11.3", "cuda|11.3"}, Case{"cuda@11.3", "cuda|11.3"},
        Case{"cu113", "cuda|11.3"}, Case{"cu118", "cuda|11.8"}, Case{"cu121", "cuda|12.1"},
        Case{"cu130", "cuda|13.0"}, Case{"cu92", "cuda|9.2"}, Case{"cu100", "cuda|10.0"},
        Case{"cu12", "cuda|12"}, Case{"CU113", "cuda|11.3"}, Case{"torch=1.12", "torch|1.12"},
        Case{"cudnn=8", "cudnn|8"}, Case{"cudnn>=8.2", "cudnn|>=8.2"},
        Case{"cuda==11.3.1", "cuda|==11.3.1"}, Case{"python=3.9", "python|3.9"},
        Case{"torch>=2.1,<2.4", "torch|>=2.1,<2.4"}, Case{"cuda=11.*", "cuda|11"},
        Case{"torch >= 2.1, < 2.4", "torch|>=2.1,<2.4"}, Case{"pytorch=1.12", "torch|1.12"},
        Case{"PyTorch==1.12", "torch|==1.12"}, Case{"tf=2.15", "tensorflow|2.15"},
        Case{"cudatoolkit=11.3", "cuda|11.3"}, Case{"cuda-version=12", "cuda|12"},
        Case{"cuda_version=12", "cuda|12"}, Case{"pytorch-cuda=12.1", "cuda|12.1"},
        Case{"nvcc=11", "cuda|11"}, Case{"py=3.9", "python|3.9"}, Case{"cuda 11.3", "cuda|11.3"},
        Case{"  11.3 ", "cuda|11.3"}, Case{">=11,<12", "cuda|>=11,<12"},
        Case{"cuda=>=11", "cuda|>=11"}, Case{"cuda@>=11", "cuda|>=11"}, Case{"gcc=9", "gcc|9"},
        Case{"cuda=*", "cuda|*"}, Case{"torch=1.12.1+cu113", "torch|1.12.1 cuda|11.3"},
        Case{"torch==1.12.1+cu113", "torch|==1.12.1 cuda|11.3"});
    INFO(c.text);
    const auto pins = parse_pin(c.text, "argument 1");
    REQUIRE(pins);
    CHECK(shown(*pins) == c.pins);
    CHECK(pins->front().origin == "argument 1");
}

TEST_CASE("a wrong pin is one message with its argument and column") {
    struct Case {
        const char* text;
        const char* code;
        const char* message;
        const char* hint;
        int column;
    };
    const auto c = GENERATE(
        Case{"cuda=eleven", "bad-version", "\"eleven\" is not a version",
             "expected digits and dots, as in 11.3", 6},
        Case{"cudaa=11", "unknown-pin", "unknown pin \"cudaa\"", "did you mean \"cuda\"?", 1},
        Case{"  pytroch=2", "unknown-pin", "unknown pin \"pytroch\"", "did you mean \"pytorch\"?",
             3},
        Case{"torch", "bad-pin", "the pin \"torch\" has no version",
             "write torch=VERSION, as in cuda=11.3", 6},
        Case{"pytorch ", "bad-pin", "the pin \"pytorch\" has no version",
             "write torch=VERSION, as in cuda=11.3", 8},
        Case{"torch==", "bad-pin",
             "a version is missing after ==", "as in 11.3, ==11.3.1 or >=2.1,<2.4", 8},
        Case{"torch>=2.1,", "bad-pin", "a version is missing", "as in 11.3, ==11.3.1 or >=2.1,<2.4",
             12},
        Case{"", "bad-pin", "an empty pin",
             "a pin is a CUDA version or NAME=VERSION, as in 11.3 or torch=1.12", 1},
        Case{"cu11345", "bad-pin", "\"cu11345\" is not a CUDA label",
             "expected cu and two or three digits, as in cu113 for 11.3", 1},
        Case{"[cuda]", "bad-pin", "\"[cuda]\" is not a pin",
             "a pin is a CUDA version or NAME=VERSION, as in 11.3 or torch=1.12", 1},
        Case{"cuda:11.3", "bad-pin", "\":11.3\" cannot follow the name \"cuda\"",
             "write cuda=VERSION, as in cuda=11.3", 5},
        Case{"torch=2.1+cpu", "bad-pin", "a pin cannot ask for a CPU build",
             "--cpu asks for one when resolving", 10},
        Case{"torch=2.1+rocm6", "bad-version", "\"2.1+rocm6\" is not a version",
             "expected digits and dots, as in 11.3; a build such as +cu113 is the pin cuda = "
             "\"11.3\"",
             7});
    INFO(c.text);
    const auto pins = parse_pin(c.text, "argument 1");
    REQUIRE_FALSE(pins);
    CHECK(pins.error().code == c.code);
    CHECK(pins.error().message == c.message);
    CHECK(pins.error().hint == c.hint);
    CHECK(pins.error().path == "argument 1");
    CHECK(pins.error().column == c.column);
}

TEST_CASE("a name near to none lists the known ones") {
    const auto pins = parse_pin("kubernetes=1", "argument 2");
    REQUIRE_FALSE(pins);
    CHECK(pins.error().hint.substr(0, 22) == "known are cuda, cudnn,");
}

TEST_CASE("no two entries of the vocabulary share a name or alias") {
    std::set<std::string_view> seen;
    for (const PinName& name : pin_names()) {
        CHECK(seen.insert(name.name).second);
        CHECK_FALSE(name.what.empty());
        CHECK(find_pin_name(name.name) == &name);
        for (const std::string_view alias : name.aliases) {
            CHECK(seen.insert(alias).second);
            CHECK(find_pin_name(alias) == &name);
        }
    }
}
