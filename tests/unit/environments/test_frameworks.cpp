#include "host/environments/frameworks.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::environments {
namespace {

std::string shown(const BuildFile& file) {
    return file.build.cuda ? file.build.cuda->str() : knowledge::build_text(file.build);
}

TEST_CASE("torch/version.py of every age says its CUDA") {
    const auto read = parse_torch_version("__version__ = '1.0.0'\ndebug = False\n"
                                          "cuda = '10.0.130'\ngit_version = 'db5d3131d16a'\n");
    CHECK(shown(read) == "10.0");
    CHECK(read.version == "1.0.0");
    CHECK(shown(parse_torch_version(
              "from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda', "
              "'git_version',"
              " 'hip']\n__version__ = '2.1.0+cu118'\ndebug = False\ncuda: Optional[str] = '11.8'\n"
              "git_version = '7bcf7da3'\nhip: Optional[str] = None\n")) == "11.8");
    CHECK(shown(parse_torch_version("__version__ = '2.4.0'\ncuda: Optional[str] = None\n"
                                    "hip: Optional[str] = None\n")) == "CPU");
    CHECK(shown(parse_torch_version("__version__ = '2.0.1+rocm5.4.2'\ncuda = None\n"
                                    "hip = '5.4.22803'\n")) == "ROCm");
    CHECK(shown(parse_torch_version("cuda = \"12.8\"\r\n")) == "12.8");
    // Without its own line the label decides; the line wins over the label.
    CHECK(shown(parse_torch_version("__version__ = '1.9.0+cu111'\n")) == "11.1");
    CHECK(shown(parse_torch_version("__version__ = '1.9.0+cu111'\ncuda = '11.3'\n")) == "11.3");
}

TEST_CASE("a torch/version.py that says nothing of CUDA leaves it unknown") {
    for (const auto* text :
         {"", "cuda", "cuda =", "cuda = 'eleven'", "__version__ = '2.0'\n",
          "# cuda = '11.8'\n    cuda = '11.8'\n", "cudart = '11.8'\n", "cuda = '", "\xff\xfe=\n"}) {
        INFO(text);
        CHECK(shown(parse_torch_version(text)) == "an unknown CUDA");
    }
}

TEST_CASE("tensorflow's build_info.py of every age says its CUDA") {
    CHECK(shown(parse_tensorflow_build(
              "import collections\nbuild_info = collections.OrderedDict([('cpu_compiler', 'gcc'), "
              "('cuda_compute_capabilities', ['sm_60']), ('cuda_version', '12.2'), "
              "('cudnn_version', '8'), ('is_cuda_build', True), ('is_rocm_build', False)])")) ==
          "12.2");
    CHECK(shown(parse_tensorflow_build("# comment\nbuild_info = collections.OrderedDict("
                                       "[('is_cuda_build', False), ('is_rocm_build', False)])")) ==
          "CPU");
    CHECK(shown(parse_tensorflow_build("is_cuda_build = True\n\ncuda_version_number = \"10.1\"\n"
                                       "cudnn_version_number = \"7\"\n")) == "10.1");
    CHECK(shown(parse_tensorflow_build("('cuda_version', '12.5.1')")) == "12.5");
    for (const auto* text :
         {"", "build_info", "cuda_version", "'cuda_version': ", "is_cuda_build"}) {
        CHECK(shown(parse_tensorflow_build(text)) == "an unknown CUDA");
    }
}

TEST_CASE("an editable install's finder and URL lead to the source") {
    CHECK(parse_editable_finder("MAPPING: dict[str, str] = {'functorch': '/src/f', 'torch': "
                                "'/src/my torch/torch'}\nNAMESPACES = {}\n",
                                "torch") == "/src/my torch/torch");
    CHECK(parse_editable_finder("MAPPING = {'torchgen': '/src/torchgen'}", "torch").empty());
    CHECK(parse_editable_finder("MAPPING = {'torch': 'relative'}", "torch").empty());
    CHECK(parse_editable_finder("", "torch").empty());
    CHECK(parse_direct_url(
              R"({"url": "file:///src/py%20torch%C3%A9/", "dir_info": {"editable": true}})") ==
          "/src/py torch\xc3\xa9");
    for (const auto* text :
         {"", "{", "[]", R"({"url": "file:///src"})", R"({"url": 1, "dir_info": {}})",
          R"({"url": "file:///src", "dir_info": {"editable": false}})",
          R"({"url": "https://host/src", "dir_info": {"editable": true}})",
          R"({"url": "file://relative", "dir_info": {"editable": true}})"}) {
        INFO(text);
        CHECK(parse_direct_url(text).empty());
    }
}

} // namespace
} // namespace cudaenv::environments
