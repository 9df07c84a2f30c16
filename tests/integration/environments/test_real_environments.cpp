// Environments and toolkits on this machine's disk, and how long reading one takes.
#include "host/environments/environments.hpp"
#include "host/watch/path_state.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cudaenv::environments {
namespace {

namespace fs = std::filesystem;
using test::TemporaryTree;

bool runs(const std::string& command) {
    const int status = std::system(command.c_str()); // NOLINT(concurrency-mt-unsafe)
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool watches(const facts::EnvironmentFacts& facts, const std::string& path) {
    return std::find(facts.watch.begin(), facts.watch.end(), path) != facts.watch.end();
}

TEST_CASE("a venv made by python3 -m venv is read, and an installation into it is seen") {
    const TemporaryTree tree;
    const auto prefix = tree.path() + "/my env";
    if (!runs("python3 -m venv --without-pip '" + prefix + "' 2>/dev/null")) {
        SKIP("python3 -m venv does not work here; install python3-venv");
    }
    host::DiskFileSystem files;
    const auto before = read_environment(files, prefix);
    REQUIRE(before);
    CHECK(before->kind == facts::EnvironmentKind::Venv);
    REQUIRE(before->site_packages.size() == 1); // lib64 is a link
    CHECK(before->frameworks.empty());
    CHECK(before->notes.empty());
    const auto site = before->site_packages.front();
    REQUIRE(watches(*before, site));
    std::vector<watch::PathState> states;
    for (const auto& path : before->watch) {
        states.push_back(watch::observe(files, path));
    }
    CHECK_FALSE(watch::changed(files, states));
    fs::create_directories(site + "/torch-2.1.0+cu118.dist-info");
    CHECK(watch::changed(files, states));
    const auto after = read_environment(files, prefix);
    REQUIRE(after->frameworks.size() == 1);
    CHECK(after->frameworks.front().cuda->str() == "11.8");
}

TEST_CASE("a venv with the system's packages looks where its Python looks") {
    const TemporaryTree tree;
    const auto prefix = tree.path() + "/env";
    if (!runs("python3 -m venv --without-pip --system-site-packages '" + prefix +
              "' 2>/dev/null")) {
        SKIP("python3 -m venv does not work here; install python3-venv");
    }
    const auto list = tree.path() + "/list";
    REQUIRE(runs("'" + prefix +
                 "/bin/python' -I -c 'import sys\nfor p in sys.path:\n"
                 "  if p.endswith(\"-packages\"): print(p)' > '" +
                 list + "'"));
    host::DiskFileSystem files;
    const auto facts = read_environment(files, prefix);
    REQUIRE(facts);
    std::vector<std::string> own;
    for (const auto& path : facts->site_packages) {
        own.push_back(fs::canonical(path));
    }
    const auto text = files.read_file(list, host::k_read_limit);
    REQUIRE(text);
    for (std::size_t at = 0; at < text->size(); at = text->find('\n', at) + 1) {
        const auto path = text->substr(at, text->find('\n', at) - at);
        if (!fs::is_directory(path) || path.find("/.local/") != std::string::npos) {
            continue;
        }
        INFO(path);
        CHECK(std::find(own.begin(), own.end(), fs::canonical(path)) != own.end());
    }
}

TEST_CASE("environments with blanks, newlines, quotes and broken UTF-8 in their names are read") {
    const TemporaryTree tree;
    host::DiskFileSystem files;
    for (const std::string name :
         {"with blank", "new\nline", "quote'\"$(touch x)`", "caf\xc3\xa9", "\xff\xfe", "-n", "*"}) {
        tree.file(name + "/conda-meta/pytorch-2.0.0-cuda118py39h06e0762_304.json", "{}");
        tree.file(name + "/lib/python3.9/site-packages/torch/version.py", "cuda = '11.8'\n");
        const auto prefix = tree.path() + '/' + name;
        const auto facts = read_environment(files, prefix);
        REQUIRE(facts);
        CHECK(facts->prefix == prefix);
        REQUIRE(facts->frameworks.size() == 1);
        CHECK(facts->frameworks.front().source ==
              prefix + "/lib/python3.9/site-packages/torch/version.py");
    }
}

TEST_CASE("broken things in an environment are noted and hurt nothing else") {
    const TemporaryTree tree;
    tree.file("env/conda-meta/cudatoolkit-11.8.0-h4ba93d1_13.json", "{");
    tree.file("env/conda-meta/-.json", "");
    tree.file("env/conda-meta/pytorch.json", "");
    tree.file("env/lib/python3.9/site-packages/torch/version.py", std::string(1 << 20, '\0'));
    tree.link("env/lib/python3.10", "python3.10");            // a circle
    tree.link("env/lib/python3.11/site-packages", "nowhere"); // dangling
    tree.link("env/bin/nvcc", "nowhere");
    tree.directory("env/lib/python3.9/site-packages/torch-.dist-info");
    tree.file("env/lib/python3.9/site-packages/nvidia", "a file");
    REQUIRE(
        ::mkfifo((tree.directory("env/lib/python3.9/site-packages") + "/torch.egg-link").c_str(),
                 0600) == 0);
    host::DiskFileSystem files;
    const auto facts = read_environment(files, tree.path() + "/env");
    REQUIRE(facts);
    REQUIRE(facts->runtime);
    CHECK(facts->runtime->version.str() == "11.8.0");
    CHECK(facts->frameworks.empty());
    CHECK(facts->toolkits.empty());
    CHECK_FALSE(facts->notes.empty());
}

TEST_CASE("this machine's toolkits have their parts where the layout says") {
    host::DiskFileSystem files;
    std::size_t seen = 0;
    std::vector<std::string> paths = {"/usr/lib/nvidia-cuda-toolkit"};
    for (const auto& entry : fs::directory_iterator("/usr/local")) {
        if (entry.path().filename().string().starts_with("cuda")) {
            paths.push_back(entry.path().string());
        }
    }
    for (const auto& path : paths) {
        if (!files.exists(path + "/bin/nvcc")) {
            continue;
        }
        ++seen;
        INFO(path);
        const auto layout = layout_of(files, path);
        CHECK(layout.bin == path + "/bin");
        CHECK(files.exists(layout.include + "/cuda.h"));
        REQUIRE_FALSE(layout.library.empty());
        for (const auto* never : {"stubs", "compat"}) {
            CHECK(layout.library.find(never) == std::string::npos);
        }
        CHECK(std::any_of(layout.sonames.begin(), layout.sonames.end(),
                          [](const auto& name) { return name.starts_with("libcudart.so."); }));
        for (const auto& name : layout.sonames) {
            CHECK(files.exists(layout.library + '/' + name));
        }
        CHECK(files.exists(layout.libdevice_root + "/nvvm/libdevice"));
        if (layout.cudnn) {
            CHECK(files.exists(layout.cudnn->include_dir + "/cudnn.h"));
            CHECK((layout.cudnn->library.empty() || files.exists(layout.cudnn->library)));
            CHECK(layout.cudnn->version);
        }
    }
    if (seen == 0) {
        SKIP("no CUDA toolkit in /usr/local or of Debian's; install one");
    }
}

TEST_CASE("the machine to build on has a core and memory") {
    host::DiskFileSystem files;
    const auto machine = build_machine(files);
    CHECK(machine.cores >= 1);
    REQUIRE(machine.memory_bytes);
    CHECK(*machine.memory_bytes > 0);
}

// A conda environment with 300 packages, 400 of pip's, torch with its libraries, and 2,000 files in
// lib, as a data scientist's grows to be.
std::string large_environment(const TemporaryTree& tree) {
    for (int i = 0; i < 300; ++i) {
        const auto n = std::to_string(i);
        tree.file("env/conda-meta/package-" + n + "-1." + n + ".0-py311h06e0762_0.json", "{}");
    }
    for (const auto* name : {"python-3.11.7-hab00c5b_1", "pytorch-2.1.0-cuda118py311h1_303",
                             "cudatoolkit-11.8.0-h4ba93d1_13", "cuda-version-11.8-h70ddcb2_3"}) {
        tree.file("env/conda-meta/" + std::string(name) + ".json", "{}");
    }
    const std::string site = "env/lib/python3.11/site-packages/";
    for (int i = 0; i < 400; ++i) {
        const auto n = std::to_string(i);
        tree.file(site + "package_" + n + "-1." + n + ".dist-info/METADATA", "");
        tree.file(site + "package_" + n + "/__init__.py", "");
    }
    tree.directory(site + "torch-2.1.0.dist-info");
    tree.file(site + "torch/version.py", "__version__ = '2.1.0'\ncuda = '11.8'\n");
    for (const auto* part : {"cublas", "cuda_cupti", "cuda_nvrtc", "cuda_runtime", "cudnn", "cufft",
                             "curand", "cusolver", "cusparse", "nccl", "nvjitlink", "nvtx"}) {
        tree.file(site + "nvidia/" + part + "/lib/lib" + part + ".so.12", "");
    }
    for (int i = 0; i < 50; ++i) {
        tree.file(site + "torch/lib/libtorch_" + std::to_string(i) + ".so", "");
    }
    for (int i = 0; i < 2000; ++i) {
        tree.file("env/lib/libthing-" + std::to_string(i) + ".so.1." + std::to_string(i), "");
    }
    tree.file("env/lib/libcudart.so.11.0", "");
    return tree.path() + "/env";
}

// Microseconds of this process's own time in 51 readings, in order: what else the machine does does
// not count.
std::vector<double> times_of_reading(const std::string& prefix) {
    host::DiskFileSystem files;
    std::vector<double> times;
    for (int i = 0; i < 51; ++i) {
        const std::clock_t begin = std::clock();
        const auto facts = read_environment(files, prefix);
        times.push_back(1e6 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
        REQUIRE(facts);
    }
    std::sort(times.begin(), times.end());
    return times;
}

void check_times(const char* what, const std::vector<double>& times) {
    std::printf("%s: fastest %.0f, median %.0f microseconds\n", what, times.front(),
                times[times.size() / 2]);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    SKIP("times mean nothing under a sanitizer; run the plain build");
#endif
    CHECK(times.front() < 5000);
}

TEST_CASE("a large environment is read in a few milliseconds") {
    const TemporaryTree tree;
    const auto prefix = large_environment(tree);
    host::DiskFileSystem files;
    const auto facts = read_environment(files, prefix);
    REQUIRE(facts);
    CHECK(facts->frameworks.size() == 1);
    CHECK(facts->runtime);
    CHECK(facts->sonames.size() == 8); // of the parts that have a library of that name
    check_times("a large environment", times_of_reading(prefix));
}

TEST_CASE("a large environment with a toolkit of its own is read in a few milliseconds") {
    host::DiskFileSystem files;
    const auto toolkit = files.real_path("/usr/local/cuda");
    if (!toolkit || !files.exists(*toolkit + "/bin/nvcc")) {
        SKIP("no CUDA toolkit in /usr/local/cuda; install one");
    }
    const TemporaryTree tree;
    const auto prefix = large_environment(tree);
    tree.link("env/lib/python3.11/site-packages/nvidia/cu13", *toolkit);
    const auto facts = read_environment(files, prefix);
    REQUIRE(facts);
    REQUIRE(facts->toolkits.size() == 1);
    CHECK(facts->toolkits.front().path == *toolkit);
    CHECK(facts->toolkits.front().version);
    CHECK(facts->toolkits.front().gcc_max);
    check_times("a large environment with a toolkit", times_of_reading(prefix));
}

} // namespace
} // namespace cudaenv::environments
