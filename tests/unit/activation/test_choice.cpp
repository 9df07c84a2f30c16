#include "situations.hpp"
#include "solver/knowledge/cuda_release.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

namespace {

using namespace cudaenv;
using namespace cudaenv::activation;
using namespace cudaenv::pins;
using namespace cudaenv::activation::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using facts::EnvironmentKind;

std::string path_of(const CudaChoice& choice) {
    return choice.toolkit ? choice.toolkit->path : "none";
}

Situation with_torch(const std::string& version, const std::string& cuda,
                     EnvironmentKind kind = EnvironmentKind::Venv) {
    Situation situation = machine();
    situation.environment = environment(kind);
    situation.environment->frameworks = {torch(version, cuda)};
    return situation;
}

} // namespace

TEST_CASE("where nothing says CUDA, nothing is chosen") {
    Situation situation = machine();
    CHECK(choose(situation).none());
    situation.environment = environment(EnvironmentKind::Conda);
    CHECK(choose(situation).none());
}

TEST_CASE("CUDA_HOME alone is the user's business and is left to them") {
    Situation situation = machine();
    situation.base["CUDA_HOME"] = "/usr/local/cuda-11.3";
    CHECK(choose(situation).none());
    situation.environment = environment(EnvironmentKind::Venv); // pure Python
    CHECK(choose(situation).none());
}

TEST_CASE("a framework's build decides where nothing else applies") {
    const CudaChoice choice = choose(with_torch("1.12.1+cu113", "11.3"));
    CHECK(choice.rung == Rung::Framework);
    CHECK(choice.cuda == "11.3");
    CHECK(choice.reason == "torch 1.12.1+cu113");
    CHECK(path_of(choice) == "/usr/local/cuda-11.3");
    CHECK(choice.match == ToolkitMatch::Exact);
    CHECK(choice.warnings.empty());
}

TEST_CASE("a version without a CUDA label is shown with its CUDA") {
    CHECK(choose(with_torch("2.4.0", "12.4")).reason == "torch 2.4.0 with CUDA 12.4");
}

TEST_CASE("a build without CUDA says nothing, the next framework does") {
    Situation situation = with_torch("2.4.0+cpu", "12.4");
    situation.environment->frameworks[0].cpu = true;
    situation.environment->frameworks[0].cuda.reset();
    CHECK(choose(situation).none());
    situation.environment->frameworks.push_back(
        {"tensorflow", "2.4.1", DottedVersion::of("11.0"), false, ""});
    CHECK(choose(situation).reason == "tensorflow 2.4.1 with CUDA 11.0");
}

TEST_CASE("the runtime decides where no framework does") {
    Situation situation = machine();
    situation.environment = environment(EnvironmentKind::Conda);
    situation.environment->runtime = {"cudatoolkit", DottedVersion::of("11.3.1"), "/e/x.json"};
    const CudaChoice choice = choose(situation);
    CHECK(choice.rung == Rung::Runtime);
    CHECK(choice.cuda == "11.3");
    CHECK(choice.reason == "cudatoolkit 11.3.1");
    CHECK(choice.origin == "/e/x.json");
    CHECK(path_of(choice) == "/usr/local/cuda-11.3");
}

TEST_CASE(
    "a framework that names its CUDA's major only takes the minor from the runtime beside it") {
    Situation situation = machine();
    situation.environment = environment(EnvironmentKind::Venv);
    situation.environment->frameworks = {{"cupy", "13.0", DottedVersion::of("11"), false, ""}};
    situation.environment->runtime = {"nvidia-cuda-runtime-cu11", DottedVersion::of("11.3.109"),
                                      ""};
    CHECK(choose(situation).cuda == "11.3");
    situation.environment->runtime.reset();
    const CudaChoice choice = choose(situation);
    CHECK(choice.cuda == "11");
    CHECK(path_of(choice) == "/usr/local/cuda-11.3");
    CHECK(choice.match == ToolkitMatch::Exact);
}

