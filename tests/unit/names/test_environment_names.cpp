#include "host/names/environment_names.hpp"
#include "tests/support/fake_disk.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::names {
namespace {

using Lines = std::vector<std::string>;

struct Place {
    test::FakeDisk disk;
    host::Environment environment;
    std::string directory = "/lab/here";
    bool root_is_writable = true;

    Place() {
        disk.directory("/opt/conda/conda-meta").program("/opt/conda/bin/conda");
        environment = {{"CONDA_EXE", "/opt/conda/bin/conda"}, {"HOME", "/home/u"}};
    }
    void conda(const std::string& prefix) { disk.directory(prefix + "/conda-meta"); }
    SearchTools tools() {
        return search_tools(
            {&disk,
             {&environment, "/home/u", directory},
             [this](const std::string&) { return root_is_writable; },
             [this](const std::string& path) {
                 const auto text = disk.read_file(path);
                 return text ? trusted::TrustedFile{*text, {}} : trusted::TrustedFile{};
             }});
    }
    Result<std::string> find(const std::string& name) { return prefix_named(name, tools(), disk); }
};

TEST_CASE("a name is looked up in conda's order: variables, condarc files, root, home") {
    Place place;
    place.conda("/home/u/.conda/envs/a");
    CHECK(place.find("a") == "/home/u/.conda/envs/a");
    place.conda("/opt/conda/envs/a");
    CHECK(place.find("a") == "/opt/conda/envs/a");
    place.root_is_writable = false;
    CHECK(place.find("a") == "/home/u/.conda/envs/a");
    place.disk.file("/etc/conda/condarc.d/site.yaml", "envs_dirs: [/site]\n");
    place.conda("/site/a");
    CHECK(place.find("a") == "/site/a");
    place.disk.file("/home/u/.condarc", "envs_dirs:\n  - ~/mine\n  - $SCRATCH/envs\n");
    place.environment["SCRATCH"] = "/scratch/u";
    place.conda("/scratch/u/envs/a");
    CHECK(place.find("a") == "/scratch/u/envs/a");
    place.environment["CONDA_ENVS_PATH"] = "/x: /listed";
    place.conda("/listed/a");
    CHECK(place.find("a") == "/listed/a");
}

TEST_CASE("base and root are conda's root prefix") {
    Place place;
    CHECK(place.find("base") == "/opt/conda");
    CHECK(place.find("root") == "/opt/conda");
    CHECK(name_of_prefix("/opt/conda", place.tools()) == "base");
    CHECK(name_of_prefix("/opt/conda/envs/a", place.tools()) == "a");
}

TEST_CASE("where tools of one shell mean different directories, both are listed") {
    Place place;
    place.environment["MAMBA_ROOT_PREFIX"] = "/home/u/micromamba";
    place.conda("/home/u/micromamba/envs/a");
    CHECK(place.find("a") == "/home/u/micromamba/envs/a");
    place.conda("/opt/conda/envs/a");
    const auto both = place.find("a");
    REQUIRE_FALSE(both);
    CHECK(both.error().code == "ambiguous-environment");
    CHECK(both.error().message.find("/opt/conda/envs/a") != std::string::npos);
    CHECK(both.error().message.find("/home/u/micromamba/envs/a") != std::string::npos);
    CHECK(place.find("base") == "/opt/conda"); // micromamba's root is no environment
}

TEST_CASE("two paths to one directory are one environment") {
    Place place;
    place.environment["MAMBA_ROOT_PREFIX"] = "/home/u/micromamba";
    place.conda("/opt/conda/envs/a");
    place.disk.link("/home/u/micromamba/envs", "/opt/conda/envs");
    CHECK(place.find("a") == "/opt/conda/envs/a");
}

TEST_CASE("mamba has its own files, and base of its root") {
    Place place;
    place.environment = {{"MAMBA_ROOT_PREFIX", "/m"}, {"HOME", "/home/u"}};
    place.conda("/m");
    place.disk.file("/home/u/.mambarc", "envs_dirs: [~/kept]\n");
    place.conda("/home/u/kept/a");
    CHECK(place.find("a") == "/home/u/kept/a");
    CHECK(place.find("base") == "/m");
}

TEST_CASE("pixi's environments are known in their project and from pixi global") {
    Place place;
    place.directory = "/lab/here/src";
    place.conda("/lab/here/.pixi/envs/test");
    place.conda("/home/u/.pixi/envs/tool");
    CHECK(place.find("test") == "/lab/here/.pixi/envs/test");
    CHECK(place.find("tool") == "/home/u/.pixi/envs/tool");
    place.conda("/opt/conda/envs/test");
    CHECK(place.find("test").error().code == "ambiguous-environment");
}

TEST_CASE("what is registered only is found by its directory's name") {
    Place place;
    place.conda("/data/a");
    place.disk.file("/home/u/.conda/environments.txt", "/gone/a\n/data/a\n/data/a\n");
    CHECK(place.find("a") == "/data/a");
    place.conda("/gone/a");
    CHECK(place.find("a").error().code == "ambiguous-environment");
    place.conda("/opt/conda/envs/a");
    CHECK(place.find("a") == "/opt/conda/envs/a");
}

TEST_CASE("a broken condarc is noted, and what is elsewhere is found") {
    Place place;
    place.disk.file("/home/u/.condarc", "envs_dirs: [/a\n");
    place.conda("/opt/conda/envs/a");
    CHECK(place.find("a") == "/opt/conda/envs/a");
    const auto tools = place.tools();
    REQUIRE(tools.notes.size() == 1);
    CHECK(tools.notes[0].starts_with("/home/u/.condarc: ignored: line 2: "));
    const auto missing = place.find("b");
    CHECK(missing.error().code == "no-such-environment");
    CHECK(missing.error().hint.find("/home/u/.condarc") != std::string::npos);
}

TEST_CASE("variables that were not sent are named, and stay as they are written") {
    Place place;
    place.disk.file("/home/u/.condarc", "envs_dirs: ['${LAB}/envs', $LAB/$HOME]\n");
    const auto tools = place.tools();
    CHECK(tools.unset == std::set<std::string>{"LAB"});
    CHECK(tools.active[0].directories[0] == "/lab/here/${LAB}/envs");
}

TEST_CASE("a directory of that name that is no environment is named") {
    Place place;
    place.disk.directory("/opt/conda/envs/a");
    const auto found = place.find("a");
    CHECK(found.error().code == "no-such-environment");
    CHECK(found.error().path == "/opt/conda/envs/a");
    CHECK(place.find("../envs").error().code == "no-such-environment");
}

} // namespace
} // namespace cudaenv::names
