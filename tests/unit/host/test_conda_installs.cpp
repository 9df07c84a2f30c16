#include "host/conda_installs.hpp"
#include "tests/support/fake_disk.hpp"
#include "tests/support/fake_processes.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::host {
namespace {

using test::FakeDisk;
using test::FakeProcesses;

struct Look {
    FakeDisk disk;
    FakeProcesses processes;
    Environment environment;

    CondaFindings find() {
        VersionCache cache("", 0);
        const VersionAsker asker{processes, cache, environment};
        return find_conda(disk, environment, "/home/u", asker);
    }
};

std::vector<std::string> shown(const CondaFindings& findings) {
    std::vector<std::string> lines;
    for (const auto& install : findings.installs) {
        lines.push_back(install.kind + ' ' + install.path + ' ' + install.version.value_or("?"));
    }
    return lines;
}
using Lines = std::vector<std::string>;

void add_miniforge(FakeDisk& disk, const std::string& root) {
    disk.program(root + "/bin/conda", "#!" + root + "/bin/python\n")
        .program(root + "/condabin/conda", "#!" + root + "/bin/python\n")
        .file(root + "/conda-meta/conda-26.7.1-py312h7900ff3_0.json")
        .file(root + "/conda-meta/conda-libmamba-solver-24.9.0-pyhd8ed1ab_0.json")
        .file(root + "/conda-meta/mamba-2.3.0-h753d276_0.json")
        .directory(root + "/envs/apex/bin")
        .directory(root + "/envs/.hidden");
}

TEST_CASE("conda and mamba of a root are known from conda-meta, without running them") {
    Look look;
    add_miniforge(look.disk, "/home/u/miniforge3");
    look.environment = {{"CONDA_EXE", "/home/u/miniforge3/bin/conda"},
                        {"PATH", "/home/u/miniforge3/condabin:/home/u/miniforge3/bin"},
                        {"CONDA_PREFIX", "/home/u/miniforge3/envs/apex"}};
    const auto found = look.find();
    CHECK(shown(found) ==
          Lines{"conda /home/u/miniforge3 26.7.1", "mamba /home/u/miniforge3 2.3.0"});
    CHECK(found.prefixes == Lines{"/home/u/miniforge3/envs/apex", "/home/u/miniforge3"});
    CHECK(found.installs[0].source.find("conda-meta/conda-26.7.1") != std::string::npos);
    CHECK(look.processes.started.empty());
}

TEST_CASE("micromamba and pixi are asked, as no file contains their version") {
    Look look;
    look.disk.program("/home/u/.local/bin/micromamba").program("/home/u/.pixi/bin/pixi");
    look.processes.answer("/home/u/.local/bin/micromamba --version", "2.8.1\n")
        .answer("/home/u/.pixi/bin/pixi --version", "pixi 0.40.0\n");
    look.environment = {{"MAMBA_EXE", "/home/u/.local/bin/micromamba"},
                        {"PATH", "/home/u/.local/bin:/home/u/.pixi/bin"}};
    CHECK(shown(look.find()) == Lines{"micromamba /home/u/.local/bin/micromamba 2.8.1",
                                      "pixi /home/u/.pixi/bin/pixi 0.40.0"});
    CHECK(look.processes.started.size() == 2);
}

TEST_CASE("an install in its usual home is found without any variable") {
    Look look;
    add_miniforge(look.disk, "/opt/conda");
    CHECK(shown(look.find()).front() == "conda /opt/conda 26.7.1");
}

TEST_CASE("environments are known from every list, each once") {
    Look look;
    look.disk.directory("/home/u/micromamba/envs/a")
        .directory("/scratch/env")
        .file("/home/u/.conda/environments.txt",
              "/scratch/env\n/home/u/micromamba/envs/a\n/gone\nrelative\n")
        .directory("/data/envs/b");
    look.environment = {{"MAMBA_ROOT_PREFIX", "/home/u/micromamba"},
                        {"CONDA_ENVS_PATH", "/data/envs"}};
    CHECK(look.find().prefixes ==
          Lines{"/data/envs/b", "/home/u/micromamba/envs/a", "/scratch/env"});
}

TEST_CASE("a variable that names no program is noted, and a machine without conda says so") {
    Look look;
    look.environment = {{"CONDA_EXE", "/gone/bin/conda"}};
    const auto found = look.find();
    CHECK(found.installs.empty());
    CHECK_FALSE(found.absent.empty());
    REQUIRE(found.notes.size() == 1);
    CHECK(found.notes[0].find("/gone/bin/conda") != std::string::npos);
}

TEST_CASE("what the tools print is read") {
    CHECK(parse_tool_version("2.8.1\n") == "2.8.1");
    CHECK(parse_tool_version("pixi 0.40.0\n") == "0.40.0");
    CHECK(parse_tool_version("error: no\n").empty());
    CHECK(parse_tool_version("").empty());
}

} // namespace
} // namespace cudaenv::host