TEST_CASE("the ladder: each rung outranks all below it") {
    // From the weakest to the strongest; the CUDA that each asks for shows which one won.
    Situation situation = machine();
    situation.environment = environment(EnvironmentKind::Venv);
    const auto with_pin = [](Situation there, PinSource source, const std::string& cuda) {
        there.pins.pins = {pin(source, cuda)};
        return choose(there);
    };
    CHECK(with_pin(situation, PinSource::System, "12.1").rung == Rung::System);
    CHECK(with_pin(situation, PinSource::User, "12.1").rung == Rung::User);
    situation.environment->runtime = {"cudatoolkit", DottedVersion::of("11.3"), ""};
    CHECK(with_pin(situation, PinSource::User, "12.1").rung == Rung::Runtime);
    situation.environment->frameworks = {torch("2.4.0+cu124", "12.4")};
    CHECK(with_pin(situation, PinSource::User, "12.1").rung == Rung::Framework);
    CHECK(with_pin(situation, PinSource::Environment, "12.1").rung == Rung::EnvironmentPin);
    situation.base["CUDA_PATH"] = "/usr/local/cuda";
    CHECK(with_pin(situation, PinSource::Environment, "12.1").rung == Rung::ByHand);
    CHECK(with_pin(situation, PinSource::User, "12.1").rung == Rung::ByHand);
    CHECK(with_pin(situation, PinSource::Project, "12.1").rung == Rung::Project);
    CHECK(with_pin(situation, PinSource::ProjectLocal, "12.1").rung == Rung::Project);
    CHECK(with_pin(situation, PinSource::Shell, "12.1").rung == Rung::Shell);
}

TEST_CASE("a pin and the framework that it fits are both reasons") {
    Situation situation = with_torch("1.12.1+cu113", "11.3");
    situation.project_directory = "/home/u/code/apex";
    situation.pins.pins = {pin(PinSource::Project, "11.3")};
    const CudaChoice choice = choose(situation);
    CHECK(choice.reason == "torch 1.12.1+cu113; pinned in ~/code/apex");
    CHECK(choice.origin == "/p/cudaenv.toml line 2");
    CHECK(choice.warnings.empty());
}

TEST_CASE("a pin against the framework's build is one warning that names both") {
    Situation situation = with_torch("2.1.0+cu118", "11.8");
    situation.project_directory = "/home/u/code/apex";
    situation.pins.pins = {pin(PinSource::Project, "11.3")};
    const CudaChoice choice = choose(situation);
    CHECK(path_of(choice) == "/usr/local/cuda-11.3");
    CHECK(choice.reason == "pinned in ~/code/apex");
    REQUIRE(choice.warnings.size() == 1);
    CHECK(choice.warnings[0] == "CUDA 11.3 is pinned in ~/code/apex; torch 2.1.0+cu118 is built "
                                "with CUDA 11.8");
}

TEST_CASE("a project's pin against CUDA_HOME is one warning that names both") {
    Situation situation = machine();
    situation.base["CUDA_HOME"] = "/usr/local/cuda/";
    situation.project_directory = "/home/u/code/apex";
    situation.pins.pins = {pin(PinSource::Project, "11.3")};
    const CudaChoice choice = choose(situation);
    CHECK(path_of(choice) == "/usr/local/cuda-11.3");
    REQUIRE(choice.warnings.size() == 1);
    CHECK(choice.warnings[0] == "CUDA 11.3 is pinned in ~/code/apex and overrides "
                                "CUDA_HOME=/usr/local/cuda/ (CUDA 12.4), set by hand");
}

TEST_CASE("a pin that no toolkit here serves leaves CUDA_HOME, and the warning says so") {
    Situation situation = machine();
    situation.base["CUDA_HOME"] = "/usr/local/cuda";
    situation.pins.pins = {pin(PinSource::Shell, "10.2")};
    const CudaChoice choice = choose(situation);
    CHECK(path_of(choice) == "none");
    REQUIRE(choice.warnings.size() == 1);
    CHECK_THAT(choice.warnings[0], ContainsSubstring("CUDA 10.2 is chosen in this shell") &&
                                       ContainsSubstring("is unchanged"));
    CHECK_FALSE(choice.remedy.empty());
}

TEST_CASE("where the toolkit set by hand fits the pin, it is the one") {
    Situation situation = machine();
    situation.host.toolkits.push_back(toolkit("/home/u/cuda-11.3", "11.3.58"));
    situation.base["CUDA_HOME"] = "/home/u/cuda-11.3";
    situation.pins.pins = {pin(PinSource::Project, "11.3")};
    const CudaChoice choice = choose(situation);
    CHECK(path_of(choice) == "/home/u/cuda-11.3");
    CHECK(choice.warnings.empty());
}

