#include "tests/unit/inputs/files.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;
using namespace cudaenv::test;

namespace {

constexpr const char* k_project = R"([build-system]
requires = ["setuptools", "torch"]
[project]
name = "My.Project"
requires-python = ">=3.10,<3.12"
dependencies = [
    "torch==2.5.1",
    "torchvision; python_version >= '3.10'",
    "tomli; python_version < '3.10'",
]
[project.optional-dependencies]
gpu = ["xformers==0.0.28"]
all = ["my-project[GPU]", "jax"]
[dependency-groups]
dev = ["pytest", { include-group = "lint" }]
lint = ["ruff"]
)";

Lines wanted(std::string_view word, const std::string& text) {
    const auto input = read_files({{"pyproject.toml", text}}, word);
    REQUIRE(input);
    return texts(input->wanted);
}

} // namespace

TEST_CASE("a project asks for its dependencies, and requires-python narrows markers") {
    const auto input = read_file("pyproject.toml", k_project);
    REQUIRE(input);
    CHECK(placed(input->wanted) ==
          Lines{"torch==2.5.1 (pyproject.toml line 7)", "torchvision (pyproject.toml line 8)"});
    CHECK(placed(input->pythons) == Lines{">=3.10,<3.12 (pyproject.toml line 5)"});
    CHECK(input->notes == Lines{"pyproject.toml: not part of the question: gpu, all, dev, lint; to "
                                "add one: -r 'pyproject.toml[gpu]'"});
    CHECK(input->is_pips);
}

TEST_CASE("extras and dependency groups are added by name, with what they include") {
    CHECK(wanted("pyproject.toml[all]", k_project) ==
          Lines{"torch==2.5.1", "torchvision", "xformers==0.0.28", "jax"});
    CHECK(wanted("pyproject.toml[dev, gpu]", k_project) ==
          Lines{"torch==2.5.1", "torchvision", "pytest", "ruff", "xformers==0.0.28"});
}

TEST_CASE("extras that include each other end") {
    CHECK(wanted("pyproject.toml[a]",
                 "[project]\nname='p'\n[project.optional-dependencies]\n"
                 "a=['p[b]','jax']\nb=['p[a]','torch']\n") == Lines{"torch", "jax"});
}

TEST_CASE("the index that uv takes torch from says which builds are meant") {
    const std::string text = R"([project]
name = "p"
dependencies = ["torch>=2.7"]
[project.optional-dependencies]
cpu = ["torch"]
cu128 = ["torch"]
[tool.uv.sources]
torch = [
  { index = "pytorch-cpu", extra = "cpu" },
  { index = "pytorch-cu128", extra = "cu128" },
  { index = "pytorch-cu118", marker = "sys_platform == 'win32'" },
]
[[tool.uv.index]]
name = "pytorch-cpu"
url = "https://download.pytorch.org/whl/cpu"
[[tool.uv.index]]
name = "pytorch-cu118"
url = "https://download.pytorch.org/whl/cu118"
[[tool.uv.index]]
name = "pytorch-cu128"
url = "https://download.pytorch.org/whl/cu128"
explicit = true
)";
    const auto label = [&](std::string_view word) {
        const auto input = read_files({{"pyproject.toml", text}}, word);
        REQUIRE(input);
        return input->index_label ? input->index_label->text : "none";
    };
    CHECK(label("pyproject.toml[cu128]") == "12.8");
    CHECK(label("pyproject.toml[cpu]") == "cpu");
    CHECK(label("pyproject.toml") == "none");
}

TEST_CASE("uv's constraints bound what is installed anyway") {
    const auto input =
        read_file("pyproject.toml", "[project]\nname='p'\ndependencies=['torchvision']\n"
                                    "[tool.uv]\nconstraint-dependencies=['torch<2.6']\n");
    REQUIRE(input);
    CHECK(placed(input->bounds) == Lines{"torch<2.6 (pyproject.toml line 5)"});
}

TEST_CASE("dynamic dependencies are a note") {
    const auto input =
        read_file("pyproject.toml", "[project]\nname='p'\ndynamic=['dependencies']\n");
    REQUIRE(input);
    CHECK(input->notes == Lines{"pyproject.toml: its dependencies are dynamic: the build system "
                                "computes them, this file does not list them"});
}

TEST_CASE("[tool.pixi] is read with the project's own dependencies") {
    const auto input = read_file("pyproject.toml", R"([project]
name = "p"
requires-python = ">=3.11"
dependencies = ["torchvision"]
[tool.pixi.workspace]
channels = ["conda-forge"]
platforms = ["linux-64"]
[tool.pixi.dependencies]
pytorch = "2.5.*"
)");
    REQUIRE(input);
    CHECK(texts(input->wanted) == Lines{"torchvision", "pytorch=2.5.*"});
    CHECK(texts(input->pythons) == Lines{">=3.11"});
    CHECK_FALSE(input->is_pips);
}
