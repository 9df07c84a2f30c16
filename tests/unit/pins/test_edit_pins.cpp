#include "base/text.hpp"
#include "solver/pins/pins.hpp"
#include "solver/pins/project_file.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <map>
#include <random>

using namespace cudaenv;
using namespace cudaenv::pins;

namespace {

std::string edited(std::string_view text, std::vector<PinEdit> edits) {
    const auto out = edit_pins(text, "p", edits);
    INFO(text << "\n" << (out ? "" : out.error().message));
    REQUIRE(out);
    // Idempotent: the same edit again changes nothing.
    const auto again = edit_pins(*out, "p", edits);
    REQUIRE(again);
    REQUIRE(*again == *out);
    return *out;
}

std::string set(std::string_view text, const char* name, const char* constraint) {
    return edited(text, {{name, constraint}});
}
std::string removed(std::string_view text, const char* name) {
    return edited(text, {{name, std::nullopt}});
}

} // namespace

TEST_CASE("a pin is changed in place and its comment stays") {
    CHECK(set("# top\n[pins]\ncuda = \"11.3\"   # why\ntorch = '1.12'\n\n[resolve]\nfor=\"run\"\n",
              "cuda", "12.1") ==
          "# top\n[pins]\ncuda = \"12.1\"   # why\ntorch = '1.12'\n\n[resolve]\nfor=\"run\"\n");
    CHECK(set("[pins]\ntorch = '1.12' # q\n", "torch", "2") == "[pins]\ntorch = '2' # q\n");
    CHECK(set("[pins]\ntorch = '''1.12'''\n", "torch", "2") == "[pins]\ntorch = \"2\"\n");
    CHECK(set("[pins]\ntorch = \"\"\"\n1.12\"\"\" # c\n", "torch", "2") ==
          "[pins]\ntorch = \"2\" # c\n");
}

TEST_CASE("a new pin goes after the last one of its table, indented alike") {
    CHECK(set("[pins]\n  cuda = \"11.3\" # a\n\n# about resolve\n[resolve]\n", "torch", "1.12") ==
          "[pins]\n  cuda = \"11.3\" # a\n  torch = \"1.12\"\n\n# about resolve\n[resolve]\n");
    CHECK(set("[pins] # here\n[resolve]\n", "cuda", "11.3") ==
          "[pins] # here\ncuda = \"11.3\"\n[resolve]\n");
    CHECK(set("[ 'pins' ]\n", "cuda", "11.3") == "[ 'pins' ]\ncuda = \"11.3\"\n");
}

TEST_CASE("a missing table is added at the end") {
    CHECK(set("", "cuda", "11.3") == "[pins]\ncuda = \"11.3\"\n");
    CHECK(set("# mine\n", "cuda", "11.3") == "# mine\n\n[pins]\ncuda = \"11.3\"\n");
    CHECK(set("[resolve]\nfor = \"run\"", "cuda", "11.3") ==
          "[resolve]\nfor = \"run\"\n\n[pins]\ncuda = \"11.3\"");
    CHECK(set("\xEF\xBB\xBF", "cuda", "11.3") == "\xEF\xBB\xBF[pins]\ncuda = \"11.3\"\n");
}

TEST_CASE("line endings and a missing final newline stay as they are") {
    CHECK(set("[pins]\r\ncuda = \"11.3\"\r\n", "torch", "1") ==
          "[pins]\r\ncuda = \"11.3\"\r\ntorch = \"1\"\r\n");
    CHECK(set("[pins]\r\ncuda = \"11.3\"", "torch", "1") ==
          "[pins]\r\ncuda = \"11.3\"\r\ntorch = \"1\"");
    CHECK(set("[pins]", "torch", "1") == "[pins]\ntorch = \"1\"");
    CHECK(set("# x\r\n", "torch", "1") == "# x\r\n\r\n[pins]\r\ntorch = \"1\"\r\n");
    CHECK(removed("[pins]\r\ncuda = \"11.3\"\r\ntorch = \"1\"", "torch") ==
          "[pins]\r\ncuda = \"11.3\"\r\n");
}

TEST_CASE("an inline table is edited inside its braces") {
    CHECK(set("pins = {cuda=\"11.3\"} # x\n", "cuda", "12") == "pins = {cuda=\"12\"} # x\n");
    CHECK(set("pins = { cuda = \"11.3\" }\n", "torch", "2") ==
          "pins = { cuda = \"11.3\", torch = \"2\" }\n");
    CHECK(set("pins = {}\n", "torch", "2") == "pins = { torch = \"2\" }\n");
    CHECK(removed("pins = { cuda = \"11.3\", torch = \"2\", gcc = \"9\" }\n", "cuda") ==
          "pins = { torch = \"2\", gcc = \"9\" }\n");
    CHECK(removed("pins = { cuda = \"11.3\", torch = \"2\", gcc = \"9\" }\n", "torch") ==
          "pins = { cuda = \"11.3\", gcc = \"9\" }\n");
    CHECK(removed("pins = { cuda = \"11.3\", torch = \"2\" }\n", "torch") ==
          "pins = { cuda = \"11.3\" }\n");
    CHECK(removed("pins = { cuda = \"11.3\" }\n", "cuda") == "pins = {}\n");
}

