#include "tests/support/places.hpp"
#include "tests/unit/judge/cases.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

namespace {

using namespace cudaenv;
using Catch::Matchers::ContainsSubstring;
using testing::Bench;
using testing::Case;

const judge::JudgedStep* step_of(const judge::ProbeOutcome& outcome, const Case& row) {
    const auto word = facts::word_of(row.step);
    for (const auto& step : outcome.steps) {
        if (step.name == word && step.code == row.code) {
            return &step;
        }
    }
    for (const auto& step : outcome.steps) {
        if (step.name == word) {
            return &step;
        }
    }
    return nullptr;
}

} // namespace

TEST_CASE("every cause that the probe can meet has its code, case, arguments, status and verdict") {
    testing::for_each_judged([](const Case& row, const judge::ProbeOutcome& outcome) {
        DYNAMIC_SECTION(row.what) {
            const auto* const step = step_of(outcome, row);
            REQUIRE(step != nullptr);
            INFO(step->detail << "\n  " << step->cause << "\n  " << outcome.summary);
            CHECK(step->code == row.code);
            CHECK(step->situation == row.situation);
            CHECK(step->status == row.status);
            CHECK(name_of(outcome.verdict) == name_of(row.verdict));
            for (const auto& [name, value] : row.arguments) {
                INFO(name);
                if (step->code.empty()) {
                    CHECK_THAT(step->detail, ContainsSubstring(value));
                    continue;
                }
                const auto given = std::ranges::find(step->arguments, name,
                                                     &std::pair<std::string, std::string>::first);
                REQUIRE(given != step->arguments.end());
                CHECK(given->second == value);
            }
        }
    });
}

TEST_CASE("the sentences of every cause are those of the golden file") {
    std::string text;
    testing::for_each_judged([&](const Case& row, const judge::ProbeOutcome& outcome) {
        const auto* const step = step_of(outcome, row);
        REQUIRE(step != nullptr);
        text += "\n## " + std::string(row.what) + '\n';
        text += step->name + ' ' + (step->code.empty() ? "-" : step->code) +
                (step->situation.empty() ? "" : ' ' + step->situation) + '\n' + step->detail + '\n';
        text += step->cause.empty() ? "" : "cause: " + step->cause + '\n';
        if (step->fix) {
            text += "fix: " + step->fix->text + '\n';
            text += step->fix->command.empty() ? "" : "     " + step->fix->command + '\n';
        }
    });
    const auto golden = cudaenv::test::source_directory() / "tests/golden/findings/probe.txt";
    if (std::getenv("CUDAENV_UPDATE_GOLDEN") != nullptr) {
        std::filesystem::create_directories(golden.parent_path());
        std::ofstream(golden) << text;
    }
    std::ifstream file(golden);
    const std::string expected{std::istreambuf_iterator<char>(file), {}};
    CHECK(text == expected);
}

TEST_CASE("what the probe says is one plain line, and what is wrong has a cause") {
    testing::for_each_judged([](const Case& row, const judge::ProbeOutcome& outcome) {
        for (const auto& step : outcome.steps) {
            INFO(row.what << ": " << step.name << ": " << step.detail << " / " << step.cause);
            CHECK(!step.detail.empty());
            CHECK(step.detail.size() <= 100);
            const std::string fix = step.fix ? step.fix->text + step.fix->command : "";
            for (const std::string& text : {step.detail, step.cause, fix, outcome.summary}) {
                CHECK(text.find('\n') == std::string::npos);
                CHECK(text.find("please") == std::string::npos);
                CHECK(text.find('!') == std::string::npos);
            }
            if (step.status == judge::StepStatus::Fails ||
                step.status == judge::StepStatus::Warns) {
                CHECK(!step.cause.empty());
                CHECK(!step.code.empty());
            }
        }
    });
}

TEST_CASE(
    "a failure whose repair no file shows passes by itself, and one of another process is in use") {
    const std::set<std::string> of_the_moment{"CE313", "CE314", "CE332", "CE334", "CE335",
                                              "CE336", "CE337", "CE338", "CE339", "CE357",
                                              "CE359", "CE373", "CE390", "CE391"};
    const std::set<std::string> either{"CE302", "CE310", "CE323", "CE356"}; // closed, lost; or not
    const std::set<std::string> in_use{"CE316", "CE317", "CE319", "CE346"};
    std::set<std::string> met;
    testing::for_each_judged([&](const Case& row, const judge::ProbeOutcome& outcome) {
        for (const auto& step : outcome.steps) {
            const bool fails = step.status == judge::StepStatus::Fails;
            INFO(row.what << ": " << step.name << ' ' << step.code);
            if (!either.contains(step.code)) {
                CHECK(step.of_the_moment == (fails && of_the_moment.contains(step.code)));
            }
            CHECK(step.in_use == (fails && in_use.contains(step.code)));
            if (step.of_the_moment || step.in_use) {
                met.insert(step.code);
            }
        }
    });
    for (const auto* codes : {&of_the_moment, &either, &in_use}) {
        for (const std::string& code : *codes) {
            INFO(code);
            CHECK(met.contains(code));
        }
    }
}

