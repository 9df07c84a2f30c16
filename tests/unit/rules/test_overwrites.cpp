#include "tests/unit/rules/context_builder.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::rules::testing {
namespace {

using Codes = std::vector<std::string>;
using Paths = std::vector<std::string>;
constexpr auto k_both = {CheckDepth::Records, CheckDepth::Everything};

std::vector<std::string> evidence_of(const CheckFinding& found) {
    std::vector<std::string> lines;
    for (const auto& evidence : found.finding.evidence) {
        lines.push_back(evidence.path + ": " + evidence.text);
    }
    return lines;
}

// conda's numpy, whose record and dist-info it has, and what conda's own RECORD says of it.
void add_conda_numpy(ContextBuilder& env) {
    auto [package, distribution] = env.conda_python("numpy", "1.26.4");
    for (const std::string name : {"__init__.py", "core.py", "lib.so"}) {
        const auto path = env.site() + "/numpy/" + name;
        env.file(package, path, "conda's " + name);
        env.claim(distribution, path, "before conda finished " + name);
    }
    env.claim(distribution, "bin/f2py", "not shipped");
}

// pip's, over it: it takes away what the RECORD there names, then lays down its own.
void pip_install_numpy(ContextBuilder& env) {
    env.uninstall(0);
    auto& wheel = env.pip("numpy", "2.0.0");
    env.file(wheel, env.site() + "/numpy/__init__.py", "pip's __init__.py");
    env.file(wheel, env.site() + "/numpy/core.py", "pip's core.py");
    env.file(wheel, env.site() + "/numpy/new.py", "pip's new.py");
}

TEST_CASE("a conda package that pip replaced is one finding with both versions") {
    ContextBuilder env;
    add_conda_numpy(env);
    pip_install_numpy(env);
    for (const auto depth : k_both) {
        CHECK(env.codes(depth) == Codes{"CE102"});
    }
    const auto found = env.found("CE102").at(0);
    const auto& site = env.site();
    CHECK(found.files == Paths{site + "/numpy-1.26.4.dist-info/METADATA",
                               site + "/numpy-1.26.4.dist-info/WHEEL", site + "/numpy/__init__.py",
                               site + "/numpy/core.py", site + "/numpy/lib.so"});
    CHECK(found.subject == "numpy");
    CHECK(found.said_at_prompt);
    CHECK(is_case(found, "replaced",
                  {{"manager", "pip"},
                   {"victim", "conda's numpy 1.26.4"},
                   {"wheel", "numpy 2.0.0"},
                   {"same_version", ""},
                   {"own_work", ""}}));
    CHECK(found.finding.fix->command == "cudaenv check --fix CE102");
    CHECK(evidence_of(found) ==
          std::vector<std::string>{
              "/env/conda-meta/numpy-1.26.4-0.json: numpy 1.26.4, installed by conda, "
              "2026-11-21 10:00 UTC: 2 of its 5 files overwritten, 3 missing",
              "/env/" + site +
                  "/numpy-2.0.0.dist-info: numpy 2.0.0, installed by pip, 2026-11-21 10:02 UTC",
              "/env/" + site + "/numpy/__init__.py: content of pip's numpy 2.0.0",
              "/env/" + site + "/numpy/core.py: content of pip's numpy 2.0.0",
              "/env/" + site + "/numpy-1.26.4.dist-info/METADATA: missing",
              "/env/" + site + "/numpy-1.26.4.dist-info/WHEEL: missing",
              "/env/" + site + "/numpy/lib.so: missing"});
    CHECK(kinds(found) == kinds_of<UninstallPip, RestoreConda>());
    CHECK(repair_at<UninstallPip>(found, 0).metadata == site + "/numpy-2.0.0.dist-info");
    const auto& restored = repair_at<RestoreConda>(found, 1).files;
    CHECK(std::find(restored.begin(), restored.end(), site + "/numpy-1.26.4.dist-info/INSTALLER") !=
          restored.end());
    // By the records: what shared paths and the metadata that is gone prove.
    CHECK(env.found("CE102", CheckDepth::Records).at(0).files ==
          Paths{site + "/numpy-1.26.4.dist-info/METADATA", site + "/numpy/__init__.py",
                site + "/numpy/core.py"});
}

TEST_CASE("the same version from pip over conda's is a finding where its files differ") {
    ContextBuilder env;
    auto [package, own] = env.conda_python("numpy", "1.26.4");
    env.file(package, env.site() + "/numpy/core.py", "conda's");
    static_cast<void>(own);
    env.uninstall(0);
    auto& wheel = env.pip("numpy", "1.26.4");
    env.file(wheel, env.site() + "/numpy/core.py", "pip's");
    for (const auto depth : k_both) {
        REQUIRE(env.codes(depth) == Codes{"CE102"});
        CHECK(env.found({}, depth)[0].files == Paths{env.site() + "/numpy/core.py"});
    }
    CHECK(
        is_case(env.found()[0], "replaced",
                {{"manager", "pip"}, {"victim", "conda's numpy 1.26.4"}, {"same_version", "yes"}}));
}

TEST_CASE("what was built here over conda's package is never taken away") {
    ContextBuilder env;
    add_conda_numpy(env);
    pip_install_numpy(env);
    env.inventory.distributions[0].version = "2.0.0a0+git1234567";
    const auto found = env.found("CE102").at(0);
    CHECK(found.repairs.empty());
    CHECK(found.finding.fix->command.empty());
}

TEST_CASE(
    "pip over a conda package that contains pip's own INSTALLER is proved by the files on disk") {
    ContextBuilder env;
    auto& package = env.conda("six", "1.16.0");
    const auto path = env.site() + "/six.py";
    env.file(package, path, "conda's");
    auto& wheel = env.pip("six", "1.16.0");
    for (const auto* name : {"METADATA", "INSTALLER"}) {
        ContextBuilder::claim(package, wheel.metadata + '/' + name,
                              env.disk[wheel.metadata + '/' + name]);
    }
    env.claim(wheel, path, "the wheel's");
    CHECK(env.codes().empty()); // the RECORD was made before conda finished the file
    env.disk[path] = "the wheel's";
    CHECK(env.codes(CheckDepth::Records).empty());
    REQUIRE(env.codes() == Codes{"CE102"});
    CHECK(env.found()[0].files == Paths{path});
    env.disk[path] = "neither's";
    CHECK(env.codes() == Codes{"CE109"});
}

TEST_CASE("a conda package that pip uninstalled is reported and its files are restored") {
    ContextBuilder env;
    add_conda_numpy(env);
    env.conda_python("six", "1.16.0");
    env.uninstall(0);
    for (const auto depth : k_both) {
        REQUIRE(env.codes(depth) == Codes{"CE102"});
    }
    const auto found = env.found()[0];
    CHECK(is_case(found, "uninstalled", {{"victim", "conda's numpy 1.26.4"}}));
    CHECK(found.finding.severity == facts::Severity::Error);
    CHECK(found.files.size() == 5);
    CHECK(kinds(found) == kinds_of<RestoreConda>());
}

TEST_CASE("over conda's package nothing is put back where a build in its place is kept") {
    ContextBuilder env;
    const auto [package, own] = env.conda_python("torchlike", "1.0");
    env.file(package, env.site() + "/torchlike/a.py", "conda's");
    env.inventory.distributions.pop_back(); // pip has taken it away
    env.file(env.pip("torchlike", "2.0"), env.site() + "/torchlike/a.py", "the wheel's");
    REQUIRE(env.codes() == Codes{"CE102"});
    CHECK_FALSE(env.found()[0].repairs.empty());
    env.kept = {{"torchlike", "2.0+mine"}};
    CHECK(env.found()[0].repairs.empty()); // CE104's repair is the kept build
}

TEST_CASE("a wheel of another name that wrote over conda's files leaves the choice to the user") {
    ContextBuilder env;
    auto& package = env.conda("libcudnn", "8.9.7");
    env.file(package, "lib/libcudnn.so.8", "conda's");
    env.file(package, "lib/libcudnn_ops.so.8", "conda's");
    auto& wheel = env.pip("cudnn_wheel", "9.1");
    env.file(wheel, "lib/libcudnn.so.8", "the wheel's");
    for (const auto depth : k_both) {
        REQUIRE(env.codes(depth) == Codes{"CE102"});
        CHECK(env.found({}, depth)[0].files == Paths{"lib/libcudnn.so.8"});
    }
    const auto found = env.found()[0];
    CHECK(is_case(
        found, "two-packages",
        {{"writer", "pip's cudnn-wheel 9.1"}, {"n", "1"}, {"victim", "conda's libcudnn 8.9.7"}}));
    CHECK(found.repairs.empty());
    CHECK(found.finding.fix->command == "/env/bin/python -m pip uninstall -y cudnn-wheel && "
                                        "conda install -p /env --force-reinstall libcudnn=8.9.7=0");

    SECTION("of the same content nothing is said") {
        ContextBuilder same;
        same.file(same.conda("a", "1"), "lib/a.so", "one");
        same.file(same.pip("b", "1"), "lib/a.so", "one");
        CHECK(same.codes().empty());
        CHECK(same.codes(CheckDepth::Records).empty());
    }
    SECTION("nor, by the records alone, where both were written at one time") {
        ContextBuilder copied;
        auto& one = copied.conda("a", "1");
        copied.file(one, "lib/a.so", "one");
        auto& two = copied.pip("b", "1");
        copied.file(two, "lib/a.so", "two");
        two.installed_ns = one.written_ns;
        CHECK(copied.codes(CheckDepth::Records).empty());
        CHECK(copied.codes() == Codes{"CE102"});
    }
}

TEST_CASE("a file that conda wrote its prefix into proves nothing by the records alone") {
    ContextBuilder env;
    auto& package = env.conda("a", "1");
    facts::FileClaim claim;
    claim.hash = facts::ClaimHash::Sha256;
    claim.prefix_replaced = true;
    package.files.add("bin/tool", claim);
    env.file(env.pip("b", "1"), "bin/tool", "the wheel's");
    CHECK(env.codes(CheckDepth::Records).empty());
    CHECK(env.codes() == Codes{"CE102"});

    SECTION("nor does one that was packed and unpacked elsewhere") {
        ContextBuilder packed;
        packed.conda("a", "1").files.add(packed.site() + "/a.py", claim);
        packed.disk[packed.site() + "/a.py"] = "with another prefix";
        CHECK(packed.codes().empty());
    }
}

TEST_CASE("conda's package over pip's of another version is one finding") {
    ContextBuilder env;
    auto& wheel = env.pip("numpy", "2.0.0");
    env.file(wheel, env.site() + "/numpy/core.py", "pip's");
    env.file(wheel, env.site() + "/numpy/new.py", "pip's");
    auto [package, own] = env.conda_python("numpy", "1.26.4");
    env.file(package, env.site() + "/numpy/core.py", "conda's");
    static_cast<void>(own);
    for (const auto depth : k_both) {
        REQUIRE(env.codes(depth) == Codes{"CE103"});
        CHECK(env.found({}, depth)[0].files == Paths{env.site() + "/numpy/core.py"});
    }
    const auto found = env.found()[0];
    CHECK(is_case(found, "replaced",
                  {{"package", "numpy 1.26.4"},
                   {"victim", "pip's numpy 2.0.0"},
                   {"writer", "conda's numpy 1.26.4"},
                   {"overwrote", "yes"}}));
    CHECK(found.finding.evidence.size() == 3);
    CHECK(kinds(found) == kinds_of<UninstallPip>());
}

TEST_CASE("files that a conda update removed from pip's are reported with that update") {
    ContextBuilder env;
    auto& wheel = env.pip("numpy", "2.0.0");
    for (int i = 0; i < 5; ++i) {
        env.file(wheel, env.site() + "/numpy/f" + std::to_string(i) + ".py", "pip's");
    }
    env.conda_python("numpy", "2.1.0");
    env.disk.erase(env.site() + "/numpy/f0.py");
    REQUIRE(env.codes() == Codes{"CE103"});
    CHECK(
        is_case(env.found()[0], "replaced", {{"victim", "pip's numpy 2.0.0"}, {"overwrote", ""}}));
}

TEST_CASE("a conda package of another name over a wheel's files") {
    ContextBuilder env;
    env.file(env.pip("wheel_of", "1"), env.site() + "/shared/x.py", "the wheel's");
    env.file(env.conda("other", "2"), env.site() + "/shared/x.py", "conda's");
    for (const auto depth : k_both) {
        REQUIRE(env.codes(depth) == Codes{"CE103"});
    }
    CHECK(env.found()[0].repairs.empty());
}

TEST_CASE("a wheel over another's files is a finding if the content differs") {
    ContextBuilder env;
    auto& eleven = env.pip("nvidia_cuda_cupti_cu11", "11.8.89");
    const auto directory = env.site() + "/nvidia/cuda_cupti/";
    env.file(eleven, directory + "include/cuda.h", "of 11");
    env.file(eleven, directory + "include/same.h", "of both");
    env.file(eleven, env.site() + "/nvidia/__init__.py", "");
    env.file(eleven, directory + "lib/libcupti.so.11.0", "of 11");
    auto& twelve = env.pip("nvidia_cuda_cupti_cu12", "12.8.90");
    env.file(twelve, directory + "include/cuda.h", "of 12");
    env.file(twelve, directory + "include/same.h", "of both");
    env.file(twelve, env.site() + "/nvidia/__init__.py", "");
    env.file(twelve, directory + "lib/libcupti.so.12", "of 12");
    env.pip("torch", "2.8.0").requires_dist = {"nvidia-cuda-cupti-cu12==12.8.90; platform_system"};
    for (const auto depth : k_both) {
        REQUIRE(env.found("CE108", depth).size() == 1);
        CHECK(env.found("CE108", depth)[0].files == Paths{directory + "include/cuda.h"});
    }
    auto found = env.found("CE108").at(0);
    CHECK(is_case(found, "overwritten",
                  {{"writer", "nvidia-cuda-cupti-cu12 12.8.90"},
                   {"n", "1"},
                   {"victim", "nvidia-cuda-cupti-cu11 11.8.89"},
                   {"spare_victim", "yes"}}));
    // Nothing requires it, so that it may go.
    CHECK(kinds(found) == kinds_of<UninstallPip>());
    CHECK(repair_at<UninstallPip>(found, 0).distribution == "nvidia-cuda-cupti-cu11");

    env.inventory.distributions[2].requires_dist = {"NVIDIA_cuda-cupti.cu11 (>=11)"};
    found = env.found("CE108").at(0);
    CHECK(kinds(found) == kinds_of<UninstallPip, ReinstallPip>());
    CHECK(repair_at<UninstallPip>(found, 0).distribution == "nvidia-cuda-cupti-cu12");
    CHECK(repair_at<ReinstallPip>(found, 1).distribution == "nvidia-cuda-cupti-cu11");

    env.inventory.distributions[2].requires_dist.emplace_back(
        "nvidia-cuda-cupti-cu12==12.8.90; platform_system");
    found = env.found("CE108").at(0);
    CHECK(found.repairs.empty());
    CHECK(found.finding.fix->command ==
          "/env/bin/python -m pip uninstall -y nvidia-cuda-cupti-cu11 && /env/bin/python -m pip "
          "install --force-reinstall --no-deps nvidia-cuda-cupti-cu12==12.8.90");

    SECTION("and the uninstall of one takes what it shared with the other") {
        for (int i = 0; i < 4; ++i) {
            for (auto* cupti : {&env.inventory.distributions[0], &env.inventory.distributions[1]}) {
                env.file(*cupti, directory + "include/h" + std::to_string(i) + ".h", "of both");
            }
        }
        env.seen = {{"nvidia-cuda-cupti-cu11", "11.8.89", facts::Origin::Wheel, "", "", 0, 0}};
        env.uninstall(0);
        CHECK(env.codes(CheckDepth::Records).empty());
        REQUIRE(env.codes() == Codes{"CE107"});
        const auto gone = env.found()[0];
        CHECK(gone.files.size() == 7); // the empty __init__.py among them
        CHECK(is_case(gone, "pip",
                      {{"victim", "nvidia-cuda-cupti-cu12 12.8.90"},
                       {"n", "7"},
                       {"total", "10 files"},
                       {"reinstalled", "nvidia-cuda-cupti-cu12 12.8.90"}}));
        CHECK(gone.finding.evidence.size() == 5);
        CHECK(gone.finding.evidence[3].text == "missing, and 4 files more");
        CHECK(gone.finding.evidence[4].text.starts_with("nvidia-cuda-cupti-cu11 11.8.89"));
        CHECK(kinds(gone) == kinds_of<ReinstallPip>());
        CHECK_FALSE(gone.said_at_prompt);
    }
}

TEST_CASE("of a GPU build and its CPU build the GPU build stays, whichever was installed last") {
    ContextBuilder env;
    auto& gpu = env.pip("onnxruntime_gpu", "1.19.2");
    env.file(gpu, env.site() + "/onnxruntime/capi.so", "of the GPU build");
    auto& cpu = env.pip("onnxruntime", "1.19.2");
    env.file(cpu, env.site() + "/onnxruntime/capi.so", "of the CPU build");
    auto found = env.found("CE108").at(0);
    CHECK(kinds(found) == kinds_of<UninstallPip, ReinstallPip>());
    CHECK(repair_at<UninstallPip>(found, 0).distribution == "onnxruntime");
    CHECK(repair_at<ReinstallPip>(found, 1).distribution == "onnxruntime-gpu");

    env.inventory.distributions[1].requested = true; // nobody's choice is taken away
    found = env.found("CE108").at(0);
    CHECK(found.repairs.empty());
    CHECK(found.finding.fix->command.empty());
}

TEST_CASE("the records do not say which of the wheels that uv installed at once wrote last") {
    ContextBuilder env;
    auto& one = env.pip("opencv_a", "5.0", "uv");
    env.file(one, env.site() + "/cv2/cv2.so", "of a");
    auto& two = env.pip("opencv_b", "5.0", "uv");
    env.file(two, env.site() + "/cv2/cv2.so", "of b");
    CHECK(is_case(env.found("CE108", CheckDepth::Records).at(0), "overwritten",
                  {{"writer", "opencv-b 5.0"}, {"victim", "opencv-a 5.0"}}));
    two.installed_ns = one.installed_ns + 1000;
    env.disk[env.site() + "/cv2/cv2.so"] = "of a";
    const auto found = env.found("CE108", CheckDepth::Records).at(0);
    CHECK(is_case(found, "order-unknown",
                  {{"one", "opencv-a 5.0"}, {"other", "opencv-b 5.0"}, {"n", "1"}}));
    CHECK(found.repairs.empty());
    CHECK(is_case(env.found("CE108").at(0), "overwritten",
                  {{"writer", "opencv-a 5.0"}, {"victim", "opencv-b 5.0"}}));

    // pip lays down one after the other
    one.installer = two.installer = "pip";
    CHECK(is_case(env.found("CE108", CheckDepth::Records).at(0), "overwritten",
                  {{"writer", "opencv-b 5.0"}, {"victim", "opencv-a 5.0"}}));
    two.installed_ns = one.installed_ns;
    CHECK(is_case(env.found("CE108", CheckDepth::Records).at(0), "order-unknown"));
}

TEST_CASE("packages of one namespace, and what many wheels write to one place, do no harm") {
    ContextBuilder env;
    for (const std::string name : {"google_a", "google_b"}) {
        auto& wheel = env.pip(name, "1");
        const auto& site = env.site();
        env.file(wheel, site + "/google/__init__.py", "extend_path, as " + name + " writes it");
        env.file(wheel, site + "/google/" + name + "/core.py", name);
        env.file(wheel, site + "/tests/__init__.py", "tests of " + name);
        env.file(wheel, site + "/LICENSE", "of " + name);
        env.file(wheel, site + "/README.md", "of " + name);
        env.file(wheel, "share/doc/README", "of " + name);
    }
    for (const auto depth : k_both) {
        CHECK(env.codes(depth).empty());
    }
    SECTION("also where modules lie beside the lines that declare a namespace which is known") {
        for (auto& wheel : env.inventory.distributions) {
            env.file(wheel, env.site() + "/backports/__init__.py", "extend_path, " + wheel.name);
            env.file(wheel, env.site() + "/backports/" + wheel.name + ".py", "x");
        }
        for (const auto depth : k_both) {
            CHECK(env.codes(depth).empty());
        }
    }
    SECTION("but two packages of one name, of which each has its modules, do") {
        for (auto& wheel : env.inventory.distributions) {
            env.file(wheel, env.site() + "/slugify/__init__.py", "from ." + wheel.name);
            env.file(wheel, env.site() + "/slugify/" + wheel.name + ".py", "x");
        }
        for (const auto depth : k_both) {
            REQUIRE(env.codes(depth) == Codes{"CE108"});
        }
    }
    SECTION("also when one of them is uninstalled") {
        env.uninstall(0);
        env.disk[env.site() + "/google/__init__.py"] = "extend_path, as google_b writes it";
        CHECK(env.codes().empty());
    }
    SECTION("but a package that two wheels lay down does") {
        for (auto& wheel : env.inventory.distributions) {
            env.file(wheel, env.site() + "/cv2/__init__.py", "of " + wheel.name);
        }
        for (const auto depth : k_both) {
            REQUIRE(env.codes(depth) == Codes{"CE108"});
        }
    }
}

TEST_CASE("an empty __init__.py that an uninstall took along is not missed") {
    ContextBuilder env;
    auto& wheel = env.pip("nvidia_nvtx_cu12", "12.8");
    env.file(wheel, env.site() + "/nvidia/__init__.py", "");
    env.file(wheel, env.site() + "/nvidia/nvtx/lib/libnvToolsExt.so.1", "x");
    env.disk.erase(env.site() + "/nvidia/__init__.py");
    CHECK(env.codes().empty());
}

TEST_CASE("code that changed without a record is a note, and nothing overwrites it") {
    ContextBuilder env;
    auto [package, own] = env.conda_python("numpy", "1.26.4");
    static_cast<void>(own);
    const auto path = env.site() + "/numpy/core.py";
    env.file(package, path, "conda's");
    env.file(package, "etc/numpy.conf", "conda's");
    env.file(package, env.site() + "/numpy/data.json", "conda's");
    auto& six = env.pip("six", "1.16.0");
    env.file(six, env.site() + "/six.py", "pip's");
    env.file(six, env.site() + "/six/more.py", "pip's");
    env.file(six, env.site() + "/six/moves.py", "pip's");
    CHECK(env.codes().empty());
    env.disk["etc/numpy.conf"] = "mine";
    env.disk[env.site() + "/numpy/data.json"] = "mine";
    env.disk[env.site() + "/six/__pycache__/x.pyc"] = "mine";
    CHECK(env.codes().empty());
    env.disk[path] = "a print for debugging";
    env.disk.erase(env.site() + "/six.py");
    CHECK(env.codes(CheckDepth::Records).empty());
    REQUIRE(env.codes() == Codes{"CE109", "CE109"});
    const auto found = env.found();
    CHECK(found[0].files == Paths{path});
    CHECK(found[0].repairs.empty());
    CHECK_FALSE(found[0].said_at_prompt);
    CHECK(is_case(found[0], "changed",
                  {{"n", "1"}, {"victim", "conda's numpy 1.26.4"}, {"deleted", ""}}));
    CHECK(found[0].finding.fix->command ==
          "conda install -p /env --force-reinstall numpy=1.26.4=0");
    CHECK(found[0].finding.evidence[1].text == "changed");
    CHECK(is_case(found[1], "missing", {{"n", "1"}, {"victim", "pip's six 1.16.0"}}));
    CHECK(found[1].finding.fix->command == "/env/bin/python -m pip install --force-reinstall "
                                           "--no-deps six==1.16.0");
}

TEST_CASE("a file with conda's prefix is reported where another of its package is as recorded") {
    ContextBuilder env;
    auto& package = env.conda("liba", "1");
    for (const char* path : {"lib/liba.so.1", "lib/libb.so.1"}) {
        facts::FileClaim claim;
        claim.hash = facts::ClaimHash::Sha256;
        claim.sha256 = cudaenv::testing::sha256("with the prefix");
        claim.prefix_replaced = true;
        package.files.add(path, claim);
        env.disk[path] = "with the prefix";
    }
    CHECK(env.codes().empty());
    env.disk["lib/liba.so.1"] = "cut";
    REQUIRE(env.codes() == Codes{"CE109"});
    CHECK(env.found()[0].files == Paths{"lib/liba.so.1"});
    // As conda-pack leaves it in another place.
    env.disk["lib/libb.so.1"] = "with another prefix";
    CHECK(env.codes().empty());
}

TEST_CASE("a file of conda's that is only missing is put back") {
    ContextBuilder env;
    auto& package = env.conda("libx", "1");
    env.file(package, "lib/libx.so.1", "x");
    env.file(package, "share/x/data", "x");
    env.file(package, "lib/liby.so.1", "y");
    env.file(package, "lib/libz.so.1", "z");
    env.disk.erase("share/x/data");
    CHECK(env.codes().empty());
    env.disk.erase("lib/libx.so.1");
    REQUIRE(env.codes() == Codes{"CE109"});
    const auto found = env.found()[0];
    REQUIRE(kinds(found) == kinds_of<RestoreConda>());
    CHECK(repair_at<RestoreConda>(found, 0).files == Paths{"lib/libx.so.1", "share/x/data"});
}

TEST_CASE("a distribution whose record points at nothing is reported, and its kept copy is used") {
    ContextBuilder env;
    auto& wheel = env.pip("apex", "0.1");
    env.file(wheel, env.site() + "/apex/a.py", "x");
    env.file(wheel, env.site() + "/apex/b.py", "x");
    env.file(wheel, env.site() + "/apex/c.py", "x");
    env.disk.erase(env.site() + "/apex/a.py");
    CHECK(env.codes() == Codes{"CE109"}); // not most of them
    env.disk.erase(env.site() + "/apex/b.py");
    REQUIRE(env.codes() == Codes{"CE107"});
    env.kept = {{"apex", "0.1"}};
    CHECK(kinds(env.found()[0]) == kinds_of<RestoreKept>());
    env.kept.clear();
    env.inventory.distributions[0].version = "0.1+cu118"; // of an index that is not known
    CHECK(env.found()[0].repairs.empty());
    env.inventory.distributions[0].direct_url = {
        "https://a/apex.git", false, "git", "664058f", "", ""};
    CHECK(is_case(env.found()[0], "pip", {{"source", "git+https://a/apex.git@664058f"}}));
}

TEST_CASE("records of the system's packages do not fit their files, and nothing is said of it") {
    ContextBuilder env;
    env.inventory.sites = {"lib/python3/dist-packages"};
    auto& distribution = env.bare("requests", "2.28.1", "");
    env.file(distribution, env.site() + "/requests/a.py", "x");
    env.claim(distribution, env.site() + "/requests/cacert.pem", "replaced");
    env.disk[env.site() + "/requests/a.py"] = "patched";
    CHECK(env.codes().empty());
}

TEST_CASE("names that are not UTF-8 are escaped for a terminal and JSON") {
    ContextBuilder env;
    env.inventory.prefix = "/e\xff";
    auto& wheel = env.pip("six\x1b\xfe", "1");
    env.file(wheel, env.site() + "/six/\xfd.py", "x");
    env.disk.erase(env.site() + "/six/\xfd.py");
    const auto found = env.found("CE107").at(0);
    CHECK(found.subject == "six\\x1b\\xfe");
    CHECK(found.finding.title.starts_with("six\\x1b\\xfe 1 "));
    CHECK(found.finding.evidence[1].path == "/e\xff/" + env.site() + "/six/\xfd.py"); // bytes

    // no command could be pasted
    env.inventory.conda_prefix = true;
    env.disk[env.site() + "/six/\xfd.py"] = "changed";
    CHECK(env.found("CE109").at(0).finding.fix->command.empty());
}

TEST_CASE("links made by hand and unreadable files are no findings") {
    ContextBuilder env;
    auto& six = env.pip("six", "1.16.0");
    env.file(six, env.site() + "/six.py", "pip's");
    const CheckContext& context = env.context();
    for (const auto lies : {facts::Lies::Link, facts::Lies::Unreadable, facts::Lies::Redirected}) {
        facts::Examined examined;
        examined.add(env.site() + "/six.py", {lies, {}, 0, 0});
        CheckContext looked = context;
        looked.examined = &examined;
        CHECK(check(looked, CheckDepth::Everything).empty());
    }
}

TEST_CASE("two conda packages that own one library with different content are one note") {
    ContextBuilder env;
    auto& one = env.conda("libone", "1.0");
    auto& two = env.conda("libtwo", "2.0");
    env.file(one, "lib/libshared.so", "of one");
    SECTION("with different content") {
        env.file(two, "lib/libshared.so", "of two");
        const auto found = env.found("CE116");
        REQUIRE(found.size() == 1);
        CHECK(env.codes() == Codes{"CE116"});
        CHECK(found[0].finding.severity == facts::Severity::Note);
        CHECK(found[0].files == std::vector<std::string>{"lib/libshared.so"});
        CHECK(is_case(found[0], "", {{"one", "libone 1.0"}, {"other", "libtwo 2.0"}, {"n", "1"}}));
    }
    SECTION("silent where the content is the same") {
        env.file(two, "lib/libshared.so", "of one");
        CHECK(env.found("CE116").empty());
    }
    SECTION("silent of documents") {
        env.file(one, "share/doc/README", "of one");
        env.file(two, "share/doc/README", "of two");
        CHECK(env.found("CE116").empty());
    }
}

} // namespace
} // namespace cudaenv::rules::testing
