#include "check/repair/conda_source.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace cudaenv;
using namespace cudaenv::repair;
using namespace cudaenv::trusted;

TEST_CASE("paths.json lists the files that contain the prefix, and how") {
    const auto files = read_paths_json(R"({"paths": [
        {"_path": "bin/a", "prefix_placeholder": "/opt/p", "file_mode": "text"},
        {"_path": "lib/b", "prefix_placeholder": "/opt/p", "file_mode": "binary"},
        {"_path": "c"}, 7]})");
    REQUIRE(files.size() == 3);
    CHECK(files.at("bin/a").placeholder == "/opt/p");
    CHECK(files.at("bin/a").mode == PrefixMode::Text);
    CHECK(files.at("lib/b").mode == PrefixMode::Binary);
    CHECK(files.at("c").placeholder.empty());
    CHECK(read_paths_json("{").empty());
    CHECK(read_paths_json("{\"paths\": 1}").empty());
}

TEST_CASE("has_prefix of old packages lists the same") {
    const auto files =
        read_has_prefix("/opt/p text bin/a b\n\"/opt/q\" binary \"lib/b\"\nbin/c\n\n");
    REQUIRE(files.size() == 3);
    CHECK(files.at("bin/a b").placeholder == "/opt/p");
    CHECK(files.at("lib/b").placeholder == "/opt/q");
    CHECK(files.at("lib/b").mode == PrefixMode::Binary);
    CHECK(files.at("bin/c").placeholder == "/opt/anaconda1anaconda2anaconda3");
}

TEST_CASE("a file of a package for every Python is looked for where the package has it") {
    CHECK(packaged_names("lib/python3.11/site-packages/a/b.py") ==
          std::vector<std::string>{"lib/python3.11/site-packages/a/b.py", "site-packages/a/b.py"});
    CHECK(packaged_names("bin/tool") ==
          std::vector<std::string>{"bin/tool", "python-scripts/tool"});
    CHECK(packaged_names("share/x") == std::vector<std::string>{"share/x"});
}

TEST_CASE("a package's file is made with the prefix in it, a pipe and a foreign path are not") {
    const test::TemporaryTree tree;
    tree.file(
        "pkg/info/paths.json",
        R"({"paths": [{"_path": "bin/a", "prefix_placeholder": "/opt/p", "file_mode": "text"}]})");
    tree.file("pkg/bin/a", "#!/opt/p/bin/python\n", 0755);
    tree.file("secret", "x");
    tree.directory("into");
    const auto source = CondaSource::open(tree.path() + "/pkg", Trust{});
    REQUIRE(source);
    const Fd into(::open((tree.path() + "/into").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(source->stage("bin/a", "/env", into.get(), "1") == true);
    std::ifstream made(tree.path() + "/into/1");
    CHECK(std::string(std::istreambuf_iterator<char>(made), {}) == "#!/env/bin/python\n");
    CHECK((std::filesystem::status(tree.path() + "/into/1").permissions() &
           std::filesystem::perms::owner_exec) != std::filesystem::perms::none);
    CHECK(source->stage("../secret", "/env", into.get(), "2") == false);
    CHECK(source->stage("bin/none", "/env", into.get(), "3") == false);
    CHECK_FALSE(CondaSource::open(tree.path() + "/none", Trust{}));
}

TEST_CASE("content without a digest is not accepted from another user's cache") {
    if (::geteuid() != 0) {
        SKIP("needs files of several owners; run as root");
    }
    constexpr uid_t k_other = 4321;
    const test::TemporaryTree tree;
    const std::string package = tree.path() + "/pkgs/p";
    tree.file("pkgs/p/info/link.json",
              R"({"noarch": {"type": "python", "entry_points": ["tool = m:f"]}})");
    tree.directory("pkgs/p/lib");
    tree.directory("into");
    const std::string link = package + "/lib/l.so";
    std::filesystem::create_symlink("l.so.1", link);
    const Fd into(::open((tree.path() + "/into").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    int count = 0;
    const auto taken = [&] {
        const auto source = CondaSource::open(package, Trust{});
        const bool has_link =
            source->stage("lib/l.so", "/env", into.get(), std::to_string(++count)) == true;
        return std::pair(has_link, source->entry_point("tool").has_value());
    };
    CHECK(taken() == std::pair(true, true));
    REQUIRE(::lchown(link.c_str(), k_other, k_other) == 0);
    CHECK(taken() == std::pair(false, true));
    REQUIRE(::chmod((package + "/info/link.json").c_str(), 0666) == 0);
    CHECK(taken() == std::pair(false, false));
    REQUIRE(::chmod((package + "/info/link.json").c_str(), 0644) == 0);
    REQUIRE(::chown((package + "/info/link.json").c_str(), k_other, k_other) == 0);
    CHECK(taken() == std::pair(false, false));
    tree.directory("conda-meta"); // a conda of theirs, and its cache
    REQUIRE(::chown(tree.path().c_str(), k_other, k_other) == 0);
    CHECK(taken() == std::pair(true, true));
}

TEST_CASE("caches are those that variables name, then those of the roots, then the home's") {
    const auto caches =
        package_caches({{"CONDA_PKGS_DIRS", "/a/pkgs"}, {"MAMBA_ROOT_PREFIX", "/m"}},
                       "/nonexistent-home", "/root/envs/x");
    REQUIRE(caches.size() >= 4);
    CHECK(package_caches({{"CONDA_PKGS_DIRS", "/a, /b"}}, "", "/x")[1] == "/b");
    CHECK(caches[0] == "/a/pkgs");
    CHECK(caches[1] == "/m/pkgs");
    CHECK(caches[2] == "/root/pkgs");
    CHECK(std::find(caches.begin(), caches.end(), "/nonexistent-home/.cache/rattler/cache/pkgs") !=
          caches.end());
    facts::CondaPackage package;
    package.name = "six";
    package.version = "1.16";
    package.build = "0";
    package.extracted = "/elsewhere/six";
    const auto places = extracted_places(package, {"/a/pkgs"});
    CHECK(places == std::vector<std::string>{"/elsewhere/six", "/a/pkgs/six-1.16-0"});
    package.name = "../x";
    CHECK(extracted_places(package, {"/a/pkgs"}) == std::vector<std::string>{"/elsewhere/six"});
}
