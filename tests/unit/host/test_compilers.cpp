#include "host/compilers.hpp"
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
    Environment environment{{"PATH", "/usr/bin:/bin"}};

    CompilerFindings find() {
        VersionCache cache("", 0);
        const VersionAsker asker{processes, cache, environment};
        return find_compilers(disk, environment, "x86_64", asker);
    }
    void add_gcc(const std::string& path, const std::string& version) {
        disk.program(path);
        processes.answer(path + " -dumpfullversion -dumpversion", version + "\n");
    }
};

std::vector<std::string> shown(const CompilerFindings& findings) {
    std::vector<std::string> lines;
    for (const auto& compiler : findings.compilers) {
        lines.push_back((compiler.family == facts::CompilerFamily::Gcc ? "gcc " : "clang ") +
                        compiler.version.str() + ' ' + compiler.path +
                        (compiler.is_default ? " default" : ""));
    }
    return lines;
}
using Lines = std::vector<std::string>;

TEST_CASE("names of C++ compilers are distinguished from other programs") {
    const auto bare = parse_compiler_name("g++");
    REQUIRE(bare);
    CHECK(bare->version.empty());
    CHECK(parse_compiler_name("g++-9")->version == "9");
    CHECK(parse_compiler_name("g++-4.8")->version == "4.8");
    CHECK(parse_compiler_name("clang++-14")->family == facts::CompilerFamily::Clang);
    CHECK(parse_compiler_name("x86_64-linux-gnu-g++-12")->target == "x86_64-linux-gnu");
    CHECK(parse_compiler_name("x86_64-conda-linux-gnu-c++")->family == facts::CompilerFamily::Gcc);
    CHECK(parse_compiler_name("x86_64-pc-linux-gnu-clang++")->family ==
          facts::CompilerFamily::Clang);
    for (const auto* name : {"c++", "gcc", "clang", "c++filt", "my-g++", "cg++", "afl-g++-fast",
                             "g++-mapper-server", "llvm-clang++", ""}) {
        INFO(name);
        CHECK_FALSE(parse_compiler_name(name));
    }
}

TEST_CASE("what compilers answer is read") {
    CHECK(parse_gcc_version("12.2.0\n") == "12.2.0");
    CHECK(parse_gcc_version("5.4.0\n") == "5.4.0");
    CHECK(parse_gcc_version("12\n") == "12");
    CHECK(parse_gcc_version("g++: error: unrecognized\n").empty());
    CHECK(parse_gcc_version("").empty());
    CHECK(parse_clang_version("Debian clang version 14.0.6\nTarget: x86_64-pc-linux-gnu\n") ==
          "14.0.6");
    CHECK(parse_clang_version("Ubuntu clang version 18.1.3 (1ubuntu1)\n") == "18.1.3");
    CHECK(parse_clang_version("clang version 17.0.0git\n") == "17.0.0");
    CHECK(parse_clang_version("gcc (Debian) 12.2.0\n").empty());
}

TEST_CASE("each compiler is reported once, by the name with its version, whatever links to it") {
    Look look;
    look.add_gcc("/usr/bin/g++-12", "12.2.0");
    look.disk.link("/usr/bin/g++", "g++-12")
        .hard_link("/usr/bin/x86_64-linux-gnu-g++-12", "/usr/bin/g++-12")
        .link("/usr/bin/x86_64-linux-gnu-g++", "g++-12")
        .link("/bin", "usr/bin");
    look.add_gcc("/usr/bin/g++-9", "9.4.0");
    const auto found = look.find();
    CHECK(shown(found) == Lines{"gcc 9.4.0 /usr/bin/g++-9", "gcc 12.2.0 /usr/bin/g++-12 default"});
    CHECK(look.processes.started.size() == 2);
}

TEST_CASE("ccache's and colorgcc's names are no compilers, nor are scripts that start them") {
    Look look;
    look.add_gcc("/usr/bin/g++-12", "12.2.0");
    look.disk.link("/usr/bin/g++", "g++-12")
        .program("/usr/bin/ccache")
        .program("/usr/bin/colorgcc")
        .link("/usr/lib/ccache/g++", "../../bin/ccache")
        .link("/home/u/bin/g++", "/usr/lib/ccache/g++")
        .link("/usr/lib/colorgcc/g++", "/usr/bin/colorgcc")
        .program("/home/u/wrap/g++", "#!/bin/sh\nexec ccache /usr/bin/g++-12 \"$@\"\n");
    look.environment = {
        {"PATH", "/home/u/bin:/home/u/wrap:/usr/lib/ccache:/usr/lib/colorgcc:/usr/bin"}};
    CHECK(shown(look.find()) == Lines{"gcc 12.2.0 /usr/bin/g++-12 default"});
}

