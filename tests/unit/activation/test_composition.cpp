// What running reads: CUDA_HOME, PATH, LD_LIBRARY_PATH, and the line that reports it.
#include "base/variables.hpp"
#include "composition_case.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace cudaenv;
using namespace cudaenv::activation;
using namespace cudaenv::patch;
using namespace cudaenv::pins;
using namespace cudaenv::activation::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("nothing chosen is nothing changed and nothing said") {
    const Situation situation = machine();
    const CudaChoice choice = choose(situation);
    const Composition composition = compose(situation, choice, std::nullopt);
    CHECK(composition.patch.variables.empty());
    CHECK(composition.patch.entries.empty());
    CHECK(quiet_line(situation, choice, composition, false).empty());
}

TEST_CASE("a verdict of the probe that is bad is at the end of the line") {
    Case bad;
    const std::string before = bad.line();
    bad.situation.probed = "fails at runtime (CE322): cudaenv probe --full";
    CHECK(bad.line() == before + "   ! probe fails at runtime (CE322): cudaenv probe --full");
}

TEST_CASE("CUDA_HOME and CUDA_PATH are the toolkit's root, and its bin goes first") {
    const Composition composition = Case().compose();
    CHECK(set_to(composition, "CUDA_HOME") == "/usr/local/cuda-11.3");
    CHECK(set_to(composition, "CUDA_PATH") == "/usr/local/cuda-11.3");
    CHECK(added(composition, "PATH", End::Front) == Entries{"/usr/local/cuda-11.3/bin"});
    CHECK(added(composition, "PATH", End::Back).empty());
}

TEST_CASE("what is set by hand keeps its spelling, and its twin is made equal") {
    Case there;
    there.situation.base["CUDA_HOME"] = "/usr/local/cuda";
    there.situation.base["CUDA_PATH"] = "/usr/local/cuda-11.3";
    const Composition composition = there.compose();
    CHECK(set_to(composition, "CUDA_HOME") == "/usr/local/cuda");
    CHECK(set_to(composition, "CUDA_PATH") == "/usr/local/cuda");
}

TEST_CASE("an unknown toolkit set by hand is completed as far as its files go") {
    Case there;
    there.situation.base["CUDA_PATH"] = "/mnt/cuda";
    there.layout = layout("/mnt/cuda", "11.0");
    const Composition composition = there.compose();
    CHECK(set_to(composition, "CUDA_HOME") == "/mnt/cuda");
    CHECK(added(composition, "PATH", End::Front) == Entries{"/mnt/cuda/bin"});
    CHECK(set_to(composition, "CUDACXX") == "/mnt/cuda/bin/nvcc");
    CHECK(set_to(composition, "CXX") == k_none); // which compilers it takes is not known
    CHECK(there.line() == "CUDA · /mnt/cuda   (CUDA_PATH set by hand)");
}

TEST_CASE("variables that the shell has without exporting them stay unchanged") {
    Case there;
    there.situation.config = config("[resolve]\nfor = \"build\"\n");
    for (const std::string_view name : managed_variables()) {
        there.situation.kept.emplace_back(name);
    }
    const Composition composition = there.compose();
    CHECK(composition.patch.variables.empty());
    CHECK(composition.patch.entries.empty());
}

TEST_CASE("Debian's toolkit adds no system directory; another nvcc before it is a warning") {
    Case there;
    there.situation.host.toolkits[1] = toolkit("/usr/lib/nvidia-cuda-toolkit", "11.3.109");
    there.layout = layout("/usr/lib/nvidia-cuda-toolkit", "11.0");
    there.layout.include = "/usr/include";
    there.layout.library = "/usr/lib/x86_64-linux-gnu";
    there.situation.config = config("[resolve]\nfor = \"build\"\n");
    Composition composition = there.compose();
    CHECK(set_to(composition, "CUDA_HOME") == "/usr/lib/nvidia-cuda-toolkit");
    CHECK(added(composition, "PATH", End::Front).empty());
    CHECK(added(composition, "LD_LIBRARY_PATH", End::Back).empty());
    CHECK(added(composition, "CPLUS_INCLUDE_PATH", End::Back).empty());
    CHECK(added(composition, "LIBRARY_PATH", End::Back).empty());
    CHECK(composition.warnings.empty());
    there.situation.base["PATH"] = "/usr/local/cuda/bin:/usr/bin";
    CHECK(says(there.compose().warnings, "nvcc on PATH is /usr/local/cuda/bin/nvcc"));
}

TEST_CASE("an environment's nvcc that PATH finds already is left where it is") {
    Case there;
    const std::string prefix = "/home/u/envs/apex";
    there.situation.environment->kind = EnvironmentKind::Conda;
    there.situation.environment->toolkits = {toolkit(prefix, "11.3.109")};
    there.layout = layout(prefix, "11.0");
    there.layout.library = prefix + "/lib";
    there.situation.base["PATH"] = prefix + "/bin:/usr/local/cuda/bin:/usr/bin";
    CHECK(added(there.compose(), "PATH", End::Front).empty());
    there.situation.base["PATH"] = "/home/u/bin:" + prefix + "/bin:/usr/local/cuda/bin:/usr/bin";
    CHECK(added(there.compose(), "PATH", End::Front).empty());
    there.situation.base["PATH"] = "/usr/local/cuda/bin:" + prefix + "/bin:/usr/bin";
    CHECK(added(there.compose(), "PATH", End::Front) == Entries{prefix + "/bin"});
}

