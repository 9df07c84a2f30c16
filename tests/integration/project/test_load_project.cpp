#include "host/project/project.hpp"
#include "scratch.hpp"

#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <sys/stat.h>

using namespace cudaenv;
using namespace cudaenv::project;

namespace {

LoadOptions with_config(const Scratch& scratch) {
    LoadOptions options;
    options.config = ConfigPaths{scratch.path("etc/config.toml"), scratch.path("home/config.toml")};
    return options;
}

std::string shown(const pins::EffectivePins& pins) {
    std::string out;
    for (const auto& [pin, source] : pins.pins) {
        out += (out.empty() ? "" : ", ") + pin.name + ' ' + pin.constraint + " from " +
               std::string(pins::name_of(source));
    }
    return out;
}

} // namespace

TEST_CASE("an environment's own pins count where its owner or the user has written them") {
    if (!is_root()) {
        SKIP("needs files of several owners; run as root");
    }
    constexpr uid_t k_owner = 4321;
    const Scratch scratch;
    const std::string file =
        scratch.write("e/conda-meta/cudaenv.toml", "[pins]\npython = \"3.9\"\n");
    const auto pinned = [&] {
        LoadOptions options = with_config(scratch);
        options.prefix = scratch.path("e");
        const auto loaded = load_project(scratch.path(), {}, options);
        return loaded && loaded->pins.find("python") != nullptr;
    };
    CHECK(pinned());
    ::chmod(file.c_str(), 0666);
    CHECK_FALSE(pinned());
    ::chmod(file.c_str(), 0644);
    give(file, k_owner);
    CHECK_FALSE(pinned());
    give(scratch.path("e"), k_owner);
    CHECK(pinned());
    give(file, 4322);
    CHECK_FALSE(pinned());
}

TEST_CASE("settings that somebody else can have written do not count, and are reported once") {
    const Scratch scratch;
    const std::string file =
        scratch.write("home/config.toml", "[activate]\ntrusted_groups = [\"lab\"]\n");
    const auto loaded = [&] { return load_project(scratch.path(), {}, with_config(scratch)); };
    CHECK(loaded()->config.trusted_groups() == std::vector<std::string>{"lab"});
    ::chmod(file.c_str(), 0666);
    const auto open = loaded();
    REQUIRE(open);
    CHECK(open->config.trusted_groups().empty());
    REQUIRE(open->skipped.size() == 1);
    CHECK(open->skipped[0].path == file);
    CHECK(open->notes == std::vector<std::string>{open->skipped[0].text()});
    if (is_root()) {
        ::chmod(file.c_str(), 0664);
        REQUIRE(::chown(file.c_str(), 0, 54321) == 0);
        // Groups that it names itself do not make it trusted.
        CHECK(loaded()->skipped.at(0).remedy == "chmod g-w " + file);
        give(file, 4321);
        CHECK(loaded()->skipped.at(0).why == "belongs to uid 4321, not to root");
    }
}

