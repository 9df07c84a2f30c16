#include "host/environments/cuda_libraries.hpp"
#include "host/environments/environments.hpp"
#include "tests/support/fake_disk.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

namespace cudaenv::environments {
namespace {

using test::FakeDisk;
using Names = std::vector<std::string>;

const std::string k_machine = machine_name();
const std::string k_target = target_directories(k_machine).front();
const std::string k_site = "/e/lib/python3.9/site-packages";

FakeDisk conda(const std::vector<std::string>& records) {
    FakeDisk disk;
    disk.file("/e/conda-meta/history").file("/e/conda-meta/python-3.9.18-h0755675_0.json");
    for (const auto& record : records) {
        disk.file("/e/conda-meta/" + record + ".json", "{}");
    }
    disk.directory(k_site);
    return disk;
}

FakeDisk venv(const std::vector<std::string>& dist_infos, const std::string& more = {}) {
    FakeDisk disk;
    disk.file("/e/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = false\n"
                               "version = 3.9.2\n" +
                                   more);
    disk.directory(k_site);
    for (const auto& name : dist_infos) {
        disk.file(k_site + '/' + name + ".dist-info/METADATA", "");
    }
    return disk;
}

facts::EnvironmentFacts read(FakeDisk& disk, const std::string& prefix = "/e") {
    auto found = read_environment(disk, prefix);
    REQUIRE(found);
    return std::move(*found);
}

// "torch 1.12.1 11.3", a line each.
std::string frameworks(FakeDisk& disk) {
    std::string text;
    for (const auto& framework : read(disk).frameworks) {
        text += (text.empty() ? "" : ", ") + framework.name + ' ' + framework.version + ' ' +
                (framework.cuda  ? framework.cuda->str()
                 : framework.cpu ? "cpu"
                                 : "unknown");
    }
    return text;
}

bool watches(const facts::EnvironmentFacts& facts, const std::string& path) {
    return std::find(facts.watch.begin(), facts.watch.end(), path) != facts.watch.end();
}

// "numpy 2.1.0", conda's with a "c ".
std::string installed(const facts::EnvironmentFacts& facts) {
    std::string text;
    for (const auto& package : facts.installed) {
        text += (text.empty() ? "" : ", ") + std::string(package.conda ? "c " : "") + package.name +
                ' ' + package.version;
    }
    return text;
}

TEST_CASE("an environment says its Python, what is installed in it, and whether uv made it") {
    FakeDisk disk = conda({"numpy-2.1.0-py39_0"});
    disk.file(k_site + "/Nvidia_cudnn.cu12-9.1.0.70.dist-info/METADATA", "");
    CHECK(read(disk).python == "3.9.18");
    CHECK(installed(read(disk)) == "c numpy 2.1.0, c python 3.9.18, nvidia-cudnn-cu12 9.1.0.70");
    CHECK_FALSE(read(disk).uv);
    FakeDisk plain = venv({"numpy-2.1.0"});
    CHECK(read(plain).python == "3.9.2");
    CHECK(installed(read(plain)) == "numpy 2.1.0");
    CHECK_FALSE(read(plain).uv);
    FakeDisk uv = venv({}, "uv = 0.9.5\nversion_info = 3.9.2.final.0\n");
    CHECK(read(uv).uv);
    CHECK(read(uv).python == "3.9.2");
}

TEST_CASE("an environment is conda's by conda-meta, Python's by pyvenv.cfg, else none") {
    FakeDisk disk;
    disk.directory("/c/conda-meta").file("/v/pyvenv.cfg").directory("/n/bin");
    CHECK(read(disk, "/c").kind == facts::EnvironmentKind::Conda);
    CHECK(read(disk, "/v").kind == facts::EnvironmentKind::Venv);
    CHECK_FALSE(read_environment(disk, "/n"));
    CHECK_FALSE(read_environment(disk, "/missing"));
    CHECK_FALSE(read_environment(disk, "c"));
    CHECK_FALSE(read_environment(disk, ""));
    CHECK_FALSE(read_environment(disk, "/"));
    disk.file("/c/pyvenv.cfg");
    CHECK(read(disk, "/c/").kind == facts::EnvironmentKind::Conda);
    CHECK(read(disk, "/c//").prefix == "/c");
    disk.file("/f/conda-meta", "a file").directory("/g/pyvenv.cfg");
    CHECK_FALSE(read_environment(disk, "/f"));
    CHECK_FALSE(read_environment(disk, "/g"));
}

TEST_CASE("what changes an environment's contents is watched, also what is not there yet") {
    auto disk = conda({});
    auto facts = read(disk);
    CHECK(facts.watch == Names{"/e/conda-meta", "/e/pyvenv.cfg", k_site});
    FakeDisk bare;
    bare.file("/e/pyvenv.cfg");
    CHECK(watches(read(bare), "/e/lib"));
}

TEST_CASE("the site-packages of the environment's own Python count, not those left of another") {
    auto disk = conda({});
    disk.directory("/e/lib/python3.8/site-packages/torch");
    CHECK(read(disk).site_packages == Names{k_site});
    auto plain = FakeDisk();
    plain.file("/e/pyvenv.cfg")
        .directory("/e/lib/python3.12/site-packages")
        .directory("/e/lib64/python3.12/site-packages")
        .directory("/e/lib/pypy3.10/site-packages");
    CHECK(read(plain).site_packages == Names{"/e/lib/pypy3.10/site-packages",
                                             "/e/lib/python3.12/site-packages",
                                             "/e/lib64/python3.12/site-packages"});
}

TEST_CASE("one directory under two names is one: lib64, and conda's python3.1") {
    FakeDisk disk;
    disk.directory("/e/conda-meta")
        .directory("/e/lib/python3.10/site-packages")
        .link("/e/lib64", "lib")
        .link("/e/lib/python3.1", "python3.10");
    CHECK(read(disk).site_packages.size() == 1);
}

TEST_CASE("a venv that sees the system's packages sees the frameworks there") {
    FakeDisk disk;
    disk.file("/e/pyvenv.cfg", "home = /opt/py/bin\ninclude-system-site-packages = TRUE\n"
                               "version_info = 3.11.7.final.0\n")
        .directory("/e/lib/python3.11/site-packages")
        .file("/opt/py/lib/python3.11/site-packages/torch/version.py", "cuda = '12.1'\n")
        .directory("/opt/py/lib/python3/dist-packages")
        .directory("/opt/py/local/lib/python3.11/dist-packages");
    CHECK(read(disk).site_packages ==
          Names{"/e/lib/python3.11/site-packages", "/opt/py/local/lib/python3.11/dist-packages",
                "/opt/py/lib/python3.11/site-packages", "/opt/py/lib/python3/dist-packages"});
    CHECK(frameworks(disk) == "torch  12.1");
}

TEST_CASE("torch is what its version.py says, whatever is on record") {
    auto disk = conda({"pytorch-1.12.1-py3.9_cuda11.3_cudnn8.3.2_0"});
    CHECK(frameworks(disk) == "torch 1.12.1 11.3");
    // pip has put its own over conda's.
    disk.file(k_site + "/torch-2.1.0+cu118.dist-info/METADATA")
        .file(k_site + "/torch/version.py", "__version__ = '2.1.0+cu118'\ncuda = '11.8'\n");
    CHECK(frameworks(disk) == "torch 2.1.0+cu118 11.8");
    CHECK(read(disk).frameworks.front().source == k_site + "/torch/version.py");
}

TEST_CASE("conda's build string names torch's CUDA, or says that it has none") {
    for (const auto& [record, expected] :
         {std::pair("pytorch-2.0.0-cuda118py39h06e0762_304", "torch 2.0.0 11.8"),
          std::pair("pytorch-2.10.0-cuda129_mkl_py311_h333e2d5_303", "torch 2.10.0 12.9"),
          std::pair("pytorch-1.10.0-py3.6_cpu_0", "torch 1.10.0 cpu"),
          std::pair("pytorch-2.3.1-cpu_generic_py312h2f1fc2b_0", "torch 2.3.1 cpu")}) {
        auto disk = conda({record});
        CHECK(frameworks(disk) == expected);
    }
    auto disk = conda({});
    disk.file("/e/conda-meta/pytorch-0.3.1-py27had95abb_0.json",
              R"({"depends": ["cudatoolkit >=9.0,<9.1.0a0"], "files": []})");
    CHECK(frameworks(disk) == "torch 0.3.1 9.0");
}

TEST_CASE("pip's torch without version.py is known by its label") {
    for (const auto& [name, expected] :
         {std::pair("torch-1.13.1+cu117", "torch 1.13.1+cu117 11.7"),
          std::pair("torch-2.2.0+cpu", "torch 2.2.0+cpu cpu"),
          std::pair("torch-2.1.0+rocm5.6", "torch 2.1.0+rocm5.6 cpu"),
          std::pair("torch-2.1.0", "torch 2.1.0 unknown")}) {
        auto disk = venv({name});
        CHECK(frameworks(disk) == expected);
    }
}

TEST_CASE("a torch installed in place is read in its source tree, which is watched") {
    const std::string version = "__version__ = '2.3.0a0+git1234'\ncuda = '11.8'\n";
    auto by_url = venv({"torch-2.3.0a0+git1234"});
    by_url
        .file(k_site + "/torch-2.3.0a0+git1234.dist-info/direct_url.json",
              R"({"dir_info": {"editable": true}, "url": "file:///src/py%20torch"})")
        .file("/src/py torch/torch/version.py", version);
    CHECK(frameworks(by_url) == "torch 2.3.0a0+git1234 11.8");
    CHECK(watches(read(by_url), "/src/py torch/torch/version.py"));

    auto by_link = venv({});
    by_link.file(k_site + "/torch.egg-link", "/src/pytorch\n.")
        .file("/src/pytorch/torch/version.py", version);
    CHECK(frameworks(by_link) == "torch 2.3.0a0+git1234 11.8");

    auto by_pth = venv({});
    by_pth.file(k_site + "/__editable__.torch-2.3.0a0.pth", "/src/pytorch\n")
        .file("/src/pytorch/torch/version.py", version);
    CHECK(frameworks(by_pth) == "torch 2.3.0a0+git1234 11.8");

    auto by_finder = venv({});
    by_finder
        .file(k_site + "/__editable___torch_2_3_0_finder.py",
              "MAPPING = {'torch': '/src/pytorch/torch'}\n")
        .file("/src/pytorch/torch/version.py", version);
    CHECK(frameworks(by_finder) == "torch 2.3.0a0+git1234 11.8");

    auto symlinked = venv({});
    symlinked.link(k_site + "/torch", "/src/pytorch/torch")
        .file("/src/pytorch/torch/version.py", version);
    CHECK(frameworks(symlinked) == "torch 2.3.0a0+git1234 11.8");
    CHECK(watches(read(symlinked), k_site + "/torch/version.py"));
}

TEST_CASE("a source tree that was not built yet is noted and watched") {
    auto disk = venv({});
    disk.file(k_site + "/torch.egg-link", "/src/pytorch\n.");
    const auto facts = read(disk);
    CHECK(facts.frameworks.empty());
    CHECK(facts.notes.size() == 1);
    CHECK(watches(facts, "/src/pytorch/torch/version.py"));
}

TEST_CASE("tensorflow is what its build_info.py says, else conda's build") {
    auto by_pip = venv({"tensorflow-2.15.0"});
    by_pip.file(k_site + "/tensorflow/python/platform/build_info.py",
                "OrderedDict([('cuda_version', '12.2'), ('is_cuda_build', True)])");
    CHECK(frameworks(by_pip) == "tensorflow 2.15.0 12.2");
    auto cpu = venv({"tensorflow_cpu-2.15.0"});
    CHECK(frameworks(cpu) == "tensorflow 2.15.0 cpu");
    auto by_conda = conda({"tensorflow-2.18.0-cuda126py310h6b2526e_200",
                           "tensorflow-base-2.18.0-cuda126py310h37489de_200"});
    CHECK(frameworks(by_conda) == "tensorflow 2.18.0 12.6");
    auto mkl =
        conda({"tensorflow-2.6.0-mkl_py37h9d15365_0", "tensorflow-base-2.6.0-mkl_py37h3d85931_0"});
    CHECK(frameworks(mkl) == "tensorflow 2.6.0 cpu");
    auto gpu = conda({});
    gpu.file("/e/conda-meta/tensorflow-base-1.14.0-gpu_py27h611c6d2_0.json",
             R"({"depends": ["cudatoolkit >=10.1.168,<10.2.0a0"]})");
    CHECK(frameworks(gpu) == "tensorflow 1.14.0 10.1");
}

TEST_CASE("jaxlib's CUDA is its plugin's major, its label's, or conda's build's") {
    for (const auto& [names, expected] : std::vector<std::pair<Names, std::string>>{
             {{"jaxlib-0.4.30", "jax_cuda12_plugin-0.4.30", "jax_cuda12_pjrt-0.4.30"},
              "jaxlib 0.4.30 12"},
             {{"jaxlib-0.8.0", "jax_cuda13_plugin-0.8.0"}, "jaxlib 0.8.0 13"},
             {{"jaxlib-0.4.7+cuda11.cudnn86"}, "jaxlib 0.4.7+cuda11.cudnn86 11"},
             {{"jaxlib-0.1.57+cuda110"}, "jaxlib 0.1.57+cuda110 11.0"},
             {{"jaxlib-0.4.30"}, "jaxlib 0.4.30 cpu"}}) {
        auto disk = venv(names);
        CHECK(frameworks(disk) == expected);
    }
    auto by_conda = conda({"jaxlib-0.4.35-cuda126py312hd27b167_200"});
    by_conda.directory(k_site + "/jaxlib-0.4.35.dist-info");
    CHECK(frameworks(by_conda) == "jaxlib 0.4.35 12.6");
    auto with_plugin = conda({"jaxlib-0.9.0-cpu_py314h76936b7_0"});
    CHECK(frameworks(with_plugin) == "jaxlib 0.9.0 cpu");
    with_plugin.directory(k_site + "/jax_cuda12_plugin-0.9.0.dist-info");
    CHECK(frameworks(with_plugin) == "jaxlib 0.9.0 12");
    auto unknown = conda({"jaxlib-0.1.70-py39h1_0"});
    CHECK(frameworks(unknown) == "jaxlib 0.1.70 unknown");
}

TEST_CASE("cupy's CUDA is in its name, conda's in what it depends on") {
    for (const auto& [name, expected] : {std::pair("cupy_cuda12x-13.0.0", "cupy 13.0.0 12"),
                                         std::pair("cupy_cuda117-10.6.0", "cupy 10.6.0 11.7"),
                                         std::pair("cupy_rocm_5_0-12.0.0", "cupy 12.0.0 cpu"),
                                         std::pair("cupy-13.0.0", "cupy 13.0.0 unknown")}) {
        auto disk = venv({name});
        CHECK(frameworks(disk) == expected);
    }
    auto disk = conda({});
    disk.file("/e/conda-meta/cupy-core-13.4.0-py310h4564b94_0.json",
              R"({"depends": ["cuda-version >=12,<13"]})");
    CHECK(frameworks(disk) == "cupy 13.4.0 12");
}

TEST_CASE("of several frameworks torch comes first") {
    auto disk = venv({"cupy_cuda12x-13.0.0", "jaxlib-0.4.30", "tensorflow_cpu-2.15.0",
                      "torch-2.2.0+cu121", "torchvision-0.17.0+cu121", "tensorboard-2.15.0"});
    CHECK(frameworks(disk) == "torch 2.2.0+cu121 12.1, tensorflow 2.15.0 cpu, jaxlib 0.4.30 cpu, "
                              "cupy 13.0.0 12");
}

std::string runtime(FakeDisk& disk) {
    const auto found = read(disk).runtime;
    return found ? found->package + ' ' + found->version.str() : "none";
}

TEST_CASE(
    "the runtime that an environment carries is the package itself before its version's name") {
    auto toolkit = conda({"cudatoolkit-11.3.1-ha36c431_9", "cuda-version-11.3-hdbd7af8_3"});
    CHECK(runtime(toolkit) == "cudatoolkit 11.3.1");
    auto cudart = conda({"cuda-version-12.4-h3060b56_3", "cuda-cudart-12.4.127-he02047a_2"});
    CHECK(runtime(cudart) == "cuda-cudart 12.4.127");
    auto version = conda({"cuda-version-12.4-h3060b56_3"});
    CHECK(runtime(version) == "cuda-version 12.4");
    auto pip = venv({"nvidia_cuda_runtime_cu12-12.1.105"});
    CHECK(runtime(pip) == "nvidia-cuda-runtime-cu12 12.1.105");
    auto pip13 = venv({"nvidia_cuda_runtime-13.0.96", "nvidia_cuda_runtime_cu13-0.0.1"});
    CHECK(runtime(pip13) == "nvidia-cuda-runtime 13.0.96");
    auto none = venv({"nvidia_cuda_runtime_cu13-0.0.0a0", "nvidia_cublas_cu12-12.1.3.1"});
    CHECK(runtime(none) == "none");
}

TEST_CASE("of two runtimes of pip's that of the framework's CUDA counts, else the newer") {
    auto both = venv({"nvidia_cuda_runtime_cu11-11.8.89", "nvidia_cuda_runtime_cu12-12.1.105"});
    CHECK(runtime(both) == "nvidia-cuda-runtime-cu12 12.1.105");
    both.directory(k_site + "/torch-2.1.0+cu118.dist-info");
    CHECK(runtime(both) == "nvidia-cuda-runtime-cu11 11.8.89");
}

TEST_CASE("conda's nvcc is a toolkit of the environment, inspected without starting it") {
    auto disk = conda({"cuda-nvcc-tools-12.4.131-h02f8991_0", "cuda-nvcc-12.4.131-h02f8991_0"});
    disk.program("/e/bin/nvcc")
        .file("/e/" + k_target + "/include/cuda_runtime_api.h", "#define CUDART_VERSION 12040\n")
        .file("/e/" + k_target + "/include/crt/host_config.h",
              "#if __GNUC__ > 13\n#error -- unsupported GNU version! gcc versions later than 13 "
              "are not supported!\n#endif\n");
    const auto facts = read(disk);
    REQUIRE(facts.toolkits.size() == 1);
    const auto& toolkit = facts.toolkits.front();
    CHECK(toolkit.path == "/e");
    CHECK(toolkit.version->str() == "12.4.131");
    CHECK(toolkit.nvcc);
    CHECK(toolkit.gcc_max == 13);
    CHECK(toolkit.problem.empty());
    CHECK(toolkit.source == "conda environment /e");
}

TEST_CASE("an nvcc without a version anywhere is a toolkit with a problem, not started") {
    auto disk = conda({"cuda-nvcc-tools-badversion-0"});
    disk.program("/e/bin/nvcc");
    const auto facts = read(disk);
    REQUIRE(facts.toolkits.size() == 1);
    CHECK(facts.toolkits.front().problem.find("not asked") != std::string::npos);
}

TEST_CASE("an nvcc that leads out of the environment does not count, and is noted") {
    auto disk = conda({});
    disk.program("/usr/local/cuda/bin/nvcc").link("/e/bin/nvcc", "/usr/local/cuda/bin/nvcc");
    const auto facts = read(disk);
    CHECK(facts.toolkits.empty());
    REQUIRE(facts.notes.size() == 1);
    CHECK(facts.notes.front().find("/usr/local/cuda/bin/nvcc") != std::string::npos);
    // conda links out of its package cache where it cannot copy.
    auto linked = conda({"cuda-nvcc-tools-12.4.131-h02f8991_0"});
    linked.program("/pkgs/cuda-nvcc-tools/bin/nvcc")
        .link("/e/bin/nvcc", "/pkgs/cuda-nvcc-tools/bin/nvcc");
    CHECK(read(linked).toolkits.size() == 1);
}

TEST_CASE("pip's nvcc is a toolkit for 13; the wheels for 11 and 12 have none") {
    auto disk = venv({"nvidia_cuda_nvcc-13.0.88", "nvidia_cuda_nvcc_cu12-12.4.131"});
    const auto nvidia = k_site + "/nvidia";
    disk.file(nvidia + "/cuda_nvcc/bin/ptxas")
        .program(nvidia + "/cu13/bin/nvcc")
        .file(nvidia + "/cu13/include/cuda.h", "#define CUDA_VERSION 13000\n");
    const auto facts = read(disk);
    REQUIRE(facts.toolkits.size() == 1);
    CHECK(facts.toolkits.front().path == nvidia + "/cu13");
    CHECK(facts.toolkits.front().version->str() == "13.0.88");
}

TEST_CASE("a symlinked environment keeps its name; its toolkit has both") {
    auto disk = conda({"cuda-nvcc-tools-12.4.131-h02f8991_0"});
    disk.program("/e/bin/nvcc").link("/home/u/env", "/e");
    const auto facts = read(disk, "/home/u/env");
    CHECK(facts.prefix == "/home/u/env");
    CHECK(facts.site_packages == Names{"/home/u/env/lib/python3.9/site-packages"});
    REQUIRE(facts.toolkits.size() == 1);
    CHECK(facts.toolkits.front().path == "/e");
    CHECK(facts.toolkits.front().aliases == Names{"/home/u/env"});
}

TEST_CASE("conda's compilers have the version on record, or that of their parts' directory") {
    const auto subdir = k_machine == "x86_64" ? std::string("linux-64") : "linux-" + k_machine;
    const auto gxx = "/e/bin/" + k_machine + "-conda-linux-gnu-g++";
    auto disk = conda({"gxx_impl_" + subdir + "-12.3.0-h1562d66_6"});
    disk.program(gxx)
        .program("/e/bin/" + k_machine + "-conda-linux-gnu-c++")
        .program("/e/bin/m68k-conda-linux-gnu-g++");
    auto facts = read(disk);
    REQUIRE(facts.compilers.size() == 1);
    CHECK(facts.compilers.front().path == gxx);
    CHECK(facts.compilers.front().version.str() == "12.3.0");
    CHECK(facts.compilers.front().family == facts::CompilerFamily::Gcc);

    auto unrecorded = conda({});
    unrecorded.program(gxx);
    facts = read(unrecorded);
    CHECK(facts.compilers.empty());
    CHECK(facts.notes.size() == 1);
    unrecorded.directory("/e/lib/gcc/" + k_machine + "-conda-linux-gnu/11.4.0");
    facts = read(unrecorded);
    REQUIRE(facts.compilers.size() == 1);
    CHECK(facts.compilers.front().version.str() == "11.4.0");

    auto clang = conda({"clangxx-18.1.8-default_h0_1"});
    clang.program("/e/bin/" + k_machine + "-conda-linux-gnu-clang++");
    facts = read(clang);
    REQUIRE(facts.compilers.size() == 1);
    CHECK(facts.compilers.front().family == facts::CompilerFamily::Clang);
}

TEST_CASE("cuDNN is that of the framework's own kind") {
    const std::string header =
        "#define CUDNN_MAJOR 8\n#define CUDNN_MINOR 9\n#define CUDNN_PATCHLEVEL 2\n";
    auto disk = conda({"pytorch-2.0.0-cuda118py39h06e0762_304"});
    disk.file("/e/include/cudnn.h", header)
        .file("/e/lib/libcudnn.so")
        .file(k_site + "/nvidia/cudnn/include/cudnn.h", header)
        .file(k_site + "/nvidia/cudnn/lib/libcudnn.so.8");
    CHECK(read(disk).cudnn->root == "/e");
    auto pip = conda({});
    pip.file("/e/include/cudnn.h", header)
        .file(k_site + "/nvidia/cudnn/include/cudnn.h", header)
        .file(k_site + "/nvidia/cudnn/lib/libcudnn.so.8");
    const auto place = read(pip).cudnn;
    REQUIRE(place);
    CHECK(place->root == k_site + "/nvidia/cudnn");
    CHECK(place->library == k_site + "/nvidia/cudnn/lib/libcudnn.so.8");
    CHECK(place->version->str() == "8.9.2");
    auto only_conda = conda({});
    only_conda.file("/e/include/cudnn.h", header);
    CHECK(read(only_conda).cudnn->library.empty());
}

TEST_CASE("the sonames are those of every place that a framework loads from") {
    auto disk = conda({});
    disk.file("/e/lib/libcudart.so.11.0")
        .file("/e/lib/libcudart.so.11.8.89")
        .file("/e/lib/libz.so.1")
        .file(k_site + "/nvidia/__init__.py")
        .file(k_site + "/nvidia/cublas/lib/libcublas.so.12")
        .file(k_site + "/nvidia/cudnn/lib/libcudnn.so.8")
        .file(k_site + "/torch/lib/libcudnn.so.8")
        .file(k_site + "/torch/lib/libtorch_cuda.so")
        .file(k_site + "/torch/lib/libcudart-d0da41ae.so.11.0")
        .file(k_site + "/torch/lib/libnvToolsExt.so.1");
    CHECK(read(disk).sonames ==
          Names{"libcublas.so.12", "libcudart.so.11.0", "libcudnn.so.8", "libnvToolsExt.so.1"});
}

TEST_CASE("what cannot be read is noted, and the rest is still read") {
    auto disk = conda({"cudatoolkit-11.3.1-ha36c431_9"});
    disk.file(k_site + "/torch/version.py", "cuda = '11.3'\n");
    disk.unreadable(k_site + "/torch/version.py");
    auto facts = read(disk);
    CHECK(facts.runtime);
    CHECK(facts.frameworks.empty());
    REQUIRE(facts.notes.size() == 1);
    CHECK(facts.notes.front().find("permission denied") != std::string::npos);

    auto closed = conda({});
    closed.unreadable("/e/conda-meta").unreadable(k_site);
    facts = read(closed);
    CHECK(facts.kind == facts::EnvironmentKind::Conda);
    CHECK(facts.notes.size() == 2);
}

TEST_CASE("reading an environment lists each directory once and opens few files") {
    auto disk = conda({"pytorch-2.0.0-cuda118py39h06e0762_304", "cudatoolkit-11.8.0-h4ba93d1_13"});
    for (int i = 0; i < 50; ++i) {
        const auto n = std::to_string(i);
        disk.file("/e/conda-meta/package" + n + "-1.0-0.json")
            .file(k_site + "/package" + n + "-1.0.dist-info/METADATA");
    }
    disk.file(k_site + "/torch/version.py", "cuda = '11.8'\n");
    read(disk);
    auto lists = disk.log();
    std::erase_if(lists, [](const std::string& access) { return !access.starts_with("list "); });
    auto unique = lists;
    std::sort(unique.begin(), unique.end());
    unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
    CHECK(unique.size() == lists.size());
    const auto reads =
        std::count_if(disk.log().begin(), disk.log().end(),
                      [](const std::string& access) { return access.starts_with("read "); });
    CHECK(reads <= 3);
}

} // namespace
} // namespace cudaenv::environments
