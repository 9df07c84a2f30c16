#include "host/project/pin_change.hpp"
#include "scratch.hpp"

#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace cudaenv;
using namespace cudaenv::project;
namespace fs = std::filesystem;

namespace {

Result<PinChange> pin(const std::string& directory, std::vector<std::string> specs,
                      PinPlace place = PinPlace::Nearest,
                      const host::Environment& environment = {}) {
    PinTarget target;
    target.place = place;
    return change_pins(target, directory, environment, specs, PinAction::Set);
}

Result<PinChange> unpin(const std::string& directory, std::vector<std::string> names) {
    return change_pins({}, directory, {}, names, PinAction::Remove);
}

} // namespace

TEST_CASE("pin makes a project file in the directory where none counts") {
    const Scratch scratch;
    const auto change = pin(scratch.path(), {"11.3"});
    REQUIRE(change);
    CHECK(change->path == scratch.path("cudaenv.toml"));
    CHECK(change->created);
    REQUIRE(change->items.size() == 1);
    CHECK(change->items[0].name == "cuda");
    CHECK(change->items[0].before == std::nullopt);
    CHECK(change->items[0].after == "11.3");
    CHECK(scratch.read("cudaenv.toml") == "[pins]\ncuda = \"11.3\"\n");
    CHECK(scratch.names() == std::vector<std::string>{"cudaenv.toml"});
}

TEST_CASE("pin edits the nearest file upwards, --here makes one of its own") {
    const Scratch scratch;
    scratch.write("cudaenv.toml", "[pins] # ours\ncuda = \"11.3\" # why\n");
    scratch.make_directory("sub");
    const auto change = pin(scratch.path("sub"), {"cu121", "torch=2.1"});
    REQUIRE(change);
    CHECK(change->path == scratch.path("cudaenv.toml"));
    CHECK_FALSE(change->created);
    CHECK(change->items[0].before == "11.3");
    CHECK(change->items[0].after == "12.1");
    CHECK(scratch.read("cudaenv.toml") ==
          "[pins] # ours\ncuda = \"12.1\" # why\ntorch = \"2.1\"\n");

    const auto here = pin(scratch.path("sub"), {"11.3"}, PinPlace::Here);
    REQUIRE(here);
    CHECK(here->path == scratch.path("sub/cudaenv.toml"));
    CHECK(here->created);
    CHECK(pin(scratch.path("sub"), {"11.8"}, PinPlace::Here)->items[0].before == "11.3");
    const auto same = pin(scratch.path("sub"), {"cuda=11.8"});
    REQUIRE(same);
    CHECK_FALSE(same->written);
}

TEST_CASE("an environment keeps its pins in a file of its own") {
    const Scratch scratch;
    scratch.make_directory("conda/conda-meta");
    scratch.write("venv/pyvenv.cfg", "");
    CHECK(pin(scratch.path(), {"11.3"}, PinPlace::Environment,
              {{"CONDA_PREFIX", scratch.path("conda")}})
              ->path == scratch.path("conda/conda-meta/cudaenv.toml"));
    CHECK(pin(scratch.path(), {"11.3"}, PinPlace::Environment,
              {{"VIRTUAL_ENV", scratch.path("venv")}})
              ->path == scratch.path("venv/cudaenv.toml"));
    PinTarget target{PinPlace::Environment, scratch.path(), ::geteuid(), {}};
    const std::vector<std::string> specs{"11.3"};
    CHECK(change_pins(target, scratch.path(), {}, specs, PinAction::Set).error().code ==
          "not-an-environment");
    CHECK(pin(scratch.path(), {"11.3"}, PinPlace::Environment).error().code == "no-environment");
    CHECK_FALSE(fs::exists(scratch.path("cudaenv.toml")));
}

TEST_CASE("a global pin goes into the user's config beside what is there") {
    const Scratch scratch;
    scratch.write("x/cudaenv/config.toml", "# mine\n[activate]\ncompilers = false\n");
    const host::Environment environment{{"XDG_CONFIG_HOME", scratch.path("x")}};
    REQUIRE(pin(scratch.path(), {"11.3"}, PinPlace::Global, environment));
    CHECK(scratch.read("x/cudaenv/config.toml") ==
          "# mine\n[activate]\ncompilers = false\n\n[pins]\ncuda = \"11.3\"\n");
    CHECK(pin(scratch.path(), {"11.3"}, PinPlace::Global, {{"HOME", scratch.path("h")}})->created);
    CHECK(scratch.read("h/.config/cudaenv/config.toml") == "[pins]\ncuda = \"11.3\"\n");
    CHECK(pin(scratch.path(), {"11.3"}, PinPlace::Global).error().code == "no-home");
}

TEST_CASE("a wrong spec among several is reported with its argument, and nothing is written") {
    const Scratch scratch;
    const auto wrong = pin(scratch.path(), {"torch=1.12", "cuda=eleven"});
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().message == "\"eleven\" is not a version");
    CHECK(wrong.error().path == "argument 2");
    CHECK(wrong.error().column == 6);
    const auto twice = pin(scratch.path(), {"11.3", "cu118"});
    CHECK(twice.error().message == "cuda is asked to be 11.3 (argument 1) and 11.8");
    CHECK(pin(scratch.path(), {"11.3", "cu113"})->items.size() == 1);
    CHECK(pin(scratch.path(), {}).error().message == "no pin is given");
    CHECK(scratch.names() == std::vector<std::string>{"cudaenv.toml"});
}

