#include "kernels/library_files.hpp"
#include "kernels/rungs/library_numbers.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <dlfcn.h>
#include <filesystem>

using cudaenv::kernels::load_first;
using cudaenv::kernels::LoadedLibrary;
using cudaenv::kernels::mapped_library;
using cudaenv::test::TemporaryTree;

namespace fs = std::filesystem;

namespace {

const std::string k_no_library(100, 'x');

} // namespace

TEST_CASE("a library that is not there is passed over without a word") {
    const LoadedLibrary library =
        load_first({"/nowhere/libcudnn.so.9", "libcudaenv-has-no-such.so.1", ""});
    CHECK(library.handle == nullptr);
    CHECK_FALSE(library.refusal);
}

TEST_CASE("the first library that loads is taken and its path is the file behind the link") {
    const TemporaryTree tree;
    const LoadedLibrary direct = load_first({"/nowhere/libm.so", "libm.so.6"});
    REQUIRE(direct.handle != nullptr);
    REQUIRE(direct.path.starts_with('/'));
    const LoadedLibrary linked = load_first({tree.link("libm.so", direct.path), "libc.so.6"});
    REQUIRE(linked.handle != nullptr);
    CHECK(linked.path == direct.path);
    CHECK_FALSE(linked.refusal);
}

TEST_CASE("of files that are there and refused the reason of the first is kept") {
    const TemporaryTree tree;
    const std::string first = tree.file("libfirst.so", k_no_library);
    const std::string second = tree.file("libsecond.so", k_no_library);
    const LoadedLibrary library = load_first({"/nowhere/libfirst.so", first, second});
    CHECK(library.handle == nullptr);
    REQUIRE(library.refusal);
    CHECK(library.refusal->message == first + ": invalid ELF header");
    CHECK(load_first({first, "libm.so.6"}).handle != nullptr);
}

TEST_CASE("a library whose sibling lies beside it loads though the loader alone refuses it") {
    REQUIRE(::dlopen(NEEDS_BESIDE, RTLD_NOW | RTLD_LOCAL) == nullptr);
    const LoadedLibrary library = load_first({NEEDS_BESIDE});
    CHECK_FALSE(library.refusal);
    REQUIRE(library.handle != nullptr);
    const auto answer = reinterpret_cast<int (*)()>(::dlsym(library.handle, "answer"));
    REQUIRE(answer != nullptr);
    CHECK(answer() == 42);
}

TEST_CASE("a sibling in the library folder of another wheel is found") {
    const TemporaryTree tree;
    const std::string wheel = tree.directory("nvidia/cudnn/lib") + "/libneeds_wheel.so";
    fs::copy_file(NEEDS_WHEEL, wheel);
    const LoadedLibrary alone = load_first({wheel});
    CHECK(alone.handle == nullptr);
    REQUIRE(alone.refusal);
    CHECK(alone.refusal->message.starts_with("libneeded_wheel.so: cannot open shared object file"));
    fs::copy_file(NEEDED_WHEEL, tree.directory("nvidia/cublas/lib") + "/libneeded_wheel.so");
    CHECK(load_first({wheel}).handle != nullptr);
}

TEST_CASE("what a wheel's library opens by name is opened before it, a toolkit's is not") {
    using Pair = std::pair<std::string, std::string>;
    const auto [name, opened] = GENERATE(Pair{"libnvrtc.so.13", "libnvrtc-builtins.so.13.0"},
                                         Pair{"libcublas.so.13", "libcublasLt.so.13"});
    const TemporaryTree tree;
    const std::string library = load_first({"libm.so.6"}).path;
    const auto copy = [&](const std::string& to) {
        fs::create_directories(fs::path(tree.path() + '/' + to).parent_path());
        fs::copy_file(library, tree.path() + '/' + to);
        return tree.path() + '/' + to;
    };
    const std::string toolkit = copy("cuda/lib64/" + opened + ".0");
    REQUIRE(load_first({copy("cuda/lib64/" + name)}).handle != nullptr);
    CHECK(mapped_library(opened + ".0").empty());
    const std::string wheel = "site-packages/nvidia/cu13/lib/";
    const std::string beside = copy(wheel + opened);
    REQUIRE(load_first({copy(wheel + name + ".1")}).handle != nullptr);
    CHECK(mapped_library(opened) == beside);
}
