#include "situations.hpp"
#include "solver/plan/activation/host_compiler.hpp"
#include "solver/plan/activation/managed.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <random>
#include <set>

namespace {

using namespace cudaenv;
using namespace cudaenv::plan;
using namespace cudaenv::plan::test;
using Catch::Matchers::ContainsSubstring;
using facts::EnvironmentKind;
using Entries = std::vector<std::string>;

constexpr auto k_none = std::nullopt;

// Of torch with CUDA 11.3 in a venv, and the toolkit for it.
struct Case {
    Situation situation = machine();
    facts::ToolkitLayout layout = test::layout("/usr/local/cuda-11.3", "11.0");

    Case() {
        situation.environment = environment(EnvironmentKind::Venv);
        situation.environment->frameworks = {torch("1.12.1+cu113", "11.3")};
    }
    [[nodiscard]] Composition compose() const {
        return plan::compose(situation, choose(situation), layout);
    }
    [[nodiscard]] std::string line(bool ascii = false) const {
        return quiet_line(situation, choose(situation), compose(), ascii);
    }
};

bool says(const std::vector<std::string>& lines, const std::string& text) {
    return std::ranges::any_of(
        lines, [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

} // namespace

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

TEST_CASE("a toolkit by hand of which nothing is known is completed as far as its files tell") {
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

TEST_CASE("variables that the shell has without exporting them are left alone") {
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
    CHECK(says(composition.notes, "PATH left alone"));
}

TEST_CASE("LD_LIBRARY_PATH gets the toolkit's libraries at its end") {
    CHECK(added(Case().compose(), "LD_LIBRARY_PATH", End::Back) ==
          Entries{"/usr/local/cuda-11.3/lib64"});
}

TEST_CASE("LD_LIBRARY_PATH is left alone where the environment has a library of the same name") {
    Case there;
    there.situation.environment->sonames = {"libcudart.so.11.0", "libcudnn.so.8"};
    Composition composition = there.compose();
    CHECK(added(composition, "LD_LIBRARY_PATH", End::Back).empty());
    REQUIRE(composition.notes.size() == 1);
    CHECK_THAT(composition.notes[0], ContainsSubstring("LD_LIBRARY_PATH left alone: ") &&
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

TEST_CASE("the default g++ too new for nvcc, the newest that fits is set") {
    const Composition composition = Case().compose();
    REQUIRE(composition.host_compiler);
    CHECK(composition.host_compiler->path == "/usr/bin/g++-9");
    CHECK(set_to(composition, "CXX") == "/usr/bin/g++-9");
    CHECK(set_to(composition, "CC") == "/usr/bin/gcc-9");
    CHECK(set_to(composition, "CUDAHOSTCXX") == "/usr/bin/g++-9");
    CHECK(set_to(composition, "NVCC_CCBIN") == "/usr/bin/g++-9");
    CHECK(set_to(composition, "CUDACXX") == "/usr/local/cuda-11.3/bin/nvcc");
}

TEST_CASE("the default g++ is taken where it fits, though a newer one fits too") {
    Case there;
    there.situation.host.toolkits[1].gcc_max = 13;
    there.situation.host.compilers.push_back(gcc("/usr/bin/g++-13", "13.1.0"));
    CHECK(there.compose().host_compiler->path == "/usr/bin/g++-12");
}

TEST_CASE("clang where no g++ fits, and a warning with a way out where nothing does") {
    Case there;
    there.situation.host.compilers.erase(there.situation.host.compilers.begin());
    Composition composition = there.compose();
    CHECK(set_to(composition, "CXX") == "/usr/bin/clang++-14");
    CHECK(set_to(composition, "CC") == "/usr/bin/clang-14");
    there.situation.host.compilers.pop_back();
    composition = there.compose();
    CHECK_FALSE(composition.host_compiler);
    CHECK(set_to(composition, "CXX") == k_none);
    REQUIRE(composition.warnings.size() == 1);
    CHECK(composition.warnings[0] ==
          "nvcc 11.3.109 accepts gcc 6-10 or clang 7-14, and no such compiler is here: conda "
          "install -c conda-forge gxx_linux-64=10");
}

TEST_CASE("compilers that the user set and nvcc takes stay and decide the rest") {
    Case there;
    there.situation.host.compilers.push_back(gcc("/usr/bin/g++-10", "10.2.1"));
    SECTION("CXX") {
        there.situation.base["CXX"] = "ccache g++-9";
        const Composition composition = there.compose();
        CHECK(set_to(composition, "CXX") == k_none);
        CHECK(set_to(composition, "CC") == "/usr/bin/gcc-9");
        CHECK(set_to(composition, "NVCC_CCBIN") == "/usr/bin/g++-9");
    }
    SECTION("CC") {
        there.situation.base["CC"] = "gcc-9";
        const Composition composition = there.compose();
        CHECK(set_to(composition, "CC") == k_none);
        CHECK(set_to(composition, "CXX") == "/usr/bin/g++-9");
        CHECK(set_to(composition, "CUDAHOSTCXX") == "/usr/bin/g++-9");
    }
    SECTION("NVCC_CCBIN") {
        there.situation.base["NVCC_CCBIN"] = "/usr/bin/g++-9";
        const Composition composition = there.compose();
        CHECK(set_to(composition, "NVCC_CCBIN") == k_none);
        CHECK(set_to(composition, "CUDAHOSTCXX") == "/usr/bin/g++-9");
        CHECK(set_to(composition, "CXX") == "/usr/bin/g++-9");
    }
}

TEST_CASE("CC and CXX that nvcc refuses are replaced, with a note") {
    Case there;
    there.situation.base["CC"] = "gcc";
    there.situation.base["CXX"] = "/usr/bin/g++";
    const Composition composition = there.compose();
    CHECK(set_to(composition, "CXX") == "/usr/bin/g++-9");
    CHECK(set_to(composition, "CC") == "/usr/bin/gcc-9");
    CHECK(says(composition.notes, "CXX=/usr/bin/g++ is refused by nvcc 11.3.109"));
    CHECK(says(composition.notes, "CC=gcc is refused"));
}

TEST_CASE("a compiler that nothing is known of is respected, nvcc gets one that it takes") {
    Case there;
    there.situation.base["CXX"] = "/opt/intel/icpx";
    const Composition composition = there.compose();
    CHECK(set_to(composition, "CXX") == k_none);
    CHECK(set_to(composition, "CC") == k_none);
    CHECK(set_to(composition, "NVCC_CCBIN") == "/usr/bin/g++-9");
}

TEST_CASE("a host compiler told to nvcc that nvcc refuses is a warning, and stays") {
    Case there;
    there.situation.base["NVCC_CCBIN"] = "g++-12";
    const Composition composition = there.compose();
    CHECK(set_to(composition, "NVCC_CCBIN") == k_none);
    CHECK(set_to(composition, "CUDAHOSTCXX") == k_none);
    CHECK(says(composition.warnings, "NVCC_CCBIN is /usr/bin/g++-12, but nvcc 11.3.109 accepts"));
}

TEST_CASE("conda's compilers of the environment go before the machine's") {
    Case there;
    const std::string cxx = "/home/u/envs/apex/bin/x86_64-conda-linux-gnu-c++";
    there.situation.environment->kind = EnvironmentKind::Conda;
    there.situation.environment->compilers = {gcc(cxx, "10.4.0")};
    Composition composition = there.compose();
    CHECK(set_to(composition, "CXX") == cxx);
    CHECK(set_to(composition, "CC") == "/home/u/envs/apex/bin/x86_64-conda-linux-gnu-cc");
    SECTION("and where conda has told nvcc, it is not told twice") {
        there.situation.base["CC"] = "/home/u/envs/apex/bin/x86_64-conda-linux-gnu-cc";
        there.situation.base["CXX"] = "/home/u/envs/apex/bin/x86_64-conda-linux-gnu-c++";
        there.situation.base["NVCC_PREPEND_FLAGS"] = " -ccbin=" + cxx;
        composition = there.compose();
        CHECK(set_to(composition, "CC") == k_none);
        CHECK(set_to(composition, "CXX") == k_none);
        CHECK(set_to(composition, "NVCC_CCBIN") == k_none);
        CHECK(set_to(composition, "CUDAHOSTCXX") == cxx);
    }
    SECTION("another environment's are not taken unasked") {
        there.situation.environment->compilers.clear();
        there.situation.host.compilers = {
            gcc("/home/u/envs/other/bin/x86_64-conda-linux-gnu-c++", "10.4.0")};
        CHECK_FALSE(there.compose().host_compiler);
    }
}

TEST_CASE("compilers = false leaves all five alone") {
    Case there;
    there.situation.config = config("[activate]\ncompilers = false\n");
    const Composition composition = there.compose();
    for (const char* const name : {"CC", "CXX", "CUDAHOSTCXX", "NVCC_CCBIN", "CUDACXX"}) {
        CHECK(set_to(composition, name) == k_none);
    }
    CHECK(set_to(composition, "CUDA_HOME") == "/usr/local/cuda-11.3");
}

TEST_CASE("the C driver beside a C++ driver is named only where the pattern is known") {
    CHECK(c_driver_beside("/usr/bin/g++-9") == "/usr/bin/gcc-9");
    CHECK(c_driver_beside("clang++-14") == "clang-14");
    CHECK(c_driver_beside("/e/bin/x86_64-conda-linux-gnu-c++") ==
          "/e/bin/x86_64-conda-linux-gnu-cc");
    CHECK(c_driver_beside("/e/bin/x86_64-conda-linux-gnu-g++") ==
          "/e/bin/x86_64-conda-linux-gnu-gcc");
    CHECK(c_driver_beside("/opt/icpx") == k_none);
    CHECK(c_driver_beside("/usr/bin/gcc") == k_none);
}

TEST_CASE("cuDNN with headers is told in the five variables that build scripts read") {
    Case there;
    const std::string root = "/home/u/envs/apex/lib/python3.9/site-packages/nvidia/cudnn";
    there.situation.environment->cudnn = {root, root + "/include", root + "/lib",
                                          root + "/lib/libcudnn.so.8", std::nullopt};
    Composition composition = there.compose();
    CHECK(set_to(composition, "CUDNN_HOME") == root);
    CHECK(set_to(composition, "CUDNN_PATH") == root);
    CHECK(set_to(composition, "CUDNN_INCLUDE_DIR") == root + "/include");
    CHECK(set_to(composition, "CUDNN_LIB_DIR") == root + "/lib");
    CHECK(set_to(composition, "CUDNN_LIBRARY") == root + "/lib/libcudnn.so.8");
    SECTION("the environment's goes before the toolkit's") {
        there.layout.cudnn = {"/usr/local/cuda-11.3", "/usr/local/cuda-11.3/include", "", "",
                              std::nullopt};
        CHECK(set_to(there.compose(), "CUDNN_HOME") == root);
        there.situation.environment->cudnn.reset();
        composition = there.compose();
        CHECK(set_to(composition, "CUDNN_HOME") == "/usr/local/cuda-11.3");
        CHECK(set_to(composition, "CUDNN_LIBRARY") == k_none);
    }
    SECTION("one of them set by the user keeps all of them the user's") {
        there.situation.base["CUDNN_PATH"] = "/opt/cudnn";
        composition = there.compose();
        CHECK(set_to(composition, "CUDNN_HOME") == k_none);
        CHECK(set_to(composition, "CUDNN_INCLUDE_DIR") == k_none);
    }
    SECTION("the system's has no root that would put /usr/include before the standard headers") {
        there.situation.environment->cudnn = {"/usr", "/usr/include", "/usr/lib/x86_64-linux-gnu",
                                              "/usr/lib/x86_64-linux-gnu/libcudnn.so",
                                              std::nullopt};
        composition = there.compose();
        CHECK(set_to(composition, "CUDNN_HOME") == k_none);
        CHECK(set_to(composition, "CUDNN_INCLUDE_DIR") == "/usr/include");
    }
    SECTION("without headers it is nobody's to build with") {
        there.situation.environment->cudnn->include_dir.clear();
        CHECK(set_to(there.compose(), "CUDNN_LIBRARY") == k_none);
    }
}

TEST_CASE("what only building reads is set for building alone") {
    Case there;
    there.situation.host.gpus.resize(2);
    there.situation.host.gpus[0].compute_capability = ComputeCapability{8, 6};
    there.situation.host.gpus[1].compute_capability = ComputeCapability{7, 5};
    there.situation.host.gpus[1].index = 1;
    there.situation.machine = {8, std::uint64_t{10} << 30};
    Composition composition = there.compose();
    for (const char* const name : {"MAX_JOBS", "TORCH_CUDA_ARCH_LIST", "CUDAARCHS", "XLA_FLAGS"}) {
        CHECK(set_to(composition, name) == k_none);
    }
    CHECK(added(composition, "CPLUS_INCLUDE_PATH", End::Back).empty());

    there.situation.config = config("[resolve]\nfor = \"build\"\n");
    composition = there.compose();
    CHECK(set_to(composition, "MAX_JOBS") == "4");
    CHECK(set_to(composition, "TORCH_CUDA_ARCH_LIST") == "7.5;8.6+PTX");
    CHECK(set_to(composition, "CUDAARCHS") == "75;86");
    CHECK(set_to(composition, "XLA_FLAGS") == "--xla_gpu_cuda_data_dir=/usr/local/cuda-11.3");
    CHECK(added(composition, "CPLUS_INCLUDE_PATH", End::Back) ==
          Entries{"/usr/local/cuda-11.3/include"});
    CHECK(added(composition, "LIBRARY_PATH", End::Back) == Entries{"/usr/local/cuda-11.3/lib64"});
    CHECK(added(composition, "CMAKE_PREFIX_PATH", End::Back) ==
          Entries{"/home/u/envs/apex", "/usr/local/cuda-11.3"});

    SECTION("never over what the user set") {
        for (const char* const name :
             {"MAX_JOBS", "TORCH_CUDA_ARCH_LIST", "CUDAARCHS", "XLA_FLAGS"}) {
            there.situation.base[name] = "mine";
        }
        composition = there.compose();
        for (const char* const name :
             {"MAX_JOBS", "TORCH_CUDA_ARCH_LIST", "CUDAARCHS", "XLA_FLAGS"}) {
            CHECK(set_to(composition, name) == k_none);
        }
    }
    SECTION("for the GPUs that this shell's programs see") {
        there.situation.base["CUDA_VISIBLE_DEVICES"] = "1";
        CHECK(set_to(there.compose(), "TORCH_CUDA_ARCH_LIST") == "7.5+PTX");
    }
    SECTION("a GPU newer than nvcc is served by the newest that nvcc makes, with PTX") {
        there.situation.host.gpus[0].compute_capability = ComputeCapability{9, 0};
        composition = there.compose();
        CHECK(set_to(composition, "TORCH_CUDA_ARCH_LIST") == "7.5;8.6+PTX");
        CHECK(set_to(composition, "CUDAARCHS") == "75;86");
    }
    SECTION("without a GPU no targets are made up") {
        there.situation.host.gpus.clear();
        CHECK(set_to(there.compose(), "TORCH_CUDA_ARCH_LIST") == k_none);
        CHECK(set_to(there.compose(), "CUDAARCHS") == k_none);
    }
    SECTION("without a GPU the targets of the project or the user are built for") {
        there.situation.host.gpus.clear();
        there.situation.config =
            config("[resolve]\nfor = \"build\"\ntargets = [\"8.6\", \"8.0\"]\n");
        CHECK(set_to(there.compose(), "TORCH_CUDA_ARCH_LIST") == "8.0;8.6+PTX");
        CHECK(set_to(there.compose(), "CUDAARCHS") == "80;86");
    }
    SECTION("one job at least, and no more than cores") {
        there.situation.machine = {8, std::uint64_t{1} << 30};
        CHECK(set_to(there.compose(), "MAX_JOBS") == "1");
        there.situation.machine = {8, std::nullopt};
        CHECK(set_to(there.compose(), "MAX_JOBS") == "8");
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

TEST_CASE("the quiet line tells the toolkit's CUDA where a range was asked for") {
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

// --- properties
// -----------------------------------------------------------------------------------

namespace {

class RandomSituation {
public:
    explicit RandomSituation(unsigned seed) : m_random(seed) {}

    Case make() {
        Case there;
        Situation& situation = there.situation;
        situation = machine();
        situation.config = config(
            "[activate]\nld_library_path = \"" + one<std::string>({"auto", "never", "always"}) +
            "\"\ncompilers = " + one<std::string>({"true", "false"}) + "\n[resolve]\nfor = \"" +
            one<std::string>({"run", "build"}) + "\"\n");
        if (chance(4)) {
            situation.host.toolkits.clear();
        }
        if (!chance(4)) {
            situation.environment =
                environment(chance(2) ? EnvironmentKind::Conda : EnvironmentKind::Venv,
                            one<std::string>({"/home/u/envs/apex", "/home/u/a:b", "/usr", "/opt",
                                              "/home/u/a b"}));
            auto& inside = *situation.environment;
            if (chance(2)) {
                inside.frameworks = {
                    torch("1", one<std::string>({"11.3", "12.4", "11.8", "10.2", "13.0"}))};
            }
            if (chance(3)) {
                inside.toolkits = {
                    toolkit(chance(2) ? inside.prefix : inside.prefix + "/nvidia/cu13",
                            one<std::string>({"11.3.1", "12.9.86", "13.0.88"}))};
            }
            if (chance(3)) {
                inside.cudnn = {directory(), directory(), directory(), directory() + "/x.so",
                                std::nullopt};
            }
            if (chance(3)) {
                inside.compilers = {gcc(inside.prefix + "/bin/x86_64-conda-linux-gnu-c++",
                                        one<std::string>({"9.5.0", "11.4.0", "15.1.0"}))};
            }
            if (chance(2)) {
                inside.sonames = {"libcudart.so.11.0"};
            }
        }
        if (chance(2)) {
            situation.pins.pins = {
                pin(one<PinSource>({PinSource::Shell, PinSource::Project, PinSource::Environment,
                                    PinSource::User, PinSource::System}),
                    one<std::string>({"11.3", "12", ">=11,<13", "==11.3.1", "*", "10.0"}))};
        }
        for (const std::string_view name : managed_variables()) {
            if (chance(5)) {
                situation.base[std::string(name)] = one<std::string>(
                    {"", "mine", "/usr/local/cuda", "/usr/local/cuda-11.3/", "g++", "gcc-9",
                     "/usr/bin/g++-12", ":/x:", "/usr/local/cuda-11.3/bin:/usr/bin"});
            }
            if (chance(20)) {
                situation.kept.emplace_back(name);
            }
        }
        situation.host.gpus.resize(static_cast<std::size_t>(below(3)));
        for (auto& gpu : situation.host.gpus) {
            gpu.compute_capability = ComputeCapability{5 + below(5), below(3)};
        }
        situation.machine.cores = below(70);
        situation.machine.memory_bytes = static_cast<std::uint64_t>(below(100)) << 30;
        auto& layout = there.layout;
        layout.path = chance(2) ? "/usr/local/cuda-11.3" : directory();
        layout.bin = directory();
        layout.include = directory();
        layout.library = directory();
        layout.libdevice_root = directory();
        return there;
    }

private:
    int below(int limit) { return static_cast<int>(m_random() % static_cast<unsigned>(limit)); }
    bool chance(int one_in) { return below(one_in) == 0; }
    template <typename T>
    T one(std::vector<T> of) {
        return of[static_cast<std::size_t>(below(static_cast<int>(of.size())))];
    }
    std::string directory() {
        return one<std::string>({"",
                                 "/",
                                 "/usr",
                                 "/usr/bin",
                                 "/usr/bin/",
                                 "/usr//include",
                                 "/usr/lib/x86_64-linux-gnu",
                                 "/usr/lib/nvidia-cuda-toolkit/bin",
                                 "/lib64",
                                 "/usr/local/bin",
                                 "/usr/local/lib",
                                 "/usr/local/cuda/lib64/stubs",
                                 "/usr/local/cuda/compat",
                                 "/usr/local/cuda-11.3/bin",
                                 "/usr/local/cuda-11.3/lib64/",
                                 "/home/u/envs/a b",
                                 "/home/u/envs/$(x)",
                                 "/home/u/a:b",
                                 "/home/u/envs/apex",
                                 "/home/u/envs/./apex/../../../usr/bin",
                                 "relative",
                                 "/home/u/\n"});
    }

    std::mt19937 m_random;
};

} // namespace

TEST_CASE("whatever the situation, a patch keeps its laws") {
    constexpr unsigned k_rounds = 4000;
    int patched = 0;
    for (unsigned seed = 0; seed < k_rounds; ++seed) {
        const Case there = RandomSituation(seed).make();
        const CudaChoice choice = choose(there.situation);
        const Composition composition = there.compose();
        CAPTURE(seed, choice.reason, choice.cuda);
        CHECK(set_to(composition, "CUDA_HOME") == set_to(composition, "CUDA_PATH"));
        patched += composition.patch.variables.empty() ? 0 : 1;
        CHECK((choice.toolkit ||
               (composition.patch.variables.empty() && composition.patch.entries.empty())));
        CHECK((!choice.none() || composition.patch.variables.empty()));
        std::set<std::string> names;
        for (const SetVariable& variable : composition.patch.variables) {
            CAPTURE(variable.name, variable.value);
            CHECK(names.insert(variable.name).second);
            CHECK(is_managed(variable.name));
            CHECK_FALSE(is_managed_list(variable.name));
            CHECK_FALSE(there.situation.is_kept(variable.name));
            const bool may_replace = variable.name == "CUDA_HOME" || variable.name == "CUDA_PATH" ||
                                     variable.name == "CC" || variable.name == "CXX";
            CHECK((may_replace || there.situation.value(variable.name) == nullptr));
        }
        std::set<std::pair<std::string, std::string>> entries;
        for (const AddEntry& entry : composition.patch.entries) {
            CAPTURE(entry.list, entry.entry);
            CHECK(is_managed_list(entry.list));
            CHECK_FALSE(there.situation.is_kept(entry.list));
            CHECK(entries.insert({entry.list, entry.entry}).second);
            CHECK(entry.entry.starts_with('/'));
            CHECK(entry.entry.find(':') == std::string::npos);
            CHECK(entry.entry.find("/stubs") == std::string::npos);
            CHECK(entry.entry.find("/compat") == std::string::npos);
            CHECK(entry.entry.find("/..") == std::string::npos);
            CHECK_FALSE(entry.entry.ends_with('/'));
            CHECK((entry.list == "PATH") == (entry.end == End::Front));
            for (const std::string system :
                 {"/usr/bin", "/usr/lib", "/usr/include", "/lib", "/bin"}) {
                CHECK_FALSE(entry.entry.starts_with(system));
            }
            for (const std::string system : {"/", "/usr", "/usr/local/bin", "/usr/local/lib"}) {
                CHECK(entry.entry != system);
            }
        }
        const std::string line = quiet_line(there.situation, choice, composition, true);
        CHECK(line.empty() == choice.none());
        CHECK(std::ranges::all_of(line, [](char c) { return c >= 0x20 && c < 0x7f; }));
    }
    CHECK(patched > 1000); // the laws were tried on something
}
