#include "host/environments/environments.hpp"
#include "host/probe/library_search.hpp"
#include "host/probe/verdict_store.hpp"
#include "tests/support/fake_disk.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fstream>
#include <initializer_list>
#include <iterator>

namespace cudaenv::probe {
namespace {

using test::FakeDisk;
using Names = std::vector<std::string>;

const std::string k_venv = "/home/u/code/apex/.venv";
const std::string k_site = k_venv + "/lib/python3.11/site-packages";

void add_venv(FakeDisk& disk, const std::string& torch_version, const std::string& cuda) {
    disk.file(k_venv + "/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n")
        .file(k_site + "/torch/version.py",
              "__version__ = '" + torch_version + "'\ncuda = '" + cuda + "'\n")
        .file(k_site + "/torch-" + torch_version + ".dist-info/METADATA");
}

std::string bytes_of(const char* path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

ProbeLibraries asked(FakeDisk& disk, const std::string& prefix,
                     const std::vector<std::string>& library_path = {},
                     const std::optional<facts::ToolkitLayout>& toolkit = std::nullopt) {
    const auto environment = environments::read_environment(disk, prefix);
    REQUIRE(environment);
    return probe_libraries(disk, environment, toolkit, library_path);
}

facts::ToolkitLayout toolkit_at(FakeDisk& disk, const std::string& path, const std::string& major) {
    disk.program(path + "/bin/nvcc")
        .file(path + "/lib64/libcudart.so")
        .file(path + "/lib64/libcudart.so." + major)
        .file(path + "/lib64/libnvrtc.so." + major)
        .file(path + "/lib64/libcublas.so." + major);
    return environments::layout_of(disk, path);
}

// Files of wheels, by their paths below nvidia/.
void add_wheels(FakeDisk& disk, std::initializer_list<const char*> files) {
    for (const char* file : files) {
        disk.file(k_site + "/nvidia/" + file);
    }
}
// What is asked for of wheels, in the same way; "not a wheel's" of anything else.
Names wheels_in(const ProbeLibraries& libraries) {
    Names found;
    const std::string begin = k_site + "/nvidia/";
    for (const auto& [step, files] : libraries.files) {
        for (const std::string& name : files) {
            found.push_back(name.starts_with(begin) ? name.substr(begin.size())
                                                    : "not a wheel's: " + name);
        }
    }
    return found;
}

TEST_CASE("the wheels of CUDA 12 lie in a directory each") {
    FakeDisk disk;
    add_venv(disk, "2.4.0+cu121", "12.1");
    disk.directory(k_site + "/torch/lib");
    add_wheels(disk, {"cuda_runtime/lib/libcudart.so.12", "cuda_nvrtc/lib/libnvrtc.so.12",
                      "cuda_nvrtc/lib/libnvrtc-builtins.so.12.1", "cublas/lib/libcublas.so.12",
                      "cublas/lib/libcublasLt.so.12", "cudnn/lib/libcudnn.so.9",
                      "cudnn/lib/libcudnn_ops.so.9", "nccl/lib/libnccl.so.2"});
    CHECK(wheels_in(asked(disk, k_venv)) ==
          Names{"cuda_runtime/lib/libcudart.so.12", "cuda_nvrtc/lib/libnvrtc.so.12",
                "cublas/lib/libcublas.so.12", "cudnn/lib/libcudnn.so.9", "nccl/lib/libnccl.so.2"});
}

TEST_CASE("the wheels of CUDA 13 share one directory, and of two majors the framework's counts") {
    FakeDisk disk;
    add_venv(disk, "2.11.0+cu130", "13.0");
    const Names own = {"cu13/lib/libcudart.so.13", "cu13/lib/libnvrtc.so.13",
                       "cu13/lib/libcublas.so.13", "cu13/lib/libcudnn.so.9",
                       "cu13/lib/libnccl.so.2"};
    for (const std::string& file : own) {
        add_wheels(disk, {file.c_str()});
    }
    add_wheels(disk, {"cuda_runtime/lib/libcudart.so.12"});
    CHECK(wheels_in(asked(disk, k_venv)) == own);
}

TEST_CASE("a library that torch's wheel contains under another name is the one that counts") {
    FakeDisk disk;
    add_venv(disk, "1.12.1+cu113", "11.3");
    const std::string lib = k_site + "/torch/lib";
    disk.file(lib + "/libcudart-45da57e3.so.11.0")
        .file(lib + "/libnvrtc-builtins-4730a239.so.11.3")
        .file(lib + "/libnvrtc-1ea278b5.so.11.2")
        .file(lib + "/libcublas.so.11")
        .file(lib + "/libcudnn.so.8")
        .file("/opt/cuda/libcudart.so.11.0")
        .file("/opt/cuda/libcublas.so.11");
    const auto libraries = asked(disk, k_venv, {"/opt/cuda"});
    CHECK(libraries.of(facts::ProbeStep::Runtime) == Names{lib + "/libcudart-45da57e3.so.11.0"});
    CHECK(libraries.of(facts::ProbeStep::Nvrtc) == Names{lib + "/libnvrtc-1ea278b5.so.11.2"});
    CHECK(libraries.of(facts::ProbeStep::Cudnn) == Names{lib + "/libcudnn.so.8"});
    // Its name is the usual one, and LD_LIBRARY_PATH comes before DT_RUNPATH.
    CHECK(libraries.of(facts::ProbeStep::Cublas) == Names{"/opt/cuda/libcublas.so.11"});
}

TEST_CASE("LD_LIBRARY_PATH comes before wheels with DT_RUNPATH and after those with DT_RPATH") {
    const std::string own = k_site + "/nvidia/cudnn/lib/libcudnn.so.9";
    for (const auto& [library, expected] :
         {std::pair{CUDAENV_SEARCHES_RUNPATH, std::string("/opt/cudnn/lib/libcudnn.so.9")},
          std::pair{CUDAENV_SEARCHES_RPATH, own}}) {
        FakeDisk disk;
        add_venv(disk, "2.4.0+cu121", "12.1");
        disk.file(own)
            .file(k_site + "/torch/lib/libtorch_global_deps.so", bytes_of(library))
            .file("/opt/cudnn/lib/libcudnn.so.9");
        CHECK(asked(disk, k_venv, {"/opt/cudnn/lib"}).of(facts::ProbeStep::Cudnn) ==
              Names{expected});
    }
}

TEST_CASE("a library of another major on LD_LIBRARY_PATH does not stand in for the environment's") {
    FakeDisk disk;
    add_venv(disk, "2.4.0+cu121", "12.1");
    disk.file(k_site + "/nvidia/cudnn/lib/libcudnn.so.9")
        .file(k_site + "/nvidia/cuda_runtime/lib/libcudart.so.12")
        .file("/opt/cuda-11.8/lib64/libcudart.so.11.0")
        .file("/opt/cuda-11.8/lib64/libcudnn.so.8");
    const auto libraries = asked(disk, k_venv, {"/opt/cuda-11.8/lib64"});
    CHECK(libraries.of(facts::ProbeStep::Runtime) ==
          Names{k_site + "/nvidia/cuda_runtime/lib/libcudart.so.12"});
    CHECK(libraries.of(facts::ProbeStep::Cudnn) ==
          Names{k_site + "/nvidia/cudnn/lib/libcudnn.so.9"});
}

TEST_CASE("conda's libraries lie in its lib, before LD_LIBRARY_PATH") {
    FakeDisk disk;
    const std::string prefix = "/home/u/miniforge3/envs/apex";
    disk.file(prefix + "/conda-meta/cudatoolkit-11.3.1-h9edb442_10.json", "{}")
        .file(prefix + "/lib/libcudart.so.11.0")
        .file(prefix + "/lib/libcudart.so.11.3.109")
        .file(prefix + "/lib/libnvrtc.so.11.2")
        .file(prefix + "/lib/libcudnn.so.8")
        .file("/opt/cuda/libcudart.so.11.0");
    const auto libraries = asked(disk, prefix, {"/opt/cuda"});
    CHECK(libraries.of(facts::ProbeStep::Runtime) == Names{prefix + "/lib/libcudart.so.11.0"});
    CHECK(libraries.of(facts::ProbeStep::Nvrtc) == Names{prefix + "/lib/libnvrtc.so.11.2"});
    CHECK(libraries.of(facts::ProbeStep::Cudnn) == Names{prefix + "/lib/libcudnn.so.8"});
}

TEST_CASE("what the environment lacks is the chosen toolkit's, and then the loader's") {
    FakeDisk disk;
    const auto toolkit = toolkit_at(disk, "/usr/local/cuda-12.4", "12");
    const auto libraries = probe_libraries(disk, std::nullopt, toolkit, {});
    CHECK(libraries.of(facts::ProbeStep::Runtime) ==
          Names{"/usr/local/cuda-12.4/lib64/libcudart.so.12"});
    CHECK(libraries.of(facts::ProbeStep::Cublas) ==
          Names{"/usr/local/cuda-12.4/lib64/libcublas.so.12"});
    CHECK(libraries.of(facts::ProbeStep::Cudnn) ==
          Names{"libcudnn.so.9", "libcudnn.so.8", "libcudnn.so.7"});
    CHECK(libraries.of(facts::ProbeStep::Nccl) == Names{"libnccl.so.2"});
}

TEST_CASE("without environment and toolkit the loader is asked, newest first") {
    FakeDisk disk;
    const auto libraries = probe_libraries(disk, std::nullopt, std::nullopt, {});
    REQUIRE(libraries.of(facts::ProbeStep::Runtime).size() > 3);
    CHECK(libraries.of(facts::ProbeStep::Runtime).front() == "libcudart.so.13");
    CHECK(libraries.of(facts::ProbeStep::Runtime).back() == "libcudart.so.9.0");
}

TEST_CASE("where only another major is there it is tried after the right one of the system") {
    FakeDisk disk;
    add_venv(disk, "2.4.0+cu121", "12.1");
    const auto toolkit = toolkit_at(disk, "/usr/local/cuda-13.0", "13");
    const auto libraries = asked(disk, k_venv, {}, toolkit);
    CHECK(libraries.of(facts::ProbeStep::Runtime) ==
          Names{"libcudart.so.12", "/usr/local/cuda-13.0/lib64/libcudart.so.13"});
}

TEST_CASE("without records the environment's own libraries say its CUDA, before the toolkit does") {
    FakeDisk disk;
    const std::string prefix = "/home/u/miniforge3/envs/apex";
    disk.directory(prefix + "/conda-meta").file(prefix + "/lib/libcudart.so.12");
    const auto toolkit = toolkit_at(disk, "/usr/local/cuda-13.0", "13");
    const auto libraries = asked(disk, prefix, {}, toolkit);
    CHECK(libraries.of(facts::ProbeStep::Runtime) == Names{prefix + "/lib/libcudart.so.12"});
    CHECK(libraries.of(facts::ProbeStep::Nvrtc) == Names{"libnvrtc.so.12"});
}

TEST_CASE("a toolkit of another CUDA lends the environment no library that its loader would not "
          "find") {
    FakeDisk disk;
    add_venv(disk, "2.4.0+cu121", "12.1");
    disk.file(k_site + "/nvidia/cuda_runtime/lib/libcudart.so.12");
    const std::string lib = "/usr/local/cuda-13.0/lib64";
    disk.file("/usr/local/cuda-13.0/include/cudnn.h").file(lib + "/libcudnn.so.9");
    const auto toolkit = toolkit_at(disk, "/usr/local/cuda-13.0", "13");
    const auto libraries = asked(disk, k_venv, {}, toolkit);
    // What the loader finds by itself is still the environment's.
    CHECK(libraries.of(facts::ProbeStep::Cudnn) ==
          Names{"libcudnn.so.9", "libcudnn.so.8", "libcudnn.so.7"});
    CHECK(libraries.of(facts::ProbeStep::Nvrtc) == Names{"libnvrtc.so.12"});
    CHECK(libraries.passed_over.at(facts::ProbeStep::Cudnn) == lib + "/libcudnn.so.9");
    CHECK(libraries.passed_over.at(facts::ProbeStep::Nvrtc) == lib + "/libnvrtc.so.13");
    CHECK_FALSE(libraries.passed_over.contains(facts::ProbeStep::Nccl));

    const auto on_path = asked(disk, k_venv, {lib}, toolkit);
    CHECK(on_path.of(facts::ProbeStep::Cudnn) == Names{lib + "/libcudnn.so.9"});
    CHECK(on_path.passed_over.empty());

    const auto same = toolkit_at(disk, "/usr/local/cuda-12.4", "12");
    CHECK(asked(disk, k_venv, {}, same).of(facts::ProbeStep::Nvrtc) ==
          Names{"/usr/local/cuda-12.4/lib64/libnvrtc.so.12"});
}

// Sixteen bytes of e_ident, then e_type and e_machine.
std::string elf_of(char word_size, char machine) {
    std::string head(
        "\x7f\x45\x4c\x46\x00\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00", 20);
    head[4] = word_size;
    head[18] = machine;
    return head;
}

TEST_CASE("what the loader cannot open it passes over, and looks in the next directory") {
    FakeDisk disk;
    add_venv(disk, "2.4.0+cu121", "12.1");
    const std::string wheel = k_site + "/nvidia/cuda_runtime/lib/libcudart.so.12";
    disk.file(wheel).file("/sound/libcudart.so.12");
    const std::string first = "/first/libcudart.so.12";
    SECTION("a link to nothing, which is reported") {
        disk.link(first, "gone");
        const auto libraries = asked(disk, k_venv, {"/first", "/sound"});
        CHECK(libraries.of(facts::ProbeStep::Runtime) == Names{"/sound/libcudart.so.12"});
        CHECK(libraries.broken_links == Names{first});
        CHECK(asked(disk, k_venv, {"/first"}).of(facts::ProbeStep::Runtime) == Names{wheel});
    }
    SECTION("a file without permission") {
        disk.file(first).unreadable(first);
        const auto libraries = asked(disk, k_venv, {"/first", "/sound"});
        CHECK(libraries.of(facts::ProbeStep::Runtime) == Names{"/sound/libcudart.so.12"});
        CHECK(libraries.broken_links.empty());
    }
    SECTION("of 32 bits, or another machine's") {
        constexpr char k_sparc = 2;
        disk.file(first, elf_of(1, 3)).file("/second/libcudart.so.12", elf_of(2, k_sparc));
        CHECK(asked(disk, k_venv, {"/first", "/second", "/sound"}).of(facts::ProbeStep::Runtime) ==
              Names{"/sound/libcudart.so.12"});
    }
    SECTION("but what it can open it takes, whatever that is") {
        disk.file(first, "no library");
        CHECK(asked(disk, k_venv, {"/first", "/sound"}).of(facts::ProbeStep::Runtime) ==
              Names{first});
        disk.directory("/zeroth/libcudart.so.12");
        CHECK(asked(disk, k_venv, {"/zeroth", "/sound"}).of(facts::ProbeStep::Runtime) ==
              Names{"/zeroth/libcudart.so.12"});
    }
}

TEST_CASE("a link that goes round in a circle ends the search along LD_LIBRARY_PATH alone") {
    FakeDisk disk;
    add_venv(disk, "2.4.0+cu121", "12.1");
    const std::string wheel = k_site + "/nvidia/cuda_runtime/lib/libcudart.so.12";
    disk.file("/sound/libcudart.so.12")
        .file("/sound/libnvrtc.so.12")
        .link("/first/libcudart.so.12", "libcudart.so.12");
    SECTION("nothing is found behind it") {
        const auto libraries = asked(disk, k_venv, {"/first", "/sound"});
        CHECK(libraries.of(facts::ProbeStep::Runtime) ==
              Names{"libcudart.so.12"}); // as a program would ask the loader
        CHECK(libraries.of(facts::ProbeStep::Nvrtc) == Names{"/sound/libnvrtc.so.12"});
        CHECK(libraries.broken_links == Names{"/first/libcudart.so.12"});
    }
    SECTION("the wheels have their own") {
        disk.file(wheel);
        CHECK(asked(disk, k_venv, {"/first", "/sound"}).of(facts::ProbeStep::Runtime) ==
              Names{wheel});
    }
}

TEST_CASE("a library that this user may not read is passed over, and reported") {
    FakeDisk disk;
    add_venv(disk, "2.6.0", "12.4");
    disk.file("/closed/libcudart.so.12")
        .unreadable("/closed/libcudart.so.12")
        .file("/closed/libcudart.so.11.0")
        .unreadable("/closed/libcudart.so.11.0")
        .file("/open/libcudart.so.12");
    const auto libraries = asked(disk, k_venv, {"/closed", "/open"});
    CHECK(libraries.of(facts::ProbeStep::Runtime) == Names{"/open/libcudart.so.12"});
    CHECK(libraries.closed == Names{"/closed/libcudart.so.12"});
    CHECK(libraries.broken_links.empty());
}

// Whether what was found in `before` is still reported in `after`.
bool is_reported_after(VerdictDepth depth, FakeDisk before, FakeDisk after,
                       const std::vector<std::string>& library_path = {}) {
    const test::TemporaryTree tree;
    const VerdictStore store(tree.path());
    const VerdictQuestion question{k_venv, "", "", {}};
    const ProbeLibraries libraries = asked(before, k_venv, library_path);
    std::vector<std::string> paths = libraries.of(facts::ProbeStep::Runtime);
    for (const auto* list :
         {&libraries.of(facts::ProbeStep::Nvrtc), &libraries.broken_links, &libraries.looked_at}) {
        paths.insert(paths.end(), list->begin(), list->end());
    }
    CHECK(store.keep(before, question, grounds_of(before, depth, paths), paths,
                     {"fails", "", "CE341", "", 1, depth}));
    return store.find(after, question, 2).has_value();
}

TEST_CASE("a library that is added where it was looked for is a reason to probe again") {
    const auto with = [](std::initializer_list<std::string> paths) {
        FakeDisk disk;
        add_venv(disk, "2.6.0", "12.4");
        disk.directory("/opt/lib");
        for (const std::string& path : paths) {
            disk.file(path);
        }
        return disk;
    };
    constexpr auto quick = VerdictDepth::Quick;
    constexpr auto full = VerdictDepth::Full;
    const std::string cudart = k_site + "/nvidia/cuda_runtime/lib/libcudart.so.12";
    const std::string nvrtc = k_site + "/nvidia/cuda_nvrtc/lib/libnvrtc.so.12";
    CHECK(is_reported_after(quick, with({}), with({})));
    // The first wheel of NVIDIA's, and another beside it.
    CHECK_FALSE(is_reported_after(quick, with({}), with({cudart})));
    CHECK_FALSE(is_reported_after(full, with({cudart}), with({cudart, nvrtc})));
    CHECK_FALSE(is_reported_after(quick, with({}), with({k_site + "/torch/lib/libcudart.so.12"})));
    CHECK_FALSE(
        is_reported_after(quick, with({}), with({"/opt/lib/libcudart.so.12"}), {"/opt/lib"}));
    CHECK_FALSE(is_reported_after(quick, with({}), with({"/new/libcudart.so.12"}), {"/new"}));
    // What has nothing to do with CUDA.
    CHECK(is_reported_after(
        full, with({cudart}),
        with({cudart, k_site + "/requests/__init__.py", "/opt/lib/libpng.so.16"}), {"/opt/lib"}));
}

} // namespace
} // namespace cudaenv::probe