TEST_CASE("what is set by hand overrides an environment's pin, with one warning") {
    Situation situation = machine();
    situation.environment = environment(EnvironmentKind::Conda);
    situation.base["CUDA_HOME"] = "/usr/local/cuda";
    situation.pins.pins = {pin(PinSource::Environment, "11.3")};
    const CudaChoice choice = choose(situation);
    CHECK(choice.rung == Rung::ByHand);
    CHECK(choice.match == ToolkitMatch::ByHand);
    CHECK(choice.cuda == "12.4");
    CHECK(path_of(choice) == "/usr/local/cuda-12.4");
    REQUIRE(choice.warnings.size() == 1);
    CHECK_THAT(choice.warnings[0], ContainsSubstring("CUDA_HOME=/usr/local/cuda (CUDA 12.4)") &&
                                       ContainsSubstring("CUDA 11.3, pinned"));
}

TEST_CASE("an unknown path set by hand is respected") {
    Situation situation = with_torch("2.4.0+cu124", "12.4");
    situation.base["CUDA_HOME"] = "/mnt/cuda//";
    const CudaChoice choice = choose(situation);
    CHECK(choice.rung == Rung::ByHand);
    CHECK(path_of(choice) == "/mnt/cuda");
    CHECK(choice.cuda.empty());
    CHECK(choice.warnings.empty());
}

TEST_CASE("CUDA_HOME from before the hook ranks below the framework and is said apart") {
    Situation situation = with_torch("1.12.1+cu113", "11.3");
    situation.base["CUDA_HOME"] = "/usr/local/cuda";
    situation.base["__cudaenv_found_home"] = "/usr/local/cuda";
    situation.inherited = {"CUDA_HOME"};
    situation.config = Config::merge({});
    const CudaChoice choice = choose(situation);
    CHECK(choice.rung == Rung::Framework);
    CHECK(path_of(choice) == "/usr/local/cuda-11.3");
    CHECK(choice.warnings.empty());
    CHECK(choice.inherited == "CUDA_HOME=/usr/local/cuda (CUDA 12.4) was set before this shell's "
                              "hook ran and is replaced; to keep it: "
                              "cudaenv config set activate.keep_cuda_home true");

    SECTION("nothing is said where it fits, or a pin has chosen") {
        situation.environment->frameworks = {torch("2.4.0+cu124", "12.4")};
        CHECK(choose(situation).inherited.empty());
        situation.pins.pins = {pin(PinSource::Environment, "11.3")};
        CHECK(choose(situation).rung == Rung::EnvironmentPin);
        CHECK(choose(situation).inherited.empty());
    }
    SECTION("a loaded module or the configuration makes it the user's wish") {
        Situation with_module = situation;
        with_module.base["LOADEDMODULES"] = "cuda/12.4";
        CHECK(choose(with_module).rung == Rung::ByHand);
        const auto file =
            parse_config("[activate]\nkeep_cuda_home = true\n", "/c", FileScope::User);
        REQUIRE(file);
        situation.config = Config::merge({nullptr, &*file, nullptr, nullptr});
        CHECK(choose(situation).rung == Rung::ByHand);
        CHECK(choose(situation).reason == "CUDA_HOME set before this shell's hook ran");
        CHECK(choose(situation).inherited.empty());
    }
    SECTION("CUDA_PATH that the user has set since comes before it") {
        situation.base["CUDA_PATH"] = "/usr/local/cuda-11.3";
        CHECK(choose(situation).rung == Rung::ByHand);
        CHECK(choose(situation).origin == "CUDA_PATH");
    }
    SECTION(
        "it ranks below the carried runtime and the user's default, above the administrator's") {
        situation.environment->frameworks.clear();
        situation.environment->runtime = {"cudatoolkit", DottedVersion::of("11.3"), ""};
        CHECK(choose(situation).rung == Rung::Runtime);
        situation.environment->runtime.reset();
        situation.pins.pins = {pin(PinSource::User, "11.3")};
        CHECK(choose(situation).rung == Rung::User);
        situation.pins.pins = {pin(PinSource::System, "11.3")};
        CHECK(choose(situation).rung == Rung::Inherited);
        situation.pins.pins.clear();
        CHECK(choose(situation).none());
    }
    SECTION("where no toolkit is here for the framework it stays, and that is said") {
        situation.environment->frameworks = {torch("1.8.0+cu101", "10.1")};
        CHECK(choose(situation).rung == Rung::Framework);
        CHECK_THAT(choose(situation).inherited,
                   ContainsSubstring("stays: no toolkit for CUDA 10.1 is here"));
    }
}