TEST_CASE("dotted and quoted keys are edited as they are written") {
    CHECK(set("pins.cuda = \"11.3\"\n[resolve]\n", "cuda", "12") ==
          "pins.cuda = \"12\"\n[resolve]\n");
    CHECK(set("pins . \"cuda\" = \"11.3\"\n[resolve]\n", "torch", "2") ==
          "pins . \"cuda\" = \"11.3\"\npins.torch = \"2\"\n[resolve]\n");
    CHECK(set("[pins]\n\"c\\u0075da\" = \"11.3\"\n", "cuda", "12") ==
          "[pins]\n\"c\\u0075da\" = \"12\"\n");
    CHECK(removed("pins.cuda = \"11.3\" # gone\nresolve.for = \"run\"\n", "cuda") ==
          "resolve.for = \"run\"\n");
}

TEST_CASE("an alias keeps its name and is found by the canonical one") {
    CHECK(set("[pins]\npytorch = \"1.12\"\n", "torch", "2.1") == "[pins]\npytorch = \"2.1\"\n");
    CHECK(set("[pins]\ntorch = \"1.12\"\n", "pytorch", "2.1") == "[pins]\ntorch = \"2.1\"\n");
    CHECK(removed("[pins]\nCUDA_Version = \"11\"\n", "cuda") == "[pins]\n");
}

TEST_CASE("a pin that already means the same is left as it is written") {
    const std::string text = "[pins]\ncuda = '=11.3.*'\n";
    CHECK(set(text, "cuda", "11.3") == text);
    CHECK(removed(text, "torch") == text);
}

TEST_CASE("removing a pin takes its line and leaves the rest") {
    CHECK(removed("[pins]\n# the toolkit\ncuda = \"11.3\" # x\n\ntorch = \"1\"\n", "cuda") ==
          "[pins]\n# the toolkit\n\ntorch = \"1\"\n");
    CHECK(removed("[pins]\ncuda = \"\"\"\n11.3\"\"\"\ntorch = \"1\"\n", "cuda") ==
          "[pins]\ntorch = \"1\"\n");
}

TEST_CASE("text that only looks like a pin is not touched") {
    const std::string text =
        "# [pins]\n# cuda = \"1\"\n[resolve]\nchannels = [ # [pins]\n \"[pins]\", '''\n"
        "cuda = \"9\"\n''' ,]\n";
    // The multi-line string has a newline, which no channel may have.
    CHECK_FALSE(edit_pins(text, "p", std::vector<PinEdit>{{"cuda", "11.3"}}));
    const std::string fine =
        "# [pins]\n# cuda = \"1\"\n[resolve]\nchannels = [ # [pins]\n \"[pins]\",\n \"a # b\" ,]\n";
    CHECK(set(fine, "cuda", "11.3") == fine + "\n[pins]\ncuda = \"11.3\"\n");
}

TEST_CASE("several edits are made together or not at all") {
    CHECK(edited("[pins]\ncuda = \"11.3\"\n",
                 {{"torch", "2"}, {"cuda", std::nullopt}, {"cudnn", ">=8.2, <9"}}) ==
          "[pins]\ntorch = \"2\"\ncudnn = \">=8.2,<9\"\n");
    const auto wrong =
        edit_pins("[pins]\n", "p", std::vector<PinEdit>{{"torch", "2"}, {"cuda", "x"}});
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().code == "bad-version");
    CHECK(edit_pins("[pins]\n", "p", std::vector<PinEdit>{{"cudaa", "2"}}).error().code ==
          "unknown-pin");
    CHECK(edit_pins("[pins]\ncudaa = \"1\"\n", "p", std::vector<PinEdit>{{"cuda", "2"}})
              .error()
              .line == 2);
}

