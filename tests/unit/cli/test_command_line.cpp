#include "base/text.hpp"
#include "cli/command_line.hpp"
#include "cli/command_table.hpp"
#include "tests/support/places.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <filesystem>

using namespace cudaenv;
using namespace cudaenv::cli;

namespace {

using Words = std::vector<const char*>;

Invocation invocation(const Words& words) {
    auto parsed = parse_command_line(words);
    if (!parsed) {
        FAIL(parsed.error().message);
    }
    REQUIRE(std::holds_alternative<Invocation>(*parsed));
    return std::get<Invocation>(*parsed);
}

// "message | hint | place"
std::string complaint(const Words& words) {
    const auto parsed = parse_command_line(words);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().kind == ErrorKind::BadInput);
    return parsed.error().message + " | " + parsed.error().hint + " | " + parsed.error().path;
}

} // namespace

TEST_CASE("no command is status") {
    const Invocation alone = invocation({"--json"});
    CHECK(alone.alone);
    CHECK(alone.command->name == "status");
    CHECK(alone.output.json);
}

TEST_CASE("options and arguments of resolve become params by their names") {
    const Invocation resolve =
        invocation({"resolve", "torch", "--cuda", "11.3", "numpy>=1.2", "-c", "a", "-cb",
                    "--channel=c", "--for", "build", "--cpu", "--strict-host", "--", "-x"});
    CHECK(resolve.params == nlohmann::json::parse(R"({
        "arguments": ["torch", "numpy>=1.2", "-x"], "places": [1, 4, 14],
        "channel": ["a", "b", "c"], "cuda": "11.3", "for": "build", "cpu": true,
        "strict_host": true})"));
}

TEST_CASE("options may stand before the command") {
    const Invocation host = invocation({"--json", "--host", "lab.json", "host"});
    CHECK(host.command->name == "host");
    CHECK(host.output.json);
    CHECK(host.params["host"] == "lab.json");
}

TEST_CASE("an argument that is a command's name is an argument") {
    CHECK(invocation({"unpin", "host"}).params["arguments"][0] == "host");
    CHECK(invocation({"resolve", "status", "pin"}).params["arguments"].size() == 2);
}

TEST_CASE("the last of an option given twice counts") {
    CHECK(invocation({"resolve", "x", "--cuda", "11.3", "--cuda", "12.1"}).params["cuda"] ==
          "12.1");
}

TEST_CASE("a usage error names the word and what would be right") {
    CHECK(complaint({"hosst"}) ==
          "\"hosst\" is not a command | did you mean \"host\"? | argument 1");
    CHECK(complaint({"--jso"}) ==
          "\"--jso\" is not an option of cudaenv | did you mean \"--json\"? | argument 1");
    CHECK(
        complaint({"resolve", "torch", "--cudda=11"}) ==
        "\"--cudda\" is not an option of cudaenv resolve | did you mean \"--cuda\"? | argument 2");
    CHECK(complaint({"resolve", "--for", "buidl"}) ==
          "\"buidl\" is not a value of --for | did you mean \"build\"? | argument 1");
    CHECK(complaint({"resolve", "--for=x"}) ==
          "\"x\" is not a value of --for | expected run or build | argument 1");
    CHECK(complaint({"resolve", "--cuda"}) ==
          "--cuda needs a value | expected --cuda X.Y | argument 1");
    CHECK(complaint({"resolve", "--cuda", "--json"}) ==
          "--cuda needs a value | expected --cuda X.Y | argument 1");
    CHECK(complaint({"resolve", "--cuda=11.3", "-c"}) ==
          "--channel needs a value | expected --channel URL|DIR | argument 2");
    CHECK(complaint({"host", "--json=yes"}) == "--json takes no value |  | argument 1");
    CHECK(complaint({"host", "extra"}) ==
          "unexpected argument \"extra\" | cudaenv host takes no arguments | argument 1");
    CHECK(complaint({"completions", "powershell"}) ==
          "\"powershell\" is not a value of cudaenv completions | expected bash, fish, tcsh or zsh "
          "| argument 1");
    CHECK(complaint({"pin", "11.3", ""}) ==
          "an argument is empty | expected 11.3, cuda=11.3, cuda@11.3, cu113; torch=1.12, "
          "'cudnn>=8.2' | argument 2");
    CHECK(complaint({"host", "-z"}).starts_with("\"-z\" is not an option of cudaenv host"));
}

TEST_CASE("pip's names of an option are understood and not offered") {
    for (const char* const name : {"--index", "--index-url", "--extra-index-url", "-f"}) {
        CHECK(invocation({"resolve", "x", name, "u"}).params["index"] ==
              std::vector<std::string>{"u"});
    }
    CHECK(help_of(*find_command("resolve")).find("--index-url") == std::string::npos);
}

