#include "check/inventory/metadata_text.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::inventory {
namespace {

using Texts = std::vector<std::string>;

TEST_CASE("a .pth file leads to directories, and to the finders of editable installs") {
    ClaimedPaths paths("/e");
    const auto result = parse_path_file("# a comment\n/home/me/apex\n\n../src \r\n"
                                        "import __editable___torch_2_1_finder; "
                                        "__editable___torch_2_1_finder.install()\n"
                                        "import _pkg_editable_loader\nimport sys; sys.x = 1\n"
                                        "imports/are/directories\n",
                                        "lib/s", paths);
    CHECK(result.directories ==
          Texts{"/home/me/apex", "/e/lib/src", "/e/lib/s/imports/are/directories"});
    CHECK(result.finders == Texts{"__editable___torch_2_1_finder", "_pkg_editable_loader"});
}

TEST_CASE("lines of a .pth file that can be no path are passed over") {
    ClaimedPaths paths("/e");
    CHECK(parse_path_file(std::string_view("a\0b\n", 4), "s", paths).directories.empty());
    CHECK(parse_path_file(std::string(5000, 'x'), "s", paths).directories.empty());
    CHECK(parse_path_file("   \n\t\n", "s", paths).directories.empty());
    CHECK(parse_path_file("\xef\xbb\xbf/a\n", "s", paths).directories == Texts{"/a"});
}

TEST_CASE("an egg-link names the directory of the source in its first line") {
    ClaimedPaths paths("/e");
    CHECK(parse_egg_link("/home/me/apex\n.", "s", paths) == "/home/me/apex");
    CHECK(parse_egg_link("\n../../src\n../\n", "lib/s", paths) == "/e/src");
    CHECK(parse_egg_link("", "s", paths).empty());
}

} // namespace
} // namespace cudaenv::inventory
