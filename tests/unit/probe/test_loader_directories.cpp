#include "host/probe/loader_directories.hpp"
#include "host/process.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace cudaenv::probe {
namespace {

using Names = std::vector<std::string>;

TEST_CASE("LD_LIBRARY_PATH names directories as ld.so has it") {
    CHECK(loader_directories("", "/here").empty()); // as if it were not set
    CHECK(loader_directories("/a:/b;/c", "/here") == Names{"/a", "/b", "/c"});
    CHECK(loader_directories(":/a", "/here") == Names{"/here", "/a"});
    CHECK(loader_directories("/a::/b:", "/here") == Names{"/a", "/here", "/b", "/here"});
    CHECK(loader_directories("lib:./lib:../lib", "/here") ==
          Names{"/here/lib", "/here/./lib", "/here/../lib"});
    CHECK(loader_directories("lib:", "/") == Names{"/lib", "/"});
    CHECK(loader_directories("lib:/a:", "") == Names{"/a"}); // whose directory is not known
}

TEST_CASE("tokens in LD_LIBRARY_PATH have their values, and what has none is passed over") {
    const LoaderTokens tokens{"/usr/bin", "lib/x86_64-linux-gnu"};
    const char* list = "$ORIGIN/../lib:/a/${LIB}/cuda:/b/$LIB:/c/$PLATFORM:$ORIGIN";
    CHECK(loader_directories(list, "/here", tokens) ==
          Names{"/usr/bin/../lib", "/a/lib/x86_64-linux-gnu/cuda", "/b/lib/x86_64-linux-gnu",
                "/usr/bin"});
    CHECK(loader_directories(list, "/here").empty());
    CHECK(loader_directories("/a/$LIBRARY:/b/${LIB:/c/$:/d/$HOME:/e/$LIB_", "", tokens) ==
          Names{"/a/$LIBRARY", "/b/${LIB", "/c/$", "/d/$HOME", "/e/$LIB_"});
}

TEST_CASE("tokens are those of the machine's own ld.so, for a program behind a link") {
    const test::TemporaryTree tree;
    tree.directory("env/bin");
    tree.directory("base/bin");
    std::filesystem::copy_file("/bin/true", tree.path() + "/base/bin/python3.11");
    std::filesystem::create_symlink("../../base/bin/python3.11", tree.path() + "/env/bin/python");
    facts::EnvironmentFacts environment;
    environment.prefix = tree.path() + "/env";
    host::DiskFileSystem files;
    const auto tokens = loader_tokens(files, environment);
    CHECK(tokens.origin == tree.path() + "/base/bin");
    std::string list = "$ORIGIN/a:/b/${ORIGIN}/b:/c/$ORIGINAL:/d/${ORIGIN:/e/$LIBX:/f/$_LIB";
    if (tokens.lib.empty()) {
        WARN("what this ld.so has for $LIB is not known: not compared");
    } else {
        list += ":/g/$LIB:/h/${LIB}/h:/i/$LIB$LIB";
    }
    host::ChildProcessRunner processes;
    const auto outcome = processes.run(
        {{environment.prefix + "/bin/python"}, {"LD_LIBRARY_PATH=" + list, "LD_DEBUG=libs"}},
        std::chrono::seconds(20));
    const auto directories = loader_directories(list, "/", tokens);
    CHECK(directories.size() == static_cast<std::size_t>(std::ranges::count(list, ':') + 1));
    for (const std::string& directory : directories) {
        CAPTURE(directory);
        CHECK(outcome.error.find("trying file=" + directory + "/libc.so.6\n") != std::string::npos);
    }
}

} // namespace
} // namespace cudaenv::probe