TEST_CASE("a loaded module is the reason") {
    Situation situation = with_torch("2.4.0+cu124", "12.4");
    situation.base["CUDA_HOME"] = "/usr/local/cuda";
    situation.base["LOADEDMODULES"] = "gcc/9.3.0:CUDA/12.4.1";
    CHECK(choose(situation).reason == "CUDA_HOME; module CUDA/12.4.1 is loaded");
}

TEST_CASE("an empty CUDA_HOME, as conda leaves it, is not set by hand") {
    Situation situation = with_torch("1.12.1+cu113", "11.3");
    situation.base["CUDA_HOME"] = "";
    CHECK(choose(situation).rung == Rung::Framework);
}

TEST_CASE("CUDA_HOME and CUDA_PATH that differ are a warning, two names of one toolkit are not") {
    Situation situation = with_torch("2.4.0+cu124", "12.4");
    situation.base["CUDA_HOME"] = "/usr/local/cuda";
    situation.base["CUDA_PATH"] = "/usr/local/cuda-12.4";
    CHECK(choose(situation).warnings.empty());
    situation.base["CUDA_PATH"] = "/usr/local/cuda-11.3";
    const CudaChoice choice = choose(situation);
    CHECK(path_of(choice) == "/usr/local/cuda-12.4");
    REQUIRE(choice.warnings.size() == 1);
    CHECK_THAT(choice.warnings[0], ContainsSubstring("/usr/local/cuda-11.3"));
}

TEST_CASE("the environment's own nvcc is preferred to the system's where both fit") {
    Situation situation = with_torch("2.4.0+cu124", "12.4", EnvironmentKind::Conda);
    situation.environment->toolkits = {toolkit("/home/u/envs/apex", "12.4.99")};
    CHECK(choose(situation).environments_own);
    CHECK(path_of(choose(situation)) == "/home/u/envs/apex");
    SECTION("but not where only the system's has the minor") {
        situation.environment->toolkits = {toolkit("/home/u/envs/apex", "12.9.86")};
        CHECK_FALSE(choose(situation).environments_own);
        CHECK(path_of(choose(situation)) == "/usr/local/cuda-12.4");
    }
    SECTION("and of the same major it is preferred to the system's nearer one") {
        situation.environment->frameworks = {torch("2.5.0+cu126", "12.6")};
        situation.environment->toolkits = {toolkit("/home/u/envs/apex", "12.9.86")};
        CHECK(choose(situation).environments_own);
        CHECK(choose(situation).match == ToolkitMatch::SameMajor);
    }
}

TEST_CASE("a toolkit of the same major is taken with a warning: nearest below, then above") {
    Situation situation = with_torch("2.3.0+cu121", "12.1");
    situation.host.toolkits = {
        toolkit("/a/cuda-12.9", "12.9.86"), toolkit("/a/cuda-12.4", "12.4.99"),
        toolkit("/a/cuda-12.0", "12.0.76"), toolkit("/a/cuda-13.0", "13.0.88")};
    CudaChoice choice = choose(situation);
    CHECK(path_of(choice) == "/a/cuda-12.0");
    CHECK(choice.match == ToolkitMatch::SameMajor);
    REQUIRE(choice.warnings.size() == 1);
    CHECK_THAT(choice.warnings[0],
               ContainsSubstring("nvcc 12.0 is here and works for CUDA 12.1 builds"));
    situation.host.toolkits.erase(situation.host.toolkits.begin() + 2);
    CHECK(path_of(choose(situation)) == "/a/cuda-12.4");
}

TEST_CASE(
    "a pinned CUDA that was never released takes no other toolkit, and names the nearest release") {
    Situation situation;
    situation.pins.pins = {pin(PinSource::Project, "12.44")};
    situation.host.toolkits = {toolkit("/a/cuda-12.4", "12.4.99")};
    const CudaChoice choice = choose(situation);
    CHECK(path_of(choice) == "none");
    CHECK(choice.nearest == "12.9");
    CHECK(choice.remedy.empty());
    REQUIRE(choice.warnings.size() == 1);
    CHECK(choice.warnings[0] ==
          knowledge::no_such_cuda(DottedVersion::of("12.44"), DottedVersion::of("12.9")));
    // One that is here exists, whatever the tables say.
    situation.host.toolkits.push_back(toolkit("/a/cuda-12.44", "12.44.1"));
    CHECK(path_of(choose(situation)) == "/a/cuda-12.44");
    CHECK(choose(situation).nearest.empty());
}