TEST_CASE("a script that is the compiler, as NixOS has it, is one") {
    Look look;
    look.disk.program("/run/current-system/sw/bin/g++",
                      "#!/nix/store/bash\nexec /nix/store/gcc/bin/g++ \"$@\"\n");
    look.processes.answer("/run/current-system/sw/bin/g++ -dumpfullversion -dumpversion",
                          "13.2.0\n");
    look.environment = {{"PATH", "/run/current-system/sw/bin"}};
    CHECK(shown(look.find()) == Lines{"gcc 13.2.0 /run/current-system/sw/bin/g++ default"});
}

TEST_CASE("clang's directory gives its version without a child, up to 15") {
    Look look;
    look.disk.program("/usr/lib/llvm-14/bin/clang")
        .link("/usr/lib/llvm-14/bin/clang++", "clang")
        .link("/usr/bin/clang++-14", "../lib/llvm-14/bin/clang++")
        .directory("/usr/lib/llvm-14/lib/clang/14.0.6")
        .program("/usr/lib/llvm-18/bin/clang++")
        .link("/usr/bin/clang++-18", "../lib/llvm-18/bin/clang++")
        .directory("/usr/lib/llvm-18/lib/clang/18");
    look.processes.answer("/usr/bin/clang++-18 --version", "Debian clang version 18.1.8 (1)\n");
    CHECK(shown(look.find()) ==
          Lines{"clang 14.0.6 /usr/bin/clang++-14", "clang 18.1.8 /usr/bin/clang++-18"});
    CHECK(look.processes.started == Lines{"/usr/bin/clang++-18 --version"});
}

TEST_CASE("compilers off PATH are found in the usual places, conda's in the active environment") {
    Look look;
    look.add_gcc("/opt/gcc-6/bin/g++", "6.5.0");
    look.add_gcc("/opt/rh/devtoolset-7/root/usr/bin/g++", "7.3.1");
    look.add_gcc("/home/u/env/bin/x86_64-conda-linux-gnu-c++", "11.4.0");
    look.disk.hard_link("/home/u/env/bin/x86_64-conda-linux-gnu-g++",
                        "/home/u/env/bin/x86_64-conda-linux-gnu-c++");
    look.environment = {{"PATH", "/usr/bin"}, {"CONDA_PREFIX", "/home/u/env"}};
    CHECK(shown(look.find()) == Lines{"gcc 6.5.0 /opt/gcc-6/bin/g++",
                                      "gcc 7.3.1 /opt/rh/devtoolset-7/root/usr/bin/g++",
                                      "gcc 11.4.0 /home/u/env/bin/x86_64-conda-linux-gnu-c++"});
}

TEST_CASE("cross compilers, broken links and files that are no programs are no compilers") {
    Look look;
    look.disk.program("/usr/bin/aarch64-linux-gnu-g++-12")
        .program("/usr/bin/x86_64-w64-mingw32-g++")
        .program("/usr/bin/x86_64-linux-gnux32-g++")
        .link("/usr/bin/g++-8", "x86_64-linux-gnu-g++-8")
        .file("/usr/bin/g++-7")
        .directory("/usr/bin/g++-6");
    const auto found = look.find();
    CHECK(found.compilers.empty());
    CHECK_FALSE(found.absent.empty());
    REQUIRE(found.notes.size() == 1);
    CHECK(found.notes[0] == "/usr/bin/g++-8 is not a compiler: does not exist");
    CHECK(look.processes.started.empty());
}

TEST_CASE("a compiler that does not tell its version is left out, and why is noted") {
    Look look;
    look.disk.program("/usr/bin/g++");
    look.add_gcc("/usr/bin/g++-9", "9.4.0");
    const auto found = look.find();
    CHECK(shown(found) == Lines{"gcc 9.4.0 /usr/bin/g++-9"});
    REQUIRE(found.notes.size() == 1);
    CHECK(found.notes[0].find("exit status 1") != std::string::npos);
}

} // namespace
} // namespace cudaenv::host
