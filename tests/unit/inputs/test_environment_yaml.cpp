#include "tests/unit/inputs/files.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace cudaenv;
using namespace cudaenv::test;

TEST_CASE("an environment file is read whole: channels, conda's specs, pip's lines") {
    const Files files{{"environment.yml", R"(# for training
name: t
channels:
  - pytorch
  - nvidia          # for pytorch-cuda
  - "conda-forge"
  - nodefaults
dependencies:
  - python=3.10
  - conda-forge::numpy<2
  - pytorch=2.1.2
  - pytorch-cuda=11.8
  - pip
  - pip:
    - -r more.txt
    - --extra-index-url https://download.pytorch.org/whl/cu118
    - "torchaudio==2.1.2; python_version < '3.11'"
    - tensorrt ; python_version >= '3.11'
variables:
  CUDA_HOME: /usr/local/cuda
prefix: /home/u/miniconda3/envs/t
)"},
                      {"more.txt", "triton\n"}};
    const auto input = read_files(files, "environment.yml");
    REQUIRE(input);
    CHECK(placed(input->wanted) ==
          Lines{"python=3.10 (environment.yml line 9)",
                "conda-forge::numpy<2 (environment.yml line 10)",
                "pytorch=2.1.2 (environment.yml line 11)",
                "pytorch-cuda=11.8 (environment.yml line 12)", "pip (environment.yml line 13)",
                "triton (more.txt line 1)", "torchaudio==2.1.2 (environment.yml line 17)"});
    CHECK(texts(input->channels) == Lines{"pytorch", "nvidia", "conda-forge"});
    REQUIRE(input->index_label);
    CHECK(input->index_label->text == "11.8");
    CHECK_FALSE(input->is_pips);
}

TEST_CASE("every form that YAML has for the lists is read alike") {
    const std::string text =
        GENERATE("channels: [a, b]\ndependencies: [pytorch=2.5, {pip: [jax]}]\n",
                 "channels:\n- a\n- b\ndependencies:\n- pytorch=2.5\n- pip:\n  - jax\n",
                 "---\n\"channels\":\n    - 'a'\n    - b # x\ndependencies:\n    -   pytorch=2.5\n"
                 "    - pip: [ jax ]\n",
                 "channels: &c\n  - a\n  - b\ndependencies:\n  -\n    pytorch=2.5\n  -\n    pip:\n"
                 "      - jax\n",
                 "\xef\xbb\xbf"
                 "channels:\r\n  - a\r\n  - b\r\ndependencies:\r\n  - pytorch=2.5\r\n  - pip:\r\n"
                 "      - jax\r\n...\r\n");
    INFO(text);
    const auto input = read_file("environment.yaml", text);
    REQUIRE(input);
    CHECK(texts(input->channels) == Lines{"a", "b"});
    CHECK(texts(input->wanted) == Lines{"pytorch=2.5", "jax"});
}

TEST_CASE("no dependencies at all are a question without packages") {
    const auto input = read_file("environment.yml", "name: t\ndependencies:\n");
    REQUIRE(input);
    CHECK(input->wanted.empty());
}

TEST_CASE("a Python that conda leaves open leaves pip's markers open") {
    const auto input = read_file("environment.yml", "dependencies:\n  - python>=3.9\n  - pip:\n"
                                                    "    - jax; python_version < '3.11'\n");
    REQUIRE(input);
    CHECK(texts(input->wanted) == Lines{"python>=3.9", "jax; python_version < '3.11'"});
}