TEST_CASE("beside a toolkit that does not answer, only exactly the wanted CUDA is used") {
    Situation situation = with_torch("2.3.0+cu121", "12.1");
    facts::Toolkit silent;
    silent.path = "/nfs/cuda";
    silent.problem = "does not answer";
    silent.silent = true;
    situation.host.toolkits = {toolkit("/a/cuda-12.4", "12.4.99"), silent};
    const CudaChoice unknown = choose(situation);
    CHECK(path_of(unknown) == "none");
    CHECK(unknown.silent == "/nfs/cuda");
    CHECK(unknown.remedy.empty());
    REQUIRE(unknown.warnings.size() == 1);
    CHECK_THAT(unknown.warnings[0], ContainsSubstring("cudaenv reactivate"));

    situation.host.toolkits.push_back(toolkit("/a/cuda-12.1", "12.1.66"));
    const CudaChoice known = choose(situation);
    CHECK(path_of(known) == "/a/cuda-12.1");
    CHECK(known.silent.empty());
    CHECK(known.warnings.empty());
}

TEST_CASE("before CUDA 11 another minor is no answer") {
    Situation situation = with_torch("1.4.0", "10.1");
    situation.host.toolkits = {toolkit("/a/cuda-10.2", "10.2.89")};
    CHECK(path_of(choose(situation)) == "none");
}

TEST_CASE(
    "a range is taken at its word: the framework's minor, else the newest that the driver runs") {
    Situation situation = machine();
    situation.host.toolkits = {
        toolkit("/a/cuda-12.9", "12.9.86"), toolkit("/a/cuda-12.4", "12.4.99"),
        toolkit("/a/cuda-12.1", "12.1.66"), toolkit("/a/cuda-11.8", "11.8.89")};
    situation.pins.pins = {pin(PinSource::Project, ">=12,<13")};
    CHECK(path_of(choose(situation)) == "/a/cuda-12.9");
    situation.host.driver = facts::Driver{};
    situation.host.driver->cuda = DottedVersion::of("12.4");
    CHECK(path_of(choose(situation)) == "/a/cuda-12.4");
    situation.environment = environment(EnvironmentKind::Venv);
    situation.environment->frameworks = {torch("2.3.0+cu121", "12.1")};
    CHECK(path_of(choose(situation)) == "/a/cuda-12.1");
    situation.environment.reset();
    situation.pins.pins = {pin(PinSource::Project, ">=11,<11.8")};
    CHECK(path_of(choose(situation)) == "none");
}

TEST_CASE("an exact pin names a release, which nvcc's own version only shares the minor with") {
    Situation situation = machine();
    situation.pins.pins = {pin(PinSource::Project, "==11.3.1")};
    const CudaChoice choice = choose(situation);
    CHECK(path_of(choice) == "/usr/local/cuda-11.3");
    CHECK(choice.match == ToolkitMatch::Exact);
}

TEST_CASE("toolkits that cannot be used are passed over") {
    Situation situation = with_torch("1.12.1+cu113", "11.3");
    SECTION("without nvcc") {
        situation.host.toolkits[1].nvcc = false;
    }
    SECTION("with a problem") {
        situation.host.toolkits[1].problem = "bin/nvcc is not executable";
    }
    SECTION("of unknown version") {
        situation.host.toolkits[1].version.reset();
    }
    SECTION("in another conda environment") {
        situation.host.toolkits[1].path = "/home/u/miniforge3/envs/other";
        situation.host.toolkits[1].source = "conda environment /home/u/miniforge3/envs/other";
    }
    SECTION("in conda's base") {
        situation.host.toolkits[1].path = "/home/u/miniforge3";
        situation.host.conda = {{"conda", "/home/u/miniforge3", std::nullopt, ""}};
    }
    CHECK(path_of(choose(situation)) == "none");
}

