#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/fit.hpp"
#include "solver/knowledge/frameworks.hpp"
#include "solver/knowledge/packages.hpp"
#include "solver/knowledge/recipes.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;
using namespace cudaenv::knowledge;

namespace {

DottedVersion v(std::string_view text) {
    return DottedVersion::of(text);
}

facts::Host with_driver(std::string_view version, std::string_view cuda = {}) {
    facts::Host host;
    host.machine = "x86_64";
    host.driver = facts::Driver();
    host.driver->version = v(version);
    if (!cuda.empty()) {
        host.driver->cuda = v(cuda);
    }
    host.driver->derived = true;
    host.driver->source = "the test";
    return host;
}

} // namespace

TEST_CASE("a driver runs a CUDA in full, by minor version compatibility, or not") {
    CHECK(driver_fit(with_driver("550.54.15", "12.4"), v("12.4")).fit == DriverFit::Full);
    CHECK(driver_fit(with_driver("550.54.15", "12.4"), v("12.6")).fit == DriverFit::MachineCode);
    CHECK(driver_fit(with_driver("550.54.15", "12.4"), v("13.0")).fit == DriverFit::TooOld);
    CHECK(driver_fit(with_driver("550.54.15", "12.4"), v("11.8")).fit == DriverFit::Full);
    CHECK(driver_fit(with_driver("470.199.02", "11.4"), v("12.1")).floor->driver == v("525.60.13"));
    CHECK(driver_fit(facts::Host(), v("12.4")).fit == DriverFit::Unknown);
}

TEST_CASE("before CUDA 11 each release has its own floor") {
    CHECK(driver_fit(with_driver("410.48", "10.0"), v("10.1")).runs() == Answer::No);
    CHECK(driver_fit(with_driver("410.48", "10.0"), v("10.0")).runs() == Answer::Yes);
}

TEST_CASE(
    "a driver newer than the tables runs what its version allows, and gives no CUDA by name") {
    const auto host = with_driver("999.1");
    CHECK(driver_fit(host, v("13.0")).fit == DriverFit::Full);
    CHECK(driver_text(host) == "driver 999.1 is newer than cudaenv knows");
    CHECK(driver_verdict(host, v("13.0")).text == "driver 999.1 runs CUDA 13.0");
    CHECK(driver_verdict(host, v("13.0")).answer == Answer::Yes);
    CHECK(driver_verdict(host, v("14.0")).answer == Answer::Unknown);
}

TEST_CASE("a driver whose CUDA is not in the facts gives what its branch gives") {
    const auto host = with_driver("535.183.01");
    CHECK(driver_cuda(host) == v("12.2"));
    CHECK(driver_text(host) == "driver 535.183.01 gives CUDA 12.2");
    CHECK(driver_fit(host, v("12.1")).fit == DriverFit::Full);
    CHECK(driver_fit(host, v("12.4")).fit == DriverFit::MachineCode);
    CHECK(driver_fit(host, v("13.0")).fit == DriverFit::TooOld);
    auto windows = host;
    windows.platform.wsl = true;
    CHECK_FALSE(driver_cuda(windows));
}

TEST_CASE("below the family's floor a driver runs the CUDA that it gives, and no other minor") {
    for (const bool derived : {true, false}) {
        auto before_525 = with_driver("525.60.11", "12.0");
        before_525.driver->derived = derived;
        CHECK(driver_fit(before_525, v("12.0")).runs() == Answer::Yes);
        CHECK(driver_fit(before_525, v("12.1")).fit == DriverFit::TooOld);
        CHECK(driver_fit(before_525, v("11.8")).fit == DriverFit::Full);
        auto before_450 = with_driver("450.51.06", "11.0");
        before_450.driver->derived = derived;
        CHECK(driver_fit(before_450, v("11.0")).runs() == Answer::Yes);
        CHECK(driver_fit(before_450, v("11.3")).fit == DriverFit::TooOld);
    }
    CHECK(driver_fit(with_driver("525.60.13", "12.0"), v("12.1")).fit == DriverFit::MachineCode);
}

TEST_CASE("programs see only some GPUs by UUID, else by index in the order of NVML") {
    std::vector<NamedGpu> gpus(2);
    gpus[0].index = 1;
    gpus[1].index = 3;
    CHECK(visible_devices(gpus) == "CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=1,3");
    gpus[0].uuid = "GPU-aa";
    gpus[1].uuid = "GPU-bb";
    CHECK(visible_devices(gpus) == "CUDA_VISIBLE_DEVICES=GPU-aa,GPU-bb");
}

