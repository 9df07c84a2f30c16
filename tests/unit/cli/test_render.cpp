// Golden tests: tests/golden/render/NAME.json -> NAME.txt (UTF-8), NAME.ascii.txt (other locales).
// CUDAENV_UPDATE_GOLDEN=1 updates them; they are reviewed like code.
#include "cli/render/render.hpp"
#include "tests/support/places.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace cudaenv::cli;

namespace {

namespace fs = std::filesystem;
const fs::path k_golden = cudaenv::test::source_directory() / "tests/golden/render";

std::string read(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> scenes() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(k_golden)) {
        if (entry.path().extension() == ".json") {
            names.push_back(entry.path().stem().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

void check_golden(const fs::path& path, const std::string& text) {
    if (std::getenv("CUDAENV_UPDATE_GOLDEN") != nullptr) {
        std::ofstream(path) << text;
    }
    CHECK(text == read(path));
}

} // namespace

TEST_CASE("each scene is shown as its golden text says") {
    REQUIRE(scenes().size() >= 10);
    const std::string name = GENERATE(from_range(scenes()));
    INFO(name);
    const auto object = nlohmann::json::parse(read(k_golden / (name + ".json")));
    Style style;
    style.home = "/home/u";
    style.cwd = "/home/u/code/apex";
    check_golden(k_golden / (name + ".txt"), render(object, style));

    style.utf8 = false;
    const std::string ascii = render(object, style);
    check_golden(k_golden / (name + ".ascii.txt"), ascii);
    for (const char c : ascii) {
        CHECK(static_cast<unsigned char>(c) < 0x80);
    }
}

TEST_CASE("no line of a scene is wider than 100 columns, and colour changes no text") {
    const std::string name = GENERATE(from_range(scenes()));
    INFO(name);
    const auto object = nlohmann::json::parse(read(k_golden / (name + ".json")));
    Style style;
    const std::string plain = render(object, style);
    std::size_t at = 0;
    while (at < plain.size()) {
        const std::size_t end = plain.find('\n', at);
        const std::string line = plain.substr(at, end - at);
        CHECK(width_of(line) <= 100);
        at = end + 1;
    }
    style.colour = true;
    std::string stripped = render(object, style);
    for (std::size_t escape = 0; (escape = stripped.find('\x1b')) != std::string::npos;) {
        stripped.erase(escape, stripped.find('m', escape) - escape + 1);
    }
    CHECK(stripped == plain);
}

TEST_CASE("an object of another kind than expected is shown, not fatal") {
    for (const char* schema :
         {"host", "toolkits", "resolve", "pin", "status", "config", "check", "finding", "error"}) {
        const std::string name = "cudaenv." + std::string(schema) + "/1";
        CHECK_NOTHROW(render({{"schema", name}}, {}));
        CHECK_NOTHROW(render({{"schema", name},
                              {"driver", 3},
                              {"gpus", {1, "x"}},
                              {"toolkits", {nullptr}},
                              {"packages", "x"},
                              {"conflict", {1}},
                              {"pins", {{{"name", 4}}}},
                              {"status", "conflict"}},
                             {}));
    }
    CHECK(render({{"schema", "cudaenv.other/1"}}, {}).find("cudaenv.other/1") != std::string::npos);
    CHECK_NOTHROW(render(nullptr, {}));
}

TEST_CASE("a name from elsewhere neither colours the terminal nor begins a line") {
    const auto host = nlohmann::json::parse(R"({"schema": "cudaenv.host/1",
        "hostname": "a\u001b[31mb\nc\u009bd", "toolkits": [], "compilers": [], "gpus": []})");
    const std::string shown = render(host, Style{});
    CHECK(shown.find("a\\x1b[31mb\\nc\\xc2\\x9bd") != std::string::npos);
    CHECK(shown.find('\x1b') == std::string::npos);
    const auto error = nlohmann::json::parse(
        R"({"schema": "cudaenv.error/1", "message": "\"torch\nx\" is no name", "path": null})");
    CHECK(render(error, Style{}) == "cudaenv: \"torch\\nx\" is no name\n");
}