TEST_CASE("one line says how to get a toolkit without root") {
    Situation situation = with_torch("x", "12.1", EnvironmentKind::Conda);
    situation.host.toolkits.clear();
    const auto remedy = [&](const std::string& cuda) {
        situation.environment->frameworks = {torch("x", cuda)};
        return choose(situation).remedy;
    };
    SECTION("into a conda environment") {
        CHECK_THAT(remedy("12.1"), StartsWith("conda install -c conda-forge cuda-version=12.1 "));
        CHECK(remedy("11.3") == "conda install -c nvidia/label/cuda-11.3.0 cuda-toolkit");
        situation.environment_named = true;
        situation.environment->prefix = "/home/u/my envs/a'b";
        CHECK_THAT(remedy("12.1"), StartsWith("conda install -p '/home/u/my envs/a'\\''b' "));
    }
    SECTION("into a venv, for CUDA 13") {
        situation.environment->kind = EnvironmentKind::Venv;
        CHECK_THAT(remedy("13.0"),
                   StartsWith("/home/u/envs/apex/bin/python -m pip install 'cuda-toolkit[nvcc,"));
    }
    SECTION("else the runfile, into the home directory, where it is then looked for") {
        situation.environment->kind = EnvironmentKind::Venv;
        CHECK(
            remedy("11.8") ==
            "curl -fLO https://developer.download.nvidia.com/compute/cuda/11.8.0/local_installers/"
            "cuda_11.8.0_520.61.05_linux.run && sh cuda_11.8.0_520.61.05_linux.run --silent "
            "--toolkit --toolkitpath=$HOME/cuda-11.8 && cudaenv config set toolkits.directories "
            "$HOME/cuda-11.8");
        situation.config = config("[toolkits]\ndirectories = [\"/opt/my cuda\"]\n");
        CHECK_THAT(remedy("11.8"), ContainsSubstring("directories '/opt/my cuda' $HOME/cuda-11.8"));
        situation.config = config("[toolkits]\ndirectories = [\"/home/u\"]\n");
        CHECK_THAT(remedy("11.8"), !ContainsSubstring("config set"));
        CHECK_THAT(remedy("11.2"), ContainsSubstring("/11.2.1/local_installers/"
                                                     "cuda_11.2.1_460.32.03_linux.run"));
        CHECK_THAT(remedy("12.8"), ContainsSubstring("cuda_12.8.1_570.124.06_linux.run"));
        situation.host.machine = "aarch64";
        CHECK_THAT(remedy("12.4"), ContainsSubstring("cuda_12.4.0_550.54.14_linux_sbsa.run"));
        situation.host.machine = "x86_64";
        CHECK_THAT(remedy("10.2"), ContainsSubstring("cuda_10.2.89_440.33.01_linux.run && sh "));
    }
}

TEST_CASE("frameworks of different CUDA majors in one environment are one warning") {
    Situation situation = with_torch("1.12.1+cu113", "11.3");
    situation.environment->frameworks.push_back(
        {"jaxlib", "0.4.30", DottedVersion::of("12"), false, ""});
    situation.environment->frameworks.push_back(
        {"cupy", "13.0", DottedVersion::of("12"), false, ""});
    const CudaChoice choice = choose(situation);
    CHECK(choice.cuda == "11.3");
    REQUIRE(choice.warnings.size() == 1);
    CHECK_THAT(choice.warnings[0],
               ContainsSubstring("torch 1.12.1+cu113") && ContainsSubstring("jaxlib 0.4.30"));
}

TEST_CASE("a pin that another pin overrides is reported once") {
    Situation situation = machine();
    const std::vector<PinLayer> layers = {
        {PinSource::Shell, {{"cuda", "12.4", "CUDAENV_CUDA"}}},
        {PinSource::Project, {{"cuda", "11.3", "/p/cudaenv.toml"}}},
        {PinSource::User, {{"cuda", "11.0", "config.toml"}}}};
    situation.pins = effective_pins(layers);
    const CudaChoice choice = choose(situation);
    CHECK(choice.rung == Rung::Shell);
    CHECK(choice.reason == "chosen in this shell");
    CHECK(choice.warnings.size() == 1);
}

TEST_CASE("control characters of a place never reach a message") {
    Situation situation = with_torch("2.1.0+cu118\x1b[31m", "11.8");
    situation.base["CUDA_HOME"] = "/mnt/\x1b[2J\n";
    situation.project_directory = "/home/u/a\nb";
    situation.pins.pins = {pin(PinSource::Project, "11.3")};
    const CudaChoice choice = choose(situation);
    std::string all = choice.reason + choice.origin + choice.cuda;
    for (const std::string& warning : choice.warnings) {
        all += warning;
    }
    CHECK(std::ranges::none_of(all, [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
}