TEST_CASE("glibc is known, or known to be absent, or unknown") {
    facts::Host host;
    CHECK(has_glibc(host) == Answer::Unknown);
    host.distribution = "Alpine Linux v3.20";
    CHECK(has_glibc(host) == Answer::No);
    host.glibc = v("2.36");
    CHECK(has_glibc(host) == Answer::Yes);
}

TEST_CASE("what a toolkit leaves open of compilers is the table's, clang behind g++") {
    facts::Toolkit cuda11;
    cuda11.version = v("11.8.89");
    cuda11.gcc_max = 11;
    facts::Host host;
    const auto compiler = [](facts::CompilerFamily family, const char* version) {
        return facts::Compiler{family, v(version), version, {}, false};
    };
    host.compilers = {compiler(facts::CompilerFamily::Clang, "14.0.6"),
                      compiler(facts::CompilerFamily::Clang, "16.0.6"),
                      compiler(facts::CompilerFamily::Gcc, "11.4.0")};
    const auto compilers = compilers_for(cuda11, host);
    REQUIRE(compilers.size() == 2);
    CHECK(compilers[0].path == "11.4.0");
    CHECK(compilers[1].path == "14.0.6");
}

TEST_CASE("a driver of a branch before a GPU's first one is not known to start it") {
    const ComputeCapability blackwell{12, 0};
    REQUIRE(driver_before_gpu(with_driver("550.54.15"), blackwell));
    CHECK(driver_before_gpu(with_driver("550.54.15"), blackwell)->driver.major() == 570);
    CHECK_FALSE(driver_before_gpu(with_driver("570.86.10"), blackwell));
    CHECK_FALSE(driver_before_gpu(with_driver("550.54.15"), {9, 0}));
    auto jetson = with_driver("540.4.0");
    jetson.platform.jetson = true;
    CHECK_FALSE(driver_before_gpu(jetson, blackwell));
}

TEST_CASE("what the driver itself says wins over its branch") {
    auto host = with_driver("470.199.02", "12.2");
    host.driver->derived = false; // cuda-compat
    CHECK(driver_fit(host, v("12.1")).fit == DriverFit::Full);
}

TEST_CASE("machine code runs on the same major and no lower minor, but for integrated GPUs") {
    CHECK(machine_code_runs({8, 0}, {8, 6}, v("11.8")));
    CHECK_FALSE(machine_code_runs({8, 6}, {8, 0}, v("11.8")));
    CHECK_FALSE(machine_code_runs({8, 6}, {8, 7}, v("12.6")));
    CHECK(machine_code_runs({8, 6}, {8, 7}, v("13.2")));
    CHECK_FALSE(machine_code_runs({10, 0}, {10, 1}, v("12.9")));
    CHECK_FALSE(machine_code_runs({8, 7}, {8, 9}, v("12.6")));
    CHECK(machine_code_runs({10, 1}, {11, 0}, v("13.0")));
}

TEST_CASE(
    "a CUDA whose libraries came before the GPU does not serve it, whatever PTX a build has") {
    Architectures code;
    code.sass = {{3, 7}, {5, 0}};
    code.ptx = {{3, 7}};
    const auto judged = build_serves(v("10.2"), &code, {8, 6}, with_driver("550.54.15", "12.4"));
    CHECK(judged.fit == GpuFit::TooNew);
    CHECK(judged.other_cuda == "11.0");
    CHECK(toolkit_serves(v("11.3"), {9, 0}).fit == GpuFit::TooNew);
    CHECK(toolkit_serves(v("13.0"), {7, 0}).fit == GpuFit::TooOld);
    CHECK(toolkit_serves(v("12.6"), {6, 1}).runs() == Answer::Yes);
}

TEST_CASE("a build whose list is not known, or is an upper bound, serves nothing for certain") {
    const auto host = with_driver("550.54.15", "12.4");
    CHECK(build_serves(v("12.4"), nullptr, {8, 6}, host).runs() == Answer::Unknown);
    Architectures code;
    code.sass = {{5, 0}, {8, 0}};
    CHECK(build_serves(v("12.4"), &code, {8, 6}, host).runs() == Answer::Yes);
    CHECK(build_serves(v("12.4"), &code, {6, 1}, host).runs() == Answer::No);
    code.derived = true;
    CHECK(build_serves(v("12.4"), &code, {8, 6}, host).runs() == Answer::Unknown);
    CHECK(build_serves(v("12.4"), &code, {6, 1}, host).runs() == Answer::No);
}