TEST_CASE(
    "settings that would be passed over are not edited, and what is made is not the group's") {
    const Scratch scratch;
    ConfigPaths paths;
    paths.user = scratch.path("home/cudaenv/config.toml");
    const std::vector<std::string> words{"true"};
    const auto change = [&] {
        return change_config(paths, "activate.keep_cuda_home", pins::ConfigAction::Set, words);
    };
    const mode_t mask = ::umask(002);
    CHECK(change());
    ::umask(mask);
    struct stat status {};
    REQUIRE(::stat(paths.user.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0644U);
    const std::string text = scratch.read("home/cudaenv/config.toml");
    ::chmod(paths.user.c_str(), 0666);
    const auto refused = [&] {
        const auto changed =
            change_config(paths, "activate.keep_cuda_home", pins::ConfigAction::Set,
                          std::vector<std::string>{"false"});
        return !changed && changed.error().code == "unsafe-place" &&
               scratch.read("home/cudaenv/config.toml") == text;
    };
    CHECK(refused());
    ::chmod(paths.user.c_str(), 0644);
    ::chmod(scratch.path("home/cudaenv").c_str(), 0777);
    CHECK(refused());
    ::chmod(scratch.path("home/cudaenv").c_str(), 0700);
    CHECK(change());
    if (is_root()) {
        give(paths.user, 4321);
        CHECK(refused());
    }
}

TEST_CASE("in a directory that was removed there is no project, and no other is taken for it") {
    const Scratch scratch;
    LoadOptions options = with_config(scratch);
    CHECK(load_project(scratch.path("gone"), {}, options).error().code == "no-directory");
    options.unknown = pins::UnknownKeys::Note;
    const auto loaded = load_project(scratch.path("gone"), {}, options);
    REQUIRE(loaded);
    CHECK_FALSE(loaded->search.found);
    CHECK(loaded->notes.size() == 1);
}

TEST_CASE("all places that pin are merged in their order, each pin with its line") {
    const Scratch scratch;
    scratch.write("p/cudaenv.toml", "[pins]\ncuda = \"11.3\"\ntorch = \"1.12\"\ncudnn = \"8\"\n");
    scratch.write("p/cudaenv.local.toml", "[pins]\ntorch = \"1.13\"\n[resolve]\nfor = \"build\"\n");
    scratch.write("e/conda-meta/history", "");
    scratch.write("e/conda-meta/cudaenv.toml", "[pins]\npython = \"3.9\"\ncudnn = \"9\"\n");
    scratch.write("home/config.toml", "[pins]\ngcc = \"9\"\npython = \"3.12\"\n");
    scratch.write("etc/config.toml",
                  "[pins]\ngcc = \"8\"\nnccl = \"2\"\n[toolkits]\ndirectories = [\"/opt/x\"]\n");
    scratch.make_directory("p/src");
    const host::Environment environment{{"CUDAENV_CUDA", "12.1"},
                                        {"CONDA_PREFIX", scratch.path("e")}};

    const auto loaded = load_project(scratch.path("p/src"), environment, with_config(scratch));
    REQUIRE(loaded);
    CHECK(shown(loaded->pins) == "cuda 12.1 from this shell, cudnn 8 from the project, gcc 9 from "
                                 "the user's default, nccl 2 from "
                                 "the administrator's default, python 3.9 from the environment, "
                                 "torch 1.13 from the project's "
                                 "local file");
    CHECK(loaded->pins.find("cuda")->pin.origin == "CUDAENV_CUDA");
    CHECK(loaded->pins.find("torch")->pin.origin ==
          scratch.path("p/cudaenv.local.toml") + " line 2");
    CHECK(loaded->pins.find("python")->pin.origin ==
          scratch.path("e/conda-meta/cudaenv.toml") + " line 2");
    CHECK(loaded->pins.warnings() ==
          std::vector<std::string>{"cuda 12.1 (CUDAENV_CUDA) overrides 11.3 (" +
                                       scratch.path("p/cudaenv.toml") + " line 2)",
                                   "cudnn 8 (" + scratch.path("p/cudaenv.toml") +
                                       " line 4) overrides 9 (" +
                                       scratch.path("e/conda-meta/cudaenv.toml") + " line 3)"});
    CHECK(loaded->config.purpose() == pins::Purpose::Build);
    CHECK(loaded->config.toolkit_directories() == std::vector<std::string>{"/opt/x"});
    CHECK(loaded->prefix == scratch.path("e"));
    CHECK(loaded->notes.empty());
}

TEST_CASE("without any file nothing is pinned") {
    const Scratch scratch;
    const auto loaded = load_project(scratch.path(), {}, with_config(scratch));
    REQUIRE(loaded);
    CHECK(loaded->pins.pins.empty());
    CHECK_FALSE(loaded->project);
    CHECK(loaded->prefix.empty());
}

TEST_CASE("a file with a mistake is an error that names file, line and column") {
    const Scratch scratch;
    const std::string file = scratch.write("cudaenv.toml", "[pins]\ncudaa = \"11\"\n");
    const auto loaded = load_project(scratch.path(), {}, with_config(scratch));
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().path == file);
    CHECK(loaded.error().line == 2);
    CHECK(loaded.error().column == 1);
    LoadOptions lenient = with_config(scratch);
    lenient.unknown = pins::UnknownKeys::Note;
    const auto noted = load_project(scratch.path(), {}, lenient);
    REQUIRE(noted);
    CHECK(noted->notes == std::vector<std::string>{
                              file + " line 2: unknown pin \"cudaa\"; did you mean \"cuda\"?"});
}

