#include "tests/unit/inputs/files.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;
using namespace cudaenv::test;

namespace {

Lines wanted(const std::string& text, const inputs::Target& target = inputs::Target()) {
    const auto input = read_file("requirements.txt", text, target);
    REQUIRE(input);
    return texts(input->wanted);
}

} // namespace

TEST_CASE("requirements keep their lines; comments and blank lines count") {
    const auto input = read_file("requirements.txt", "# models\n\ntorch==2.4.1\r\n"
                                                     "  torchvision >= 0.19 , < 0.20  # partner\n");
    REQUIRE(input);
    CHECK(placed(input->wanted) == Lines{"torch==2.4.1 (requirements.txt line 3)",
                                         "torchvision>=0.19,<0.20 (requirements.txt line 4)"});
    CHECK(input->is_pips);
    CHECK(input->notes.empty());
}

TEST_CASE("a backslash continues a line, but not a comment") {
    CHECK(wanted("torch\\\n==2.4.1\n") == Lines{"torch==2.4.1"});
    CHECK(wanted("# torch \\\njax\n") == Lines{"jax"});
    CHECK(wanted("torch>=2.1 \\\n  # within\njax\n") == Lines{"torch>=2.1", "jax"});
    CHECK(wanted("torch==2.4.1\\") == Lines{"torch==2.4.1"});
}

TEST_CASE("a # within a word is no comment") {
    const auto input = read_file("requirements.txt", "-e git+https://h/x#egg=x\n");
    REQUIRE(input);
    REQUIRE(input->notes.size() == 1);
    CHECK(input->notes[0].find("git+https://h/x") != std::string::npos);
}

TEST_CASE("hashes and build settings of a requirement decide nothing") {
    CHECK(wanted("torch==2.4.1 \\\n    --hash=sha256:aa \\\n    --hash sha256:bb\n"
                 "apex --config-settings \"--build-option=--cuda_ext\"\n") ==
          Lines{"torch==2.4.1", "apex"});
}

TEST_CASE("markers are judged for Linux, and for the Python where it is known") {
    const std::string text = "torch==2.4.1; sys_platform == 'linux'\n"
                             "torch==2.2.2; sys_platform == 'darwin'\n"
                             "triton; platform_machine == 'x86_64'\n"
                             "numpy<2; python_version < '3.10'\n"
                             "numpy>=2; python_version >= '3.10'\n"
                             "six; python_version >= '3.0'\n";
    CHECK(wanted(text, inputs::Target("3.11")) ==
          Lines{"torch==2.4.1", "triton", "numpy>=2", "six"});
    CHECK(wanted(text, inputs::Target("3.9.7", "aarch64")) ==
          Lines{"torch==2.4.1", "numpy<2", "six"});
    CHECK(wanted(text) == Lines{"torch==2.4.1", "triton", "numpy<2; python_version < '3.10'",
                                "numpy>=2; python_version >= '3.10'", "six"});
}

TEST_CASE("extras stay, === is ==, a local label stays") {
    CHECK(wanted("jax[cuda12]>=0.4\ntorch===2.4.1+cu121\n") ==
          Lines{"jax[cuda12]>=0.4", "torch==2.4.1+cu121"});
}

TEST_CASE("a wheel is its version, and its Python where it is for one") {
    const auto input = read_file(
        "requirements.txt",
        "torch @ https://h/whl/cu121/torch-2.1.0%2Bcu121-cp310-cp310-linux_x86_64.whl\n"
        "./wheels/xformers-0.0.27-py3-none-any.whl\n"
        "https://h/flash_attn-2.6.3-cp39-cp39-linux_x86_64.whl ; sys_platform == 'win32'\n");
    REQUIRE(input);
    CHECK(texts(input->wanted) == Lines{"torch==2.1.0+cu121", "xformers==0.0.27"});
    CHECK(placed(input->pythons) == Lines{"==3.10.* (requirements.txt line 1)"});
}