TEST_CASE("a wheel's platform tag asks for a glibc and a processor") {
    facts::Host host;
    host.machine = "x86_64";
    host.glibc = v("2.17");
    CHECK(platform_fits("manylinux2014_x86_64", host) == Answer::Yes);
    CHECK(platform_fits("manylinux_2_28_x86_64", host) == Answer::No);
    CHECK(platform_fits("manylinux_2_17_x86_64.manylinux2014_x86_64", host) == Answer::Yes);
    CHECK(platform_fits("manylinux2014_aarch64", host) == Answer::No);
    CHECK(platform_fits("linux_x86_64", host) == Answer::Yes);
    CHECK(platform_fits("win_amd64", host) == Answer::No);
    CHECK(platform_fits("any", host) == Answer::Yes);
    host.glibc.reset();
    CHECK(platform_fits("manylinux_2_28_x86_64", host) == Answer::Unknown);
}

TEST_CASE("compilers for a toolkit: g++ before clang, the newest that works first") {
    facts::Toolkit cuda9;
    cuda9.version = v("9.0.176");
    cuda9.gcc_max = 6;
    facts::Host host;
    for (const auto& [version, path] :
         {std::pair("5.5.0", "/usr/bin/g++-5"), std::pair("6.5.0", "/usr/bin/g++-6"),
          std::pair("7.5.0", "/usr/bin/g++-7")}) {
        host.compilers.push_back({facts::CompilerFamily::Gcc, v(version), path, {}, false});
    }
    const auto compilers = compilers_for(cuda9, host);
    REQUIRE(compilers.size() == 2);
    CHECK(compilers.front().path == "/usr/bin/g++-5");
}

TEST_CASE("a build is recognized by its label, its build string, its dependencies") {
    CHECK(build_by_label("2.8.0+cu126").cuda == v("12.6"));
    CHECK(build_by_label("2.8.0+cpu").kind == BuildKind::Cpu);
    CHECK(build_by_label("2.4.1+rocm6.0").kind == BuildKind::Rocm);
    CHECK(build_by_label("2.8.0+xpu").other_gpu());
    CHECK_FALSE(build_by_label("2.8.0").known());
    CHECK(build_by_conda("py3.11_cuda12.1_cudnn8.9.2_0", {}).cuda == v("12.1"));
    CHECK(build_by_conda("cpu_generic_py312_h1", {}).kind == BuildKind::Cpu);
    const std::vector<std::string> depends = {"cudatoolkit >=11.3,<11.4"};
    CHECK(build_by_conda("py39_0", depends).cuda == v("11.3"));
    const std::vector<std::string> pins = {"nvidia-cuda-runtime-cu12==12.6.77"};
    CHECK(build_by_requirements(pins).cuda == v("12.6"));
}

TEST_CASE("a recipe for nvcc is whole and is for the environment's own manager") {
    Target venv;
    venv.kind = Target::Kind::Venv;
    venv.prefix = "/v";
    CHECK(nvcc_recipe(v("13.2"), venv).command ==
          "/v/bin/python -m pip install "
          "'cuda-toolkit[nvcc,cudart,cccl,cublas,cusparse,cusolver,curand,"
          "cufft,nvrtc,nvtx]==13.2.*'");
    CHECK(nvcc_recipe(v("12.4"), venv).command.find("conda install") == std::string::npos);
    Target conda;
    conda.kind = Target::Kind::Conda;
    conda.prefix = "/e";
    conda.has_conda = true;
    CHECK(
        nvcc_recipe(v("12.4"), conda)
            .command.starts_with(
                "conda install -p /e -c conda-forge cuda-version=12.4 cuda-nvcc cuda-cudart-dev"));
    CHECK(nvcc_recipe(v("11.3"), conda).command ==
          "conda install -p /e -c nvidia/label/cuda-11.3.0 cuda-toolkit");
}

