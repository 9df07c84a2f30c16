// The sentences of every finding, in tests/golden/findings.txt: the one place that asserts wording.
// CUDAENV_UPDATE_GOLDEN=1 writes the file; it is reviewed like code. Each case is shown with none
// of its conditional arguments, then with each of them alone.
#include "solver/knowledge/findings.hpp"
#include "tests/support/places.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

using namespace cudaenv;

namespace {

// What arguments of that name usually hold; others are shown by their names.
const std::map<std::string, std::string, std::less<>> k_samples = {
    {"n", "2"},
    {"paths", "2"},
    {"major", "9"},
    {"name", "torch"},
    {"cuda", "12.8"},
    {"torch", "2.8.0+cu128"},
    {"driver", "driver 550.54.15"},
    {"victim", "conda's numpy 1.26.4"},
    {"writer", "pip's numpy 2.0.0"},
    {"package", "numpy 1.26.4"},
    {"wheel", "numpy 2.0.0"},
    {"manager", "pip"},
    {"module", "apex 0.1"},
    {"partner", "torchvision 0.23.0+cu126"},
    {"selector", " -p /env"},
    {"command", "COMMAND"},
};

std::string value_of(const std::string& name) {
    const auto found = k_samples.find(name);
    return found == k_samples.end() ? '<' + name + '>' : found->second;
}

// The names that follow a brace and the mark: "?" and "!" of conditions, "" of values.
std::set<std::string> names_in(const std::string& text, std::string_view marks) {
    std::set<std::string> names;
    for (auto at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
        const auto end = text.find_first_of("}|", at);
        const bool conditional = text[at + 1] == '?' || text[at + 1] == '!';
        if (text[at + 1] != '/' && conditional == !marks.empty()) {
            const auto begin = at + (conditional ? 2 : 1);
            names.insert(text.substr(begin, end - begin));
        }
    }
    return names;
}

std::string shown(const facts::Finding& finding) {
    std::string text = finding.title + '\n';
    if (!finding.cause.empty()) {
        text += "  cause  " + finding.cause + '\n';
    }
    if (finding.fix) {
        text += "  fix    " + finding.fix->text +
                (finding.fix->command.empty() ? "" : " | " + finding.fix->command) + '\n';
    }
    return text;
}

std::string rendered() {
    std::string text;
    for (const auto& one : knowledge::finding_cases()) {
        const auto all = one.title + one.cause + one.fix + one.command;
        const auto conditions = names_in(all, "?!");
        facts::Arguments values;
        for (const auto& name : names_in(all, "")) {
            if (!conditions.contains(name)) {
                values.emplace_back(name, value_of(name));
            }
        }
        const auto begin = [&](const facts::Arguments& arguments) {
            auto complete = arguments;
            for (const auto& name : conditions) {
                complete.emplace_back(name, ""); // after the one that is there
            }
            return shown(knowledge::finding(one.code, one.situation, complete));
        };
        text += one.code + (one.situation.empty() ? "" : ' ' + one.situation) + '\n';
        std::set<std::string> seen{begin(values)};
        text += *seen.begin();
        for (const auto& name : conditions) {
            auto arguments = values;
            arguments.emplace_back(name, value_of(name));
            if (auto other = begin(arguments); seen.insert(other).second) {
                text += "- " + name + ": " + other;
            }
        }
        text += '\n';
    }
    for (const auto& [reason, arguments] : std::vector<std::pair<std::string, facts::Arguments>>{
             {"breaks",
              {{"dependent", "<dependent>"}, {"requirement", "<requirement>"}, {"command", ""}}},
             {"breaks",
              {{"dependent", "<dependent>"},
               {"requirement", "<requirement>"},
               {"command", "<command>"}}},
             {"edited", {{"path", "<path>"}}},
             {"overwrites", {{"path", "<path>"}, {"command", "<command>"}}}}) {
        const auto fix = knowledge::withheld_fix(reason, arguments);
        text += "withheld " + reason + "\n  fix    " + fix.text +
                (fix.command.empty() ? "" : " | " + fix.command) + "\n\n";
    }
    return text;
}

} // namespace

TEST_CASE("every finding says what its golden sentences are") {
    const auto path = test::source_directory() / "tests/golden/findings.txt";
    const auto text = rendered();
    if (std::getenv("CUDAENV_UPDATE_GOLDEN") != nullptr) {
        std::ofstream(path) << text;
    }
    std::ifstream file(path);
    CHECK(text == std::string(std::istreambuf_iterator<char>(file), {}));
}

TEST_CASE("a title without long arguments fits a line of 80 columns") {
    for (const auto& one : knowledge::finding_cases()) {
        CAPTURE(one.code, one.situation, one.title);
        std::string fixed; // without arguments and conditions
        for (std::size_t at = 0; at < one.title.size(); ++at) {
            if (one.title[at] == '{') {
                const bool group = one.title[at + 1] == '?' || one.title[at + 1] == '!';
                at = group ? one.title.find("{/}", at) + 2 : one.title.find('}', at);
            } else {
                fixed += one.title[at];
            }
        }
        CHECK(fixed.size() <= 80);
    }
}