TEST_CASE("what is built from its own place is a note") {
    const auto input =
        read_file("requirements.txt", "flash-attn @ git+https://u:secret@h/flash-attention@v2.6\n"
                                      "https://h/apex.tar.gz\n-e .\n");
    REQUIRE(input);
    CHECK(input->wanted.empty());
    CHECK(input->notes ==
          Lines{"requirements.txt line 1: flash-attn @ git+https://***@h/flash-attention@v2.6 "
                "comes from its own place and is not part of the answer",
                "requirements.txt line 2: https://h/apex.tar.gz comes from its own place and is "
                "not part of the answer",
                "requirements.txt line 3: what . itself depends on is not read"});
}

TEST_CASE("an editable project is read where it has a pyproject.toml") {
    const Files files{{"a/requirements.txt", "-e .[gpu]\n../b\n"},
                      {"a/pyproject.toml",
                       "[project]\nname = 'a'\nrequires-python = '>=3.10'\n"
                       "dependencies = ['torch==2.5.1']\n"
                       "[project.optional-dependencies]\ngpu = ['xformers']\n"}};
    const auto input = read_files(files, "a/requirements.txt");
    REQUIRE(input);
    CHECK(placed(input->wanted) ==
          Lines{"torch==2.5.1 (a/pyproject.toml line 4)", "xformers (a/pyproject.toml line 6)"});
    CHECK(placed(input->pythons) == Lines{">=3.10 (a/pyproject.toml line 3)"});
    CHECK(input->notes ==
          Lines{"a/requirements.txt line 2: what ../b itself depends on is not read"});
}

TEST_CASE("included files are relative to the file that includes them") {
    const Files files{{"x/requirements.txt", "-r more/base.txt\n--requirement=gpu.txt\njax\n"},
                      {"x/more/base.txt", "-c limits.txt\nnumpy\n"},
                      {"x/more/limits.txt", "torch<2.5\n"},
                      {"x/gpu.txt", "-r more/base.txt\ntorch\n"}};
    const auto input = read_files(files, "x/requirements.txt");
    REQUIRE(input);
    CHECK(placed(input->wanted) ==
          Lines{"numpy (x/more/base.txt line 2)", "numpy (x/more/base.txt line 2)",
                "torch (x/gpu.txt line 2)", "jax (x/requirements.txt line 3)"});
    CHECK(texts(input->bounds) == Lines{"torch<2.5", "torch<2.5"});
}

TEST_CASE("files that include each other many times are an error, not a long wait") {
    Files files;
    for (int i = 0; i < 12; ++i) {
        const std::string next = "-r " + std::to_string(i + 1) + ".txt\n";
        files[std::to_string(i) + ".txt"] = next + next + next;
    }
    files["12.txt"] = "";
    const auto input = read_files(files, "0.txt");
    REQUIRE_FALSE(input);
    CHECK(input.error().code == "bad-requirement");
}

TEST_CASE("an index of PyTorch's says which builds are meant, where the file asks for them") {
    const auto label = [](const std::string& text) {
        const auto input = read_file("requirements.txt", text);
        REQUIRE(input);
        return input->index_label ? input->index_label->text : "none";
    };
    CHECK(label("--index-url https://download.pytorch.org/whl/cu118\ntorch\n") == "11.8");
    CHECK(label("torch\n--extra-index=https://download.pytorch.org/whl/cu121/\n") == "12.1");
    CHECK(label("-i https://mirror/whl/cpu\ntorch\n") == "cpu");
    CHECK(label("-f https://data.pyg.org/whl/torch-2.4.0+cu124.html\ntorch\n") == "12.4");
    CHECK(label("-i https://download.pytorch.org/whl/cu118\nnumpy\n") == "none");
    CHECK(label("-i https://h/whl/cu118\n--extra-index-url https://h/whl/cu121\ntorch\n") ==
          "none");
}

TEST_CASE("other indexes are named without their passwords") {
    const auto input =
        read_file("requirements.txt", "-i https://user:secret@h/simple/\n--pre\ntorch\n");
    REQUIRE(input);
    CHECK(placed(input->indexes) == Lines{"https://***@h/simple (requirements.txt line 1)"});
}

TEST_CASE("what pip ignores behind an option is a note") {
    const auto input = read_file("requirements.txt", "--pre \\\n  torch\njax\n");
    REQUIRE(input);
    CHECK(texts(input->wanted) == Lines{"jax"});
    CHECK(input->notes == Lines{"requirements.txt line 2: pip ignores \"torch\" behind an option"});
}