TEST_CASE("a bin with a python of another environment never goes onto PATH") {
    Case there;
    const std::string other = "/home/u/miniforge3/envs/other";
    there.situation.host.toolkits = {toolkit(other, "11.3.109")};
    there.situation.host.toolkits[0].source = "conda environment " + other;
    there.situation.base["CUDA_HOME"] = other;
    there.layout = layout(other, "11.0");
    const Composition composition = there.compose();
    CHECK(set_to(composition, "CUDA_PATH") == other);
    CHECK(added(composition, "PATH", End::Front).empty());
    CHECK(says(composition.notes, "PATH unchanged"));
}

TEST_CASE("LD_LIBRARY_PATH gets the toolkit's libraries at its end") {
    CHECK(added(Case().compose(), "LD_LIBRARY_PATH", End::Back) ==
          Entries{"/usr/local/cuda-11.3/lib64"});
}

TEST_CASE("LD_LIBRARY_PATH stays unchanged where the environment has a library of the same name") {
    Case there;
    there.situation.environment->sonames = {"libcudart.so.11.0", "libcudnn.so.8"};
    Composition composition = there.compose();
    CHECK(added(composition, "LD_LIBRARY_PATH", End::Back).empty());
    REQUIRE(composition.notes.size() == 1);
    CHECK_THAT(composition.notes[0], ContainsSubstring("LD_LIBRARY_PATH unchanged: ") &&
                                         ContainsSubstring("libcudart.so.11.0"));
    SECTION("unless the user says always") {
        there.situation.config = config("[activate]\nld_library_path = \"always\"\n");
        CHECK(added(there.compose(), "LD_LIBRARY_PATH", End::Back).size() == 1);
    }
}

TEST_CASE("LD_LIBRARY_PATH is never touched where the user says never") {
    Case there;
    there.situation.config = config("[activate]\nld_library_path = \"never\"\n");
    CHECK(added(there.compose(), "LD_LIBRARY_PATH", End::Back).empty());
}

TEST_CASE("a conda environment's own toolkit needs no LD_LIBRARY_PATH") {
    Case there;
    there.situation.environment->kind = EnvironmentKind::Conda;
    there.situation.environment->toolkits = {toolkit("/home/u/envs/apex", "11.3.109")};
    there.layout = layout("/home/u/envs/apex", "11.0");
    CHECK(added(there.compose(), "LD_LIBRARY_PATH", End::Back).empty());
}

TEST_CASE("stubs and compat directories go onto no list, whatever is asked for") {
    Case there;
    there.situation.config = config("[activate]\nld_library_path = \"always\"\n");
    for (const std::string directory :
         {"/usr/local/cuda-11.3/lib64/stubs", "/usr/local/cuda-11.3/compat", "/a:b/lib64",
          "relative/lib", "/usr/lib64/", "/usr//lib", "/usr/local/lib", "/opt/x/../lib", ""}) {
        there.layout.library = directory;
        CHECK(added(there.compose(), "LD_LIBRARY_PATH", End::Back).empty());
    }
}

TEST_CASE("the quiet line: CUDA, toolkit, compiler, and why") {
    Case there;
    CHECK(there.line() == "CUDA 11.3 · /usr/local/cuda-11.3 · g++-9   (torch 1.12.1+cu113)");
    CHECK(there.line(true) == "CUDA 11.3 - /usr/local/cuda-11.3 - g++-9   (torch 1.12.1+cu113)");
    there.situation.host.toolkits[1].path = "/home/u/cuda-11.3";
    CHECK(there.line() == "CUDA 11.3 · ~/cuda-11.3 · g++-9   (torch 1.12.1+cu113)");
    there.situation.host.toolkits.clear();
    CHECK(there.line() == "CUDA 11.3 · no nvcc   (torch 1.12.1+cu113)");
}

TEST_CASE("the quiet line shows the toolkit's CUDA where a range is pinned") {
    Case there;
    there.situation.pins.pins = {pin(PinSource::Project, ">=11,<12")};
    there.situation.project_directory = "/home/ü/p";
    CHECK(there.line(true) == "CUDA 11.3 - /usr/local/cuda-11.3 - g++-9   (torch 1.12.1+cu113; "
                              "pinned in /home/\\xc3\\xbc/p)");
}

TEST_CASE("the quiet line shortens a compiler whose name is longer than what it is") {
    Case there;
    there.situation.environment->compilers = {
        gcc("/home/u/envs/apex/bin/x86_64-conda-linux-gnu-c++", "10.4.0")};
    CHECK_THAT(there.line(), ContainsSubstring(" · g++ 10   ("));
}
