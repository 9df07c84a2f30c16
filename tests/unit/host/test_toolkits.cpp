#include "host/toolkits.hpp"
#include "tests/support/fake_disk.hpp"
#include "tests/support/fake_processes.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::host {
namespace {

using test::FakeDisk;
using test::FakeProcesses;

// A look at one fake machine.
struct Look {
    FakeDisk disk;
    FakeProcesses processes;
    Environment environment;
    ToolkitSearch search{{}, {}, "/home/u", "x86_64"};

    ToolkitFindings find() {
        VersionCache cache("", 0);
        const VersionAsker asker{processes, cache, environment};
        return find_toolkits(disk, environment, search, asker);
    }
};

const char* const k_host_config =
    "#if __GNUC__ > 10\n#error -- unsupported GNU version! gcc versions later than 10 are not "
    "supported!\n#endif\n";

void add_11_3(FakeDisk& disk, const std::string& path) {
    disk.program(path + "/bin/nvcc")
        .file(path + "/version.json",
              R"({"cuda": {"version": "11.3.1"}, "cuda_nvcc": {"version": "11.3.109"}})")
        .file(path + "/include/crt/host_config.h", k_host_config);
}

void add_10_0(FakeDisk& disk, const std::string& path) {
    disk.program(path + "/bin/nvcc").file(path + "/version.txt", "CUDA Version 10.0.130\n");
}

TEST_CASE("a toolkit reached by many names is reported once, with its other names") {
    Look look;
    add_11_3(look.disk, "/usr/local/cuda-11.3");
    look.disk.link("/usr/local/cuda", "/etc/alternatives/cuda")
        .link("/etc/alternatives/cuda", "/usr/local/cuda-11.3")
        .link("/usr/local/cuda-11", "cuda-11.3")
        .link("/usr/bin/nvcc", "/usr/local/cuda/bin/nvcc");
    look.environment = {{"CUDA_HOME", "/usr/local/cuda"},
                        {"CUDA_PATH", "/usr/local/cuda-11.3/"},
                        {"PATH", "/usr/local/cuda/bin:/usr/bin"}};
    look.search.directories = {"/usr/local/cuda-11.3"};
    const auto found = look.find();
    REQUIRE(found.toolkits.size() == 1);
    const auto& toolkit = found.toolkits[0];
    CHECK(toolkit.path == "/usr/local/cuda-11.3");
    CHECK(toolkit.version->str() == "11.3.109");
    CHECK(toolkit.nvcc);
    CHECK(toolkit.problem.empty());
    CHECK(toolkit.gcc_max == 10);
    CHECK(toolkit.gcc_min == 6); // documented, not enforced by the header
    CHECK(toolkit.sources.at("gcc_max") == "/usr/local/cuda-11.3/include/crt/host_config.h");
    CHECK(toolkit.sources.at("gcc_min").starts_with("table: "));
    CHECK(toolkit.sources.at("version") == "/usr/local/cuda-11.3/version.json");
    CHECK(toolkit.aliases.front() == "/usr/local/cuda");
    CHECK(toolkit.source == "configured directory, /usr/local, /etc/alternatives, CUDA_HOME, "
                            "CUDA_PATH, PATH");
    CHECK(look.processes.started.empty());
}

TEST_CASE("broken, looping and unreadable toolkits survive with their problem, the others fit") {
    Look look;
    add_11_3(look.disk, "/usr/local/cuda-11.3");
    look.disk.link("/usr/local/cuda-9.0", "/mnt/gone/cuda-9.0")
        .link("/usr/local/cuda-9.1", "cuda-9.2")
        .link("/usr/local/cuda-9.2", "cuda-9.1")
        .directory("/usr/local/cuda-8.0")
        .file("/usr/local/cuda-7.5", "not a directory");
    add_10_0(look.disk, "/usr/local/cuda-10.0");
    look.disk.unreadable("/usr/local/cuda-10.0");
    const auto found = look.find();
    std::map<std::string, std::string> problems;
    for (const auto& toolkit : found.toolkits) {
        problems[toolkit.path] = toolkit.problem;
    }
    REQUIRE(problems.size() == 7);
    CHECK(problems["/usr/local/cuda-11.3"].empty());
    CHECK(problems["/usr/local/cuda-9.0"] ==
          "a symlink to /mnt/gone/cuda-9.0, which does not exist");
    CHECK(problems["/usr/local/cuda-9.1"] == "its symlinks lead in a circle");
    CHECK(problems["/usr/local/cuda-9.2"] == "its symlinks lead in a circle");
    CHECK(problems["/usr/local/cuda-8.0"].find("neither nvcc nor") != std::string::npos);
    CHECK(problems["/usr/local/cuda-7.5"] == "is not a directory");
    CHECK(problems["/usr/local/cuda-10.0"].starts_with("permission denied: "));
    CHECK(found.toolkits.front().path == "/usr/local/cuda-11.3"); // usable ones first
}

TEST_CASE("a path that does not answer is reported and not touched, the others are found") {
    Look look;
    add_11_3(look.disk, "/usr/local/cuda-11.3");
    add_11_3(look.disk, "/sw/cuda/11.3");
    look.disk.directory("/nfs/cuda-12.4")
        .directory("/nfs/bin")
        .directory("/nfs/modules")
        .directory("/sw/cuda/12.4")
        .link("/usr/local/cuda-12", "/nfs/cuda-12.4")
        .silenced("/nfs")
        .silenced("/sw/cuda/12.4");
    look.search.directories = {"/nfs", "/sw/cuda"};
    look.environment = {{"PATH", "/nfs/bin:/usr/bin"}, {"MODULEPATH", "/nfs/modules"}};
    const auto found = look.find();
    std::vector<std::string> silent;
    std::vector<std::string> usable;
    for (const auto& toolkit : found.toolkits) {
        CHECK(toolkit.silent == (toolkit.problem == "does not answer"));
        (toolkit.silent ? silent : usable).push_back(toolkit.path);
    }
    CHECK(usable == std::vector<std::string>{"/sw/cuda/11.3", "/usr/local/cuda-11.3"});
    CHECK(silent == std::vector<std::string>{"/nfs", "/nfs/bin", "/nfs/modules", "/sw/cuda/12.4",
                                             "/usr/local/cuda-12"});
}

TEST_CASE("a CUDA_HOME that leads nowhere is a toolkit with a problem") {
    Look look;
    look.environment = {{"CUDA_HOME", "/opt/no-such"}, {"CUDA_PATH", ""}};
    auto found = look.find();
    REQUIRE(found.toolkits.size() == 1);
    CHECK(found.toolkits[0].source == "CUDA_HOME");
    CHECK(found.toolkits[0].problem == "does not exist");
    look.environment = {{"CUDA_HOME", "cuda"}};
    found = look.find();
    REQUIRE(found.toolkits.size() == 1);
    CHECK(found.toolkits[0].problem == "not an absolute path");
}

TEST_CASE("directories that only begin like a toolkit are passed over") {
    Look look;
    look.disk.file("/usr/local/cuda-samples/README.md").directory("/opt/cuda-tools");
    const auto found = look.find();
    CHECK(found.toolkits.empty());
    CHECK(found.absent.find("/usr/local/cuda*") != std::string::npos);
}

TEST_CASE("a runtime image has a version and no nvcc, which is no problem") {
    Look look;
    look.disk.file("/usr/local/cuda-12.4/version.json", R"({"cuda": {"version": "12.4.1"}})")
        .link("/usr/local/cuda-12.4/lib64", "targets/x86_64-linux/lib")
        .file("/usr/local/cuda-12.4/targets/x86_64-linux/lib/libcudart.so.12.4.127");
    const auto found = look.find();
    REQUIRE(found.toolkits.size() == 1);
    CHECK_FALSE(found.toolkits[0].nvcc);
    CHECK(found.toolkits[0].problem.empty());
    CHECK(found.toolkits[0].absent.at("nvcc") == "/usr/local/cuda-12.4/bin/nvcc: does not exist");
}

TEST_CASE("without version files the headers tell the release and a package name the build") {
    Look look;
    const std::string cu13 = "/home/u/venv/lib/python3.12/site-packages/nvidia/cu13";
    look.disk.program(cu13 + "/bin/nvcc")
        .file(cu13 + "/include/cuda_runtime_api.h", "#define CUDART_VERSION  13000\n")
        .directory("/home/u/venv/lib/python3.12/site-packages/nvidia_cuda_nvcc-13.0.88.dist-info");
    look.environment = {{"VIRTUAL_ENV", "/home/u/venv"}};
    const auto found = look.find();
    REQUIRE(found.toolkits.size() == 1);
    CHECK(found.toolkits[0].path == cu13);
    CHECK(found.toolkits[0].version->str() == "13.0.88");
    CHECK(found.toolkits[0].source == "pip's nvidia/cu13");
    CHECK(found.toolkits[0].sources.at("version").find("dist-info") != std::string::npos);
}

TEST_CASE("a package name of another release than the headers is not believed") {
    Look look;
    look.disk.program("/usr/local/cuda-13/bin/nvcc")
        .file("/usr/local/cuda-13/include/cuda.h", "#define CUDA_VERSION 13000\n")
        .directory("/usr/local/cuda-13/dist-info/nvidia_cuda_nvcc-13.1.80.dist-info");
    const auto found = look.find();
    CHECK(found.toolkits[0].version->str() == "13.0");
    CHECK(found.toolkits[0].sources.at("version") == "/usr/local/cuda-13/include/cuda.h");
}

TEST_CASE("nvcc is asked for its version only if no file contains it") {
    Look look;
    look.disk.program("/opt/cuda/bin/nvcc");
    look.processes.answer("/opt/cuda/bin/nvcc --version",
                          "Cuda compilation tools, release 12.6, V12.6.85\n");
    const auto found = look.find();
    REQUIRE(found.toolkits.size() == 1);
    CHECK(found.toolkits[0].version->str() == "12.6.85");
    CHECK(look.processes.started.size() == 1);
}

TEST_CASE("an nvcc that does not answer leaves a toolkit of unknown version, with the reason") {
    Look look;
    look.disk.program("/opt/cuda/bin/nvcc");
    look.processes.hang("/opt/cuda/bin/nvcc --version");
    const auto found = look.find();
    REQUIRE(found.toolkits.size() == 1);
    CHECK_FALSE(found.toolkits[0].version);
    CHECK(found.toolkits[0].problem.find("no answer within") != std::string::npos);
}

TEST_CASE("Debian's toolkit is found behind its wrapper, with the system's headers") {
    Look look;
    look.disk.program("/usr/lib/nvidia-cuda-toolkit/bin/nvcc")
        .program("/usr/bin/nvcc", "#!/bin/sh\nexec /usr/lib/nvidia-cuda-toolkit/bin/nvcc \"$@\"\n")
        .file("/usr/include/cuda_runtime_api.h", "#define CUDART_VERSION  11080\n")
        .file("/usr/include/crt/host_config.h",
              "#if __GNUC__ > 11\n#error -- unsupported GNU version!\n#endif\n");
    look.environment = {{"PATH", "/usr/bin"}};
    const auto found = look.find();
    REQUIRE(found.toolkits.size() == 1);
    CHECK(found.toolkits[0].path == "/usr/lib/nvidia-cuda-toolkit");
    CHECK(found.toolkits[0].version->str() == "11.8");
    CHECK(found.toolkits[0].gcc_max == 11);
    CHECK(found.toolkits[0].source == "Debian's nvidia-cuda-toolkit, PATH");
}

TEST_CASE("the HPC SDK's toolkits, one for each CUDA of each release, are found") {
    Look look;
    const std::string sdk = "/opt/nvidia/hpc_sdk/Linux_x86_64";
    look.disk.program(sdk + "/24.5/cuda/12.4/bin/nvcc")
        .file(sdk + "/24.5/cuda/12.4/version.json", R"({"cuda": {"version": "12.4.1"}})")
        .program(sdk + "/24.5/cuda/11.8/bin/nvcc")
        .file(sdk + "/24.5/cuda/11.8/version.json", R"({"cuda": {"version": "11.8.0"}})")
        .link(sdk + "/2024", "24.5");
    const auto found = look.find();
    REQUIRE(found.toolkits.size() == 2);
    CHECK(found.toolkits[0].version->str() == "12.4.1");
    CHECK(found.toolkits[1].path == sdk + "/24.5/cuda/11.8");
}

TEST_CASE("a conda environment with nvcc is a toolkit, one without is not") {
    Look look;
    look.disk.program("/home/u/miniforge3/envs/a/bin/nvcc")
        .file("/home/u/miniforge3/envs/a/targets/x86_64-linux/include/cuda_runtime_api.h",
              "#define CUDART_VERSION  12040\n")
        .file("/home/u/miniforge3/envs/a/conda-meta/cuda-nvcc-tools-12.4.131-hd3aeb46_0.json")
        .directory("/home/u/miniforge3/envs/b/bin");
    look.search.conda_prefixes = {"/home/u/miniforge3/envs/a", "/home/u/miniforge3/envs/b"};
    const auto found = look.find();
    REQUIRE(found.toolkits.size() == 1);
    CHECK(found.toolkits[0].version->str() == "12.4.131");
    CHECK(found.toolkits[0].source == "conda environment /home/u/miniforge3/envs/a");
}

TEST_CASE("toolkits that modulefiles name are found without loading a module") {
    Look look;
    add_11_3(look.disk, "/apps/cuda/11.3");
    look.disk
        .file("/etc/modulefiles/cuda/11.3",
              "#%Module\nset root /apps/cuda/11.3\nsetenv CUDA_HOME $root\n")
        .file("/etc/modulefiles/cuda/.version", "#%Module\nset ModulesVersion 11.3\n")
        .file("/sw/lmod/cuda/12.0.lua", "setenv(\"CUDA_HOME\", \"/apps/cuda/12.0\")\n")
        .file("/sw/lmod/gcc/12.lua", "setenv(\"CUDA_HOME\", \"/wrong\")\n");
    look.environment = {{"MODULEPATH", "/etc/modulefiles:/sw/lmod:/not/there"}};
    const auto found = look.find();
    REQUIRE(found.toolkits.size() == 2);
    CHECK(found.toolkits[0].path == "/apps/cuda/11.3");
    CHECK(found.toolkits[0].source == "module /etc/modulefiles/cuda/11.3");
    CHECK(found.toolkits[1].problem == "does not exist");
}

TEST_CASE("a configured directory of toolkits gives each of them") {
    Look look;
    add_11_3(look.disk, "/srv/cuda/cuda-11.3");
    add_10_0(look.disk, "/srv/cuda/10.0");
    look.search.directories = {"/srv/cuda"};
    const auto found = look.find();
    REQUIRE(found.toolkits.size() == 2);
    CHECK(found.toolkits[1].version->str() == "10.0.130");
    CHECK(found.toolkits[1].gcc_max == 7); // no header: the table's
    CHECK(found.toolkits[1].sources.at("gcc_max").starts_with("table: "));
}

TEST_CASE("cuDNN's and NCCL's headers and libraries are read, and a difference is a warning") {
    Look look;
    add_11_3(look.disk, "/usr/local/cuda-11.3");
    const std::string root = "/usr/local/cuda-11.3";
    look.disk
        .file(root + "/include/cudnn_version.h",
              "#define CUDNN_MAJOR 8\n#define CUDNN_MINOR 2\n#define CUDNN_PATCHLEVEL 1\n")
        .file(root + "/include/nccl.h",
              "#define NCCL_MAJOR 2\n#define NCCL_MINOR 9\n#define NCCL_PATCH 9\n")
        .link(root + "/lib64", "targets/x86_64-linux/lib");
    const std::string lib = root + "/targets/x86_64-linux/lib";
    look.disk.link(lib + "/libcudnn.so", "libcudnn.so.8")
        .link(lib + "/libcudnn.so.8", "libcudnn.so.8.1.0")
        .file(lib + "/libcudnn.so.8.1.0")
        .file(lib + "/libcudnn.so.8.2.1") // left behind; nothing loads it
        .link(lib + "/libnccl.so.2", "libnccl.so.2.9.9")
        .file(lib + "/libnccl.so.2.9.9");
    const auto found = look.find();
    const auto& toolkit = found.toolkits.at(0);
    CHECK(toolkit.cudnn->str() == "8.2.1");
    CHECK(toolkit.cudnn_library->str() == "8.1.0");
    CHECK(toolkit.nccl->str() == "2.9.9");
    CHECK(toolkit.nccl_library->str() == "2.9.9");
    REQUIRE(toolkit.warnings.size() == 1);
    CHECK(toolkit.warnings[0].find("8.2.1") != std::string::npos);
    CHECK(toolkit.warnings[0].find("8.1.0") != std::string::npos);
}

TEST_CASE("a toolkit without cuDNN says where none was") {
    Look look;
    add_11_3(look.disk, "/usr/local/cuda-11.3");
    const auto found = look.find();
    CHECK_FALSE(found.toolkits[0].cudnn);
    CHECK(found.toolkits[0].absent.at("cudnn") ==
          "no cudnn_version.h in /usr/local/cuda-11.3/include");
    CHECK(found.toolkits[0].absent.contains("cudnn_library"));
}

TEST_CASE("the system's cuDNN counts for a toolkit beside it that has no cuDNN") {
    Look look;
    add_11_3(look.disk, "/usr/local/cuda-11.3");
    look.disk
        .file("/usr/include/x86_64-linux-gnu/cudnn_version.h",
              "#define CUDNN_MAJOR 8\n#define CUDNN_MINOR 2\n#define CUDNN_PATCHLEVEL 1\n")
        .link("/usr/lib/x86_64-linux-gnu/libcudnn.so.8", "libcudnn.so.8.2.1")
        .file("/usr/lib/x86_64-linux-gnu/libcudnn.so.8.2.1");
    const auto found = look.find();
    REQUIRE(found.toolkits[0].cudnn);
    CHECK(found.toolkits[0].cudnn->str() == "8.2.1");
    CHECK(found.toolkits[0].cudnn_library->str() == "8.2.1");
    CHECK(found.toolkits[0].sources.at("cudnn") == "/usr/include/x86_64-linux-gnu/cudnn_version.h");
}

TEST_CASE("a system's cuDNN for other CUDA releases is not taken for a toolkit's") {
    Look look;
    add_10_0(look.disk, "/usr/local/cuda-10.0");
    look.disk.file("/usr/include/cudnn_version.h",
                   "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 1\n#define CUDNN_PATCHLEVEL 0\n");
    const auto found = look.find();
    CHECK_FALSE(found.toolkits[0].cudnn);
    CHECK(found.toolkits[0].absent.at("cudnn").find("9.1.0") != std::string::npos);
}

} // namespace
} // namespace cudaenv::host
