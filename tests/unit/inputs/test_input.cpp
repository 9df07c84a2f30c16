#include "tests/unit/inputs/files.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;
using namespace cudaenv::test;

TEST_CASE("words of the command line that are files, and words that are specs") {
    for (const char* word :
         {"requirements.txt", "./requirements.txt", "dev/requirements.in", ".", "..",
          "/p/environment.yml", "env.yaml", "pixi.toml", ".[gpu]", "pyproject.toml[gpu,docs]"}) {
        INFO(word);
        CHECK(inputs::is_input_name(word));
    }
    for (const char* word : {"torch", "torch==2.4", "pytorch=2.1=*cuda*", "conda-forge::numpy",
                             "jax[cuda12]", "numpy 1.26.*", ".toml", "python[build=*cpython]",
                             "torch @ https://h/torch-2.4.0-cp310-cp310-linux_x86_64.whl"}) {
        INFO(word);
        CHECK_FALSE(inputs::is_input_name(word));
    }
}

TEST_CASE("a file without a known name is recognized by its content") {
    const auto yaml = read_file("deps.txt", "# conda\nname: x\ndependencies:\n- pytorch=2.5\n");
    REQUIRE(yaml);
    CHECK(texts(yaml->wanted) == Lines{"pytorch=2.5"});
    const auto pixi = read_file("workspace.toml", "[dependencies]\npytorch = \"2.5.*\"\n");
    REQUIRE(pixi);
    CHECK(texts(pixi->wanted) == Lines{"pytorch=2.5.*"});
    const auto old_pixi = read_file("x.toml", "[project]\nchannels = [\"a\"]\n");
    REQUIRE(old_pixi);
    CHECK(texts(old_pixi->channels) == Lines{"a"});
    const auto project = read_file("x.toml", "[project]\ndependencies = [\"torch\"]\n");
    REQUIRE(project);
    CHECK(project->is_pips);
}

TEST_CASE("an error of the file system is passed on") {
    const auto input = read_files({}, "requirements.txt");
    REQUIRE_FALSE(input);
    CHECK(input.error().code == "no-such-file");
}