TEST_CASE("each error of CUDA's that is explained at a kernel is explained at the driver's start") {
    const auto judged_at = [](facts::ProbeStep step, int error) {
        Bench bench;
        if (step == facts::ProbeStep::Driver) {
            bench.drop_after(step);
        }
        bench.fails(step, "call", error);
        return bench.judged();
    };
    const auto code_at = [&](facts::ProbeStep step, int error) {
        const auto outcome = judged_at(step, error);
        const auto word = facts::word_of(step);
        const auto found = std::ranges::find_if(outcome.steps, [&](const auto& judged) {
            return judged.name == word && judged.status == judge::StepStatus::Fails;
        });
        return found == outcome.steps.end() ? std::string() : found->code;
    };
    int explained = 0;
    for (int error = 1; error < 1000; ++error) {
        INFO("error " << error);
        const auto of_kernel = code_at(facts::ProbeStep::Kernel, error);
        const bool is_unexplained = of_kernel == "CE359";
        explained += is_unexplained ? 0 : 1;
        // 999 has a sentence of its own there; nothing else that is known may be reported as unknown.
        const bool is_untold = code_at(facts::ProbeStep::Driver, error) == "CE314";
        CHECK(is_untold == (is_unexplained || error == 999));
        CHECK(judged_at(facts::ProbeStep::Driver, error).verdict != judge::ProbeVerdict::Fails);
    }
    CHECK(explained > 30);
}

TEST_CASE(
    "an error of CUDA's that is not explained says what such errors mean, and how to report it") {
    int unexplained = 0;
    for (int error = 1; error < 1000; ++error) {
        Bench bench;
        bench.fails(facts::ProbeStep::Kernel, "cuLaunchKernel", error, "CUDA_ERROR_SOMETHING");
        const auto outcome = bench.judged();
        const auto& step = outcome.steps.back();
        if (step.code != "CE359") {
            continue;
        }
        ++unexplained;
        INFO(error << ": " << step.cause);
        CHECK_THAT(step.cause, ContainsSubstring("cuLaunchKernel with " + std::to_string(error)));
        CHECK_THAT(step.cause, ContainsSubstring("CUDA_ERROR_SOMETHING: "));
        CHECK_THAT(step.cause, !ContainsSubstring("newer than what is known"));
        REQUIRE(step.fix);
        CHECK_THAT(step.fix->text, ContainsSubstring("cudaenv probe --full --json"));
        CHECK(!step.fix->command.empty());
    }
    CHECK(unexplained > 900);
}

TEST_CASE("docs/findings.md has a row for each code of the probe, and every row was met here") {
    std::ifstream file(cudaenv::test::source_directory() / "docs/findings.md");
    REQUIRE(file.good());
    std::map<std::string, std::string> documented; // code -> severity
    const std::regex row_of_code(R"(^#### (CE3\d\d) \((\w+))");
    for (std::string line; std::getline(file, line);) {
        std::smatch found;
        if (std::regex_search(line, found, row_of_code)) {
            documented[found[1]] = found[2];
        }
    }
    std::map<std::string, judge::StepStatus> worst;
    for (const Case& row : testing::cases()) {
        if (std::string_view(row.code).empty()) {
            continue;
        }
        const auto [known, is_new] = worst.emplace(row.code, row.status);
        // Fails, then Warns, then Skipped.
        const auto rank = [](judge::StepStatus status) {
            return status == judge::StepStatus::Fails   ? 2
                   : status == judge::StepStatus::Warns ? 1
                                                        : 0;
        };
        if (!is_new && rank(row.status) > rank(known->second)) {
            known->second = row.status;
        }
    }
    for (const auto& [code, severity] : documented) {
        INFO(code);
        REQUIRE(worst.contains(code));
        CHECK(severity == (worst[code] == judge::StepStatus::Fails   ? "error"
                           : worst[code] == judge::StepStatus::Warns ? "warning"
                                                                     : "note"));
    }
    for (const auto& [code, status] : worst) {
        INFO(code);
        CHECK(documented.contains(code));
    }
}