TEST_CASE("a project file with a mistake is not edited") {
    const Scratch scratch;
    const std::string text = "[pins]\ncuda = \"11.3\ntorch = 1\n";
    scratch.write("cudaenv.toml", text);
    const auto change = pin(scratch.path(), {"12.1"});
    REQUIRE_FALSE(change);
    CHECK(change.error().line == 2);
    CHECK(change.error().kind == ErrorKind::BadInput);
    CHECK(scratch.read("cudaenv.toml") == text);
}

TEST_CASE("unpin removes by any name, and says what was not pinned") {
    const Scratch scratch;
    scratch.write("cudaenv.toml", "[pins]\ncuda = \"11.3\"\npytorch = \"1.12\"\n");
    const auto change = unpin(scratch.path(), {"torch", "gcc", "pytorch"});
    REQUIRE(change);
    CHECK(scratch.read("cudaenv.toml") == "[pins]\ncuda = \"11.3\"\n");
    REQUIRE(change->items.size() == 2);
    CHECK(change->items[0].before == "1.12");
    CHECK(change->items[0].after == std::nullopt);
    CHECK(change->notes ==
          std::vector<std::string>{"gcc is not pinned in " + scratch.path("cudaenv.toml")});
    CHECK(unpin(scratch.path(), {"cudaa"}).error().hint == "did you mean \"cuda\"?");
    CHECK(unpin(scratch.path(), {"cuda=11.3"}).error().hint ==
          "unpin takes only names, as in cuda");
}

TEST_CASE("unpin makes no file") {
    const Scratch scratch;
    const auto change = unpin(scratch.path(), {"cuda"});
    REQUIRE(change);
    CHECK(change->path.empty());
    CHECK_FALSE(change->written);
    CHECK(change->notes.size() == 1);
    CHECK(scratch.names().empty());
}

TEST_CASE("no pin is written where it would not be read") {
    const Scratch scratch;
    scratch.make_directory("open");
    ::chmod(scratch.path("open").c_str(), 01777);
    const auto change = pin(scratch.path("open"), {"11.3"});
    REQUIRE_FALSE(change);
    CHECK(change.error().code == "unsafe-place");
    CHECK(change.error().message.find("is writable by everyone") != std::string::npos);
    CHECK(scratch.names("open").empty());

    scratch.write("cudaenv.toml", "");
    ::chmod(scratch.write("a/cudaenv.toml", "").c_str(), 0666);
    CHECK(pin(scratch.path("a"), {"11.3"}).error().code == "unsafe-place");
    CHECK(pin(scratch.path("a"), {"11.3"}, PinPlace::Here).error().code == "unsafe-place");
    CHECK(scratch.read("a/cudaenv.toml").empty());
    // From below, the nearest that may be read is edited, and the other is reported.
    scratch.make_directory("a/b");
    const auto below = pin(scratch.path("a/b"), {"11.3"});
    REQUIRE(below);
    CHECK(below->path == scratch.path("cudaenv.toml"));
    CHECK(below->notes.size() == 1);
}

TEST_CASE("a directory that may not be written is an error, status 3, and nothing is left") {
    if (!is_root()) {
        SKIP("needs a second user; run as root");
    }
    const Scratch scratch;
    const std::string said = in_child(
        [&]() -> std::string {
            const auto change = pin(scratch.path(), {"11.3"});
            return change
                       ? "written"
                       : change.error().message +
                             (change.error().kind == ErrorKind::Unavailable ? "" : ", wrong kind");
        },
        k_nobody);
    CHECK(said == "cannot be written: Permission denied");
    CHECK(scratch.names().empty());
}

TEST_CASE("projects in directories of any name can be pinned") {
    for (const std::string name : {"with space", "new\nline", "\xff\xfe", "\xC3\xA4"}) {
        const Scratch scratch;
        scratch.make_directory(name);
        const auto change = pin(scratch.path(name), {"11.3"});
        REQUIRE(change);
        CHECK(change->path == scratch.path(name + "/cudaenv.toml"));
        CHECK(scratch.read(name + "/cudaenv.toml") == "[pins]\ncuda = \"11.3\"\n");
    }
}

TEST_CASE("pins set by many commands at once are all there") {
    const Scratch scratch;
    const std::vector<std::string> specs{"cuda=11.3", "torch=1.12", "cudnn=8", "python=3.9",
                                         "gcc=9",     "numpy=1.26", "jax=0.4", "nccl=2"};
    std::vector<pid_t> children;
    for (const std::string& spec : specs) {
        const pid_t child = ::fork();
        if (child == 0) {
            Result<PinChange> done = pin(scratch.path(), {spec});
            for (int again = 0; again < 100 && !done; ++again) {
                done = pin(scratch.path(), {spec});
            }
            ::_exit(done ? 0 : 1);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        CHECK(status == 0);
    }
    const std::string text = scratch.read("cudaenv.toml");
    for (const std::string& spec : specs) {
        const std::size_t sign = spec.find('=');
        CHECK(text.find('\n' + spec.substr(0, sign) + " = \"" + spec.substr(sign + 1) + "\"\n") !=
              std::string::npos);
    }
    CHECK(scratch.names() == std::vector<std::string>{"cudaenv.toml"});
}