namespace {

// Project files made of pieces: every shape of [pins] among other tables, comments and blank lines.
std::string random_project(std::mt19937& random) {
    const auto pick = [&](std::initializer_list<const char*> pieces) {
        return std::string(
            *(pieces.begin() + static_cast<std::ptrdiff_t>(random() % pieces.size())));
    };
    const auto entries = [&](const std::string& before, const std::string& after) {
        std::string out;
        std::vector<std::string> names{"cuda", "pytorch", "\"cudnn\"", "'python'", "gcc"};
        std::shuffle(names.begin(), names.end(), random);
        names.resize(random() % 5);
        for (const std::string& name : names) {
            out += before + name + pick({" = ", "=", "\t=  "}) +
                   pick({"\"11.3\"", "'12'", "\">=8.2,<9\"", "\"\"\"3.9\"\"\"", "\"1\\u0031\""}) +
                   after;
            if (after.size() == 1) {
                out += pick({"", "", "# note = \"x\"\n", "\n"});
            }
        }
        return out;
    };
    std::string top;
    std::string rest;
    switch (random() % 4) {
    case 0:
        rest = pick({"[pins]\n", "[ pins ] # c\n", "['pins']\n"}) + entries(pick({"", "  "}), "\n");
        break;
    case 1: {
        std::string inner = entries("", ", ");
        if (!inner.empty()) {
            inner.resize(inner.size() - 2);
        }
        top = "pins = {" + pick({"", " "}) + inner + pick({"", " "}) + "}" + pick({"", " # x"}) +
              "\n";
        break;
    }
    case 2:
        top = entries(pick({"pins.", "\"pins\" . ", " pins."}), "\n");
        break;
    default:
        break;
    }
    const std::string resolve = pick(
        {"", "[resolve]\nchannels = [ # [pins]\n  'a', \"cuda = 1\",\n]\nfor = \"build\" # why\n",
         "[resolve]\n"});
    const std::string activate = pick({"", "\n# about\n[activate]\ncompilers = false\n\n"});
    std::string text =
        pick({"", "# top\n", "\xEF\xBB\xBF", "\n\n"}) + top + resolve + rest + activate;
    if (random() % 3 == 0 && !text.empty() && text.back() == '\n') {
        text.pop_back();
    }
    if (random() % 3 == 0) {
        std::string crlf;
        for (const char c : text) {
            crlf += c == '\n' ? "\r\n" : std::string(1, c);
        }
        text = crlf;
    }
    return text;
}

std::map<std::string, std::string> pins_of(const std::string& text) {
    const auto file = parse_project(text, "p");
    INFO(text << (file ? "" : "\n" + file.error().message));
    REQUIRE(file);
    std::map<std::string, std::string> pins;
    for (const Pin& pin : file->pins) {
        pins[pin.name] = pin.constraint;
    }
    return pins;
}

} // namespace

TEST_CASE(
    "after any edit the pins are the old ones with the change, and every other line is as it was") {
    std::mt19937 random(20240611); // NOLINT: the same files every run
    int changed = 0;
    for (int round = 0; round < 4000; ++round) {
        const std::string before = random_project(random);
        auto expected = pins_of(before);
        const std::vector<std::string> names{"cuda", "torch", "cudnn", "python", "gcc", "jax"};
        const std::string name = names[random() % names.size()];
        PinEdit edit{name, std::nullopt};
        if (random() % 3 != 0) {
            edit.constraint =
                std::vector<std::string>{"11.3", "12", "==1.2.3", ">=1,<2"}[random() % 4];
            expected[name] = *edit.constraint;
        } else {
            expected.erase(name);
        }
        const std::string after = edited(before, {edit});
        INFO("before:\n" << before << "\nafter:\n" << after);
        REQUIRE(pins_of(after) == expected);
        changed += before == after ? 0 : 1;

        // The lines of both that are not alike at the head and at the tail are the edit.
        const std::string_view mark = before.substr(0, 3) == "\xEF\xBB\xBF" ? "\xEF\xBB\xBF" : "";
        REQUIRE(after.substr(0, mark.size()) == mark);
        const auto old_lines = split(std::string_view(before).substr(mark.size()), '\n');
        const auto new_lines = split(std::string_view(after).substr(mark.size()), '\n');
        const auto bare = [](std::string_view line) {
            return !line.empty() && line.back() == '\r' ? line.substr(0, line.size() - 1) : line;
        };
        std::size_t head = 0;
        while (head < std::min(old_lines.size(), new_lines.size()) &&
               bare(old_lines[head]) == bare(new_lines[head])) {
            ++head;
        }
        std::size_t tail = 0;
        while (tail < std::min(old_lines.size(), new_lines.size()) - head &&
               bare(old_lines[old_lines.size() - 1 - tail]) ==
                   bare(new_lines[new_lines.size() - 1 - tail])) {
            ++tail;
        }
        const std::size_t gone = old_lines.size() - head - tail;
        const std::size_t come = new_lines.size() - head - tail;
        REQUIRE(gone <= 1);
        REQUIRE(come <= 3); // a blank line, [pins] and the pin
        // One kind of line ending in, one kind out.
        const bool crlf = before.find("\r\n") != std::string::npos;
        if (crlf) {
            REQUIRE(std::count(after.begin(), after.end(), '\n') ==
                    std::count(after.begin(), after.end(), '\r'));
        } else if (before.find('\n') != std::string::npos) {
            REQUIRE(after.find('\r') == std::string::npos);
        }
    }
    CHECK(changed > 2000);
}