TEST_CASE("an nvcc from NVIDIA's runfile is fetched first, and without a known runfile there is no "
          "command") {
    Target venv;
    venv.kind = Target::Kind::Venv;
    venv.prefix = "/v";
    const auto begins = [&](const char* cuda, const std::string& address) {
        const Recipe recipe = nvcc_recipe(v(cuda), venv);
        CAPTURE(recipe.command);
        CHECK(recipe.command.starts_with("curl -fLO https://developer." + address));
        CHECK(recipe.cuda_home == std::string("$HOME/cuda-") + cuda);
    };
    begins("9.2", "nvidia.com/compute/cuda/9.2/Prod2/local_installers/"
                  "cuda_9.2.148_396.37_linux && sh cuda_9.2.148_396.37_linux --silent");
    begins("10.2", "download.nvidia.com/compute/cuda/10.2/Prod/local_installers/"
                   "cuda_10.2.89_440.33.01_linux.run && sh cuda_10.2.89_440.33.01_linux.run ");
    begins("11.0", "download.nvidia.com/compute/cuda/11.0.3/local_installers/");
    begins("11.1", "download.nvidia.com/compute/cuda/11.1.1/local_installers/");
    CHECK(nvcc_recipe(v("7.5"), venv).command.empty());
    CHECK(nvcc_recipe(v("7.5"), venv).text.find("cuda-toolkit-archive") != std::string::npos);
    venv.machine = "aarch64"; // the old ones are of x86-64
    CHECK(nvcc_recipe(v("10.2"), venv).command.empty());
    CHECK(nvcc_recipe(v("12.4"), venv).command.find("_linux_sbsa.run") != std::string::npos);
}

TEST_CASE("a compiler is of a bound or newer, or older, and goes where the text says") {
    Target venv;
    venv.kind = Target::Kind::Venv;
    Target conda;
    conda.kind = Target::Kind::Conda;
    conda.prefix = "/e";
    conda.has_conda = true;
    CHECK_FALSE(compiler_recipe(9, GccBound::OrOlder, conda).root);
    CHECK(compiler_recipe(9, GccBound::OrOlder, venv).root);
    CHECK(compiler_recipe(9, GccBound::OrNewer, conda).text ==
          "g++ 9 or newer, into the environment");
    conda.kind = Target::Kind::None;
    CHECK(compiler_recipe(11, GccBound::OrOlder, conda).text ==
          "g++ 11 or older, into a new conda environment named cudaenv");
}

TEST_CASE("a runtime for a venv is wheels where they exist, else conda's or NVIDIA's") {
    Target venv;
    venv.kind = Target::Kind::Venv;
    venv.prefix = "/v";
    CHECK(runtime_recipe(v("11.8"), venv).command.find("'cuda-toolkit[cudart,") !=
          std::string::npos);
    const std::string wheels = runtime_recipe(v("11.7"), venv).command;
    CHECK(wheels.find("nvidia-cuda-runtime-cu11==11.7.99") != std::string::npos);
    CHECK(wheels.find("nvidia-cublas-cu11==11.10.3.66") != std::string::npos);
    CHECK(wheels.find("cudnn") == std::string::npos);
    CHECK(runtime_recipe(v("11.3"), venv).command.starts_with("curl "));
    venv.has_conda = true;
    CHECK(runtime_recipe(v("11.3"), venv).command ==
          "conda create -n cudaenv -c conda-forge cudatoolkit=11.3");
}

TEST_CASE("a driver is proposed only where it serves the GPUs, and in Windows for WSL") {
    facts::Host host;
    host.hostname = "lab";
    const DriverBound bound{v("520.61.05"), {}};
    CHECK(driver_recipe(bound, host).text ==
          "driver 520.61.05 or newer (as root; ask whoever runs lab)");
    host.platform.wsl = true;
    CHECK(driver_recipe(bound, host).text ==
          "update the NVIDIA driver in Windows to branch 520 or newer (WSL uses it; install no "
          "driver in Linux)");
    host.platform.wsl = false;
    facts::Gpu kepler;
    kepler.name = "Tesla K80";
    kepler.compute_capability = ComputeCapability{3, 7};
    host.gpus.push_back(kepler);
    CHECK(driver_recipe(bound, host).other_gpu);
    CHECK(driver_recipe(bound, host).text ==
          "driver 520.61.05 or newer and another GPU (no driver after branch 470 supports the "
          "Tesla K80)");
    CHECK_FALSE(driver_recipe({v("470.57.02"), {}}, host).other_gpu);
}

TEST_CASE("a framework is a row, found by pip's name and by conda's") {
    REQUIRE(find_framework("pytorch") != nullptr);
    CHECK(find_framework("pytorch")->name == "torch");
    CHECK(is_compiled("flash-attn"));
    CHECK(is_compiled("detectron2"));
    CHECK_FALSE(is_compiled("xformers"));
    CHECK(oldest_gcc(*find_framework("torch"), v("2.6.0")) == 9);
    CHECK(find_framework("no-such-package") == nullptr);
}