TEST_CASE("every command has help with an example, and help comes before any complaint") {
    for (const CommandRow& command : commands()) {
        const auto parsed =
            parse_command_line(Words{command.name.data(), "-h", "--no-such-option"});
        REQUIRE(parsed);
        const std::string text = std::get<PrintedText>(*parsed).text;
        CHECK(text.find("\nexample") != std::string::npos);
        CHECK(text.find("cudaenv " + std::string(command.name)) != std::string::npos);
    }
}

TEST_CASE("help and --json are found behind a word that is wrong") {
    CHECK(
        std::holds_alternative<PrintedText>(*parse_command_line(Words{"resolve", "--cuda", "-h"})));
    CHECK(report_wishes(Words{"resolve", "--no-such-option", "--json"}).json);
    CHECK_FALSE(report_wishes(Words{"resolve", "--", "--json"}).json);
    CHECK_FALSE(report_wishes(Words{"resolve", "--for", "--", "--json"}).json);
}

TEST_CASE("letters may stand together, the last with its value") {
    const Invocation host = invocation({"resolve", "-qvcDIR", "-vn", "apex"});
    CHECK(host.output.quiet);
    CHECK(host.output.verbose);
    CHECK(host.params["channel"] == std::vector<std::string>{"DIR"});
    CHECK(host.params["name"] == "apex");
    CHECK(complaint({"host", "-qz"}).starts_with("\"-qz\" is not an option of cudaenv host"));
}

TEST_CASE("a dash alone is a value and an argument") {
    CHECK(invocation({"host", "--export", "-"}).export_file == "-");
    CHECK(invocation({"resolve", "-"}).params["arguments"][0] == "-");
}

TEST_CASE("options that cannot be combined with --watch are refused, in either order") {
    CHECK(complaint({"probe", "--watch", "--full"}) ==
          "--watch cannot be combined with --full | cudaenv probe --help lists the options | "
          "argument 2");
    for (const char* other : {"--full", "--build", "--all-gpus", "--allow-missing"}) {
        CHECK(complaint({"probe", other, "--watch"})
                  .starts_with("--watch cannot be combined with " + std::string(other)));
    }
    CHECK(complaint({"probe", "-n", "apex", "--watch"})
              .starts_with("--watch cannot be combined with --name"));
    CHECK(complaint({"-p", "/opt/e", "probe", "--watch"})
              .starts_with("--watch cannot be combined with --prefix"));
    CHECK(invocation({"probe", "--watch", "--json", "-qv"}).params["watch"] == true);
    CHECK(invocation({"probe", "--full", "--build", "--all-gpus", "--allow-missing", "-n", "a"})
              .params["full"] == true);
}

TEST_CASE("the exit statuses are in the help, those of probe in its own words") {
    const std::string probe = help_of(*find_command("probe"));
    CHECK(probe.find("\nexit status\n  0 ") != std::string::npos);
    for (const char* status : {"\n  1 ", "\n  2 ", "\n  3 "}) {
        CHECK(probe.find(status) != std::string::npos);
        CHECK(general_help().find(status) != std::string::npos);
    }
    CHECK(probe.find("with --allow-missing, also if there is no driver or GPU\n") !=
          std::string::npos);
    CHECK(general_help().find("\n  70 ") != std::string::npos);
}

TEST_CASE("every example of the help is a command line that is understood") {
    for (const CommandRow& command : commands()) {
        for (const std::string_view whole : split(command.examples, '\n')) {
            // Without the shell's own parts.
            const std::string example(whole.substr(0, whole.find_first_of("<|")));
            INFO(example);
            std::vector<std::string> pieces;
            std::size_t at = example.find("cudaenv");
            while (at < example.size()) {
                const std::size_t end = std::min(example.find(' ', at), example.size());
                if (end > at) {
                    pieces.push_back(example.substr(at, end - at));
                }
                at = end + 1;
            }
            Words words;
            for (std::size_t i = 1; i < pieces.size(); ++i) {
                words.push_back(pieces[i].c_str());
            }
            CHECK(parse_command_line(words).has_value());
        }
    }
}

TEST_CASE("cudaenv schema offers every schema that the daemon has, and no other") {
    std::vector<std::string> known;
    for (const auto& entry :
         std::filesystem::directory_iterator(test::source_directory() / "daemon/schemas")) {
        if (entry.path().extension() == ".json") {
            known.push_back(entry.path().stem().string());
        }
    }
    const CommandRow* const schema = find_command("schema");
    REQUIRE(schema != nullptr);
    std::vector<std::string> offered;
    for (const std::string_view name : split(schema->arguments.choices(), ' ')) {
        offered.emplace_back(name);
    }
    std::ranges::sort(known);
    std::ranges::sort(offered);
    CHECK(offered == known);
}