TEST_CASE("a wrong CUDAENV_CUDA is reported as such") {
    const Scratch scratch;
    const auto load = [&](const char* value) {
        return load_project(scratch.path(), {{"CUDAENV_CUDA", value}}, with_config(scratch));
    };
    CHECK(load("eleven").error().path == "CUDAENV_CUDA");
    CHECK(load("torch=1.12").error().message == "\"torch=1.12\" is not a CUDA version");
    CHECK(load("")->pins.pins.empty());
    CHECK(load("cu113")->pins.find("cuda")->pin.constraint == "11.3");
}

TEST_CASE("a file that may not be trusted is named in the notes and pins nothing") {
    const Scratch scratch;
    ::chmod(scratch.write("cudaenv.toml", "[pins]\ncuda = \"11\"\n").c_str(), 0666);
    const auto loaded = load_project(scratch.path(), {}, with_config(scratch));
    REQUIRE(loaded);
    CHECK(loaded->pins.pins.empty());
    REQUIRE(loaded->notes.size() == 1);
    CHECK(loaded->notes[0].find("is writable by everyone") != std::string::npos);
}

TEST_CASE("of a venv and a conda env the one first on PATH is active") {
    const auto active = [](const char* path) {
        return active_prefix({{"VIRTUAL_ENV", "/v"}, {"CONDA_PREFIX", "/c"}, {"PATH", path}});
    };
    CHECK(active("/v/bin:/c/bin") == "/v");
    CHECK(active("/c/bin:/v/bin:/bin") == "/c");
    CHECK(active("/bin") == "/v");
    CHECK(active("/c/bin") == "/c");
    CHECK(active_prefix({{"CONDA_PREFIX", "/c"}}) == "/c");
    CHECK(active_prefix({}).empty());
}

TEST_CASE("the user's config stands where the environment says") {
    CHECK(config_paths({{"HOME", "/h"}}).user == "/h/.config/cudaenv/config.toml");
    CHECK(config_paths({{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/x"}}).user ==
          "/x/cudaenv/config.toml");
    CHECK(config_paths({{"HOME", "/h"}, {"XDG_CONFIG_HOME", "rel"}}).user ==
          "/h/.config/cudaenv/config.toml");
    CHECK(config_paths({{"XDG_CONFIG_HOME", "/x"}, {"CUDAENV_CONFIG_DIR", "/d"}}).user ==
          "/d/config.toml");
    CHECK(config_paths({}).user.empty());
    CHECK(config_paths({}).system == "/etc/cudaenv/config.toml");
}

TEST_CASE("config set makes the user's file and its directories, for the user alone") {
    const Scratch scratch;
    const ConfigPaths paths{scratch.path("none"), scratch.path("h/.config/cudaenv/config.toml")};
    const std::vector<std::string> words{"pytorch", "conda-forge"};
    const auto path = change_config(paths, "resolve.channels", pins::ConfigAction::Set, words);
    REQUIRE(path);
    CHECK(*path == paths.user);
    CHECK(scratch.read("h/.config/cudaenv/config.toml") ==
          "[resolve]\nchannels = [\"pytorch\", \"conda-forge\"]\n");
    struct stat status {};
    REQUIRE(::stat(scratch.path("h/.config/cudaenv").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0700);
    // A wrong value makes nothing.
    const ConfigPaths other{scratch.path("none"), scratch.path("other/config.toml")};
    CHECK_FALSE(change_config(other, "resolve.for", pins::ConfigAction::Set, words));
    CHECK_FALSE(std::filesystem::exists(scratch.path("other")));
}
