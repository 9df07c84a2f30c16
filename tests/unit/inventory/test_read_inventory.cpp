#include "check/inventory/read_inventory.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace cudaenv::inventory {
namespace {

using facts::Distribution;
using facts::DistributionKind;
using facts::Inventory;
using facts::LeftoverKind;
using test::TemporaryTree;
using Texts = std::vector<std::string>;

const std::string k_site = "lib/python3.11/site-packages";

Inventory read(const std::string& prefix, unsigned threads = 0) {
    auto inventory = read_inventory(prefix, threads);
    REQUIRE(inventory);
    return std::move(*inventory);
}

std::string metadata(const std::string& name, const std::string& version) {
    return "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n\nText\n";
}

void add_wheel(const TemporaryTree& tree, const std::string& name, const std::string& version,
               const std::string& record, const std::string& site = k_site) {
    const auto info = site + '/' + name + '-' + version + ".dist-info/";
    tree.file(info + "METADATA", metadata(name, version));
    tree.file(info + "RECORD", record);
    tree.file(info + "INSTALLER", "pip\n");
}

Texts names(const Inventory& inventory) {
    Texts result;
    for (const auto& distribution : inventory.distributions) {
        result.push_back(distribution.name + ' ' + distribution.version);
    }
    return result;
}

Texts notes(const Inventory& inventory) {
    Texts result;
    for (const auto& note : inventory.notes) {
        result.push_back(note.path + ": " + note.reason);
    }
    return result;
}

TEST_CASE("a wheel has its installer, its origin, its tags and its files") {
    const TemporaryTree tree;
    const auto info = k_site + "/My_Pkg-1.0.dist-info";
    add_wheel(tree, "My_Pkg", "1.0", "my/a.py,,3\n../../../bin/my,,\n");
    tree.file(info + "/INSTALLER", "uv"); // uv writes no end of the line
    tree.file(info + "/REQUESTED", "");
    tree.file(info + "/WHEEL", "Generator: flit 3.9\nTag: py3-none-any\n");
    tree.file(info + "/direct_url.json",
              R"({"url": "file:///src/my", "dir_info": {"editable": true}})");
    const auto inventory = read(tree.path());
    CHECK(inventory.prefix == tree.path());
    CHECK_FALSE(inventory.conda_prefix);
    CHECK(inventory.sites == Texts{k_site});
    REQUIRE(inventory.distributions.size() == 1);
    const auto& result = inventory.distributions.front();
    CHECK(result.name == "my-pkg");
    CHECK(result.written == "My_Pkg");
    CHECK(result.version == "1.0");
    CHECK(result.installer == "uv");
    CHECK(result.metadata == info);
    CHECK(result.kind == DistributionKind::DistInfo);
    CHECK(result.site == k_site);
    CHECK(result.requested);
    CHECK(result.has_metadata);
    CHECK(result.has_record);
    CHECK(result.tags == Texts{"py3-none-any"});
    CHECK(result.generator == "flit 3.9");
    REQUIRE(result.direct_url);
    CHECK(result.direct_url->editable);
    CHECK(result.installed_ns > 0);
    REQUIRE(result.files.size() == 2);
    CHECK(result.files.path(0) == k_site + "/my/a.py");
    CHECK(result.files.path(1) == "bin/my");
    CHECK(inventory.notes.empty());
    CHECK(inventory.leftovers.empty());
}

TEST_CASE("an environment of conda's is that of the Python on its record") {
    const TemporaryTree tree;
    tree.file("conda-meta/history", "");
    tree.file(
        "conda-meta/python-3.11.5-h1_0.json",
        R"({"name": "python", "version": "3.11.5", "build": "h1_0", "files": ["bin/python"]})");
    tree.file("conda-meta/broken-1.0-0.json", "{");
    tree.file("conda-meta/not a record.json", "{");
    add_wheel(tree, "a", "1", "");
    add_wheel(tree, "old", "1", "", "lib/python3.9/site-packages");
    tree.link("lib/python3.1", "python3.11");
    tree.link("lib64", "lib");
    const auto inventory = read(tree.path());
    CHECK(inventory.conda_prefix);
    CHECK(inventory.sites == Texts{k_site});
    CHECK(names(inventory) == Texts{"a 1"});
    REQUIRE(inventory.conda.size() == 2);
    CHECK(inventory.conda[0].name == "broken");
    CHECK(inventory.conda[0].version == "1.0");
    CHECK(inventory.conda[0].files.empty());
    CHECK(inventory.conda[1].name == "python");
    CHECK(inventory.conda[1].record == "conda-meta/python-3.11.5-h1_0.json");
    CHECK(inventory.conda[1].written_ns > 0);
    CHECK(inventory.conda[1].files.path(0) == "bin/python");
    REQUIRE(inventory.notes.size() == 1);
    CHECK(inventory.notes[0].path == "conda-meta/broken-1.0-0.json");
}

TEST_CASE("a site-packages that two names lead to is read once, by its real name") {
    const TemporaryTree tree;
    add_wheel(tree, "a", "1", "", "lib/python3.11/site-packages");
    tree.link("lib/python3.1", "python3.11"); // sorts before the real one
    tree.link("lib64", "lib");
    const auto inventory = read(tree.path());
    CHECK(inventory.sites == Texts{k_site});
    CHECK(names(inventory) == Texts{"a 1"});
}

TEST_CASE("lib64 that is a directory of its own is a second site-packages") {
    const TemporaryTree tree;
    tree.file("pyvenv.cfg", "home = /usr/bin\nversion = 3.11.7\n");
    add_wheel(tree, "a", "1", "");
    add_wheel(tree, "b", "1", "", "lib64/python3.11/site-packages");
    add_wheel(tree, "c", "1", "", "lib64/python3.12/site-packages");
    const auto inventory = read(tree.path());
    CHECK(inventory.sites == Texts{k_site, "lib64/python3.11/site-packages"});
    CHECK(names(inventory) == Texts{"a 1", "b 1"});
}

TEST_CASE("a system has dist-packages, Debian's and those of local/") {
    const TemporaryTree tree;
    add_wheel(tree, "a", "1", "", "lib/python3/dist-packages");
    add_wheel(tree, "b", "1", "", "local/lib/python3.11/dist-packages");
    tree.directory("lib/python3.11");
    CHECK(read(tree.path()).sites ==
          Texts{"local/lib/python3.11/dist-packages", "lib/python3/dist-packages"});
}

TEST_CASE("egg-infos and egg-links are distributions") {
    const TemporaryTree tree;
    tree.file(k_site + "/PyYAML-6.0-py3.11.egg-info/PKG-INFO", metadata("PyYAML", "6.0"));
    tree.file(k_site + "/PyYAML-6.0-py3.11.egg-info/installed-files.txt", "../yaml/a.py\n");
    tree.file(k_site + "/PyYAML-6.0-py3.11.egg-info/requires.txt", "[x]\nsix\n");
    tree.file(k_site + "/old_one-0.1-py3.11.egg-info", "Name: old.one\nVersion: 0.1\n");
    tree.file("src/apex.egg-info/PKG-INFO", metadata("apex", "0.9"));
    tree.file(k_site + "/apex.egg-link", tree.path() + "/src\n.");
    tree.file(k_site + "/gone.egg-link", "/nowhere/at/all\n.");
    tree.file(k_site + "/easy-install.pth", tree.path() + "/src\n");
    const auto inventory = read(tree.path());
    CHECK(names(inventory) == Texts{"pyyaml 6.0", "apex 0.9", "gone ", "old-one 0.1"});
    const auto& yaml = inventory.distributions[0];
    CHECK(yaml.kind == DistributionKind::EggInfoDirectory);
    CHECK(yaml.files.path(0) == k_site + "/yaml/a.py");
    CHECK(yaml.requires_dist == Texts{"six; extra == \"x\""});
    CHECK(inventory.distributions[1].kind == DistributionKind::EggLink);
    CHECK(inventory.distributions[1].source_directory == tree.path() + "/src");
    CHECK(inventory.distributions[1].has_metadata);
    CHECK_FALSE(inventory.distributions[2].has_metadata);
    CHECK(inventory.distributions[3].kind == DistributionKind::EggInfoFile);
    REQUIRE(inventory.path_files.size() == 1);
    CHECK(inventory.path_files[0].path == k_site + "/easy-install.pth");
    CHECK(inventory.path_files[0].directories == Texts{tree.path() + "/src"});
}

TEST_CASE("an egg is a distribution where a .pth names it, and says whether a wheel was made one") {
    const TemporaryTree tree;
    const auto egg = [](const std::string& name) { return k_site + '/' + name; };
    tree.file(egg("apex-0.1-py3.11-linux-x86_64.egg/EGG-INFO/PKG-INFO"), metadata("apex", "0.1"));
    tree.file(egg("apex-0.1-py3.11-linux-x86_64.egg/EGG-INFO/requires.txt"), "torch\n");
    tree.file(egg("six-1.0-py3.11.egg/EGG-INFO/PKG-INFO"), metadata("six", "1.0"));
    tree.file(egg("six-1.0-py3.11.egg/EGG-INFO/WHEEL"), "Tag: py3-none-any\n");
    tree.file(egg("zipped_one-2.0-py3.11.egg"), std::string("PK\x03\x04\0rest", 9));
    tree.file(egg("no_zip-2.0-py3.11.egg"), "something");
    tree.file(egg("unseen-1.0-py3.11.egg/EGG-INFO/PKG-INFO"), metadata("unseen", "1.0"));
    tree.file(egg("bare-1.0-py3.11.egg/bare.py"), "");
    tree.file(egg("easy-install.pth"), "./zipped_one-2.0-py3.11.egg\n./six-1.0-py3.11.egg\n" +
                                           tree.path() + '/' +
                                           egg("apex-0.1-py3.11-linux-x86_64.egg\n") +
                                           "./no_zip-2.0-py3.11.egg\n./bare-1.0-py3.11.egg\n"
                                           "./six-1.0-py3.11.egg\n./gone-1.0-py3.11.egg\n"
                                           "/elsewhere/unseen-1.0-py3.11.egg\n");
    const auto inventory = read(tree.path());
    CHECK(names(inventory) == Texts{"apex 0.1", "six 1.0", "zipped-one 2.0"});
    CHECK(notes(inventory).empty());
    const auto& apex = inventory.distributions[0];
    CHECK(apex.kind == DistributionKind::EggDirectory);
    CHECK(apex.metadata == egg("apex-0.1-py3.11-linux-x86_64.egg"));
    CHECK(apex.site == apex.metadata);
    CHECK(apex.requires_dist == Texts{"torch"});
    CHECK(apex.has_metadata);
    CHECK_FALSE(apex.has_record);
    CHECK(apex.files.empty());
    CHECK(inventory.distributions[1].tags == Texts{"py3-none-any"});
    CHECK(inventory.distributions[2].kind == DistributionKind::EggFile);
    CHECK(inventory.distributions[2].has_metadata);
    CHECK(inventory.sites ==
          Texts{k_site, egg("six-1.0-py3.11.egg"), apex.metadata, egg("bare-1.0-py3.11.egg")});
}

TEST_CASE("a venv that sees its Python's packages has those that it does not hide") {
    const TemporaryTree tree;
    const auto venv = [&](const std::string& sees) {
        tree.file("env/pyvenv.cfg", "home = " + tree.path() + "/base/bin\nversion = 3.11.7\n" +
                                        "include-system-site-packages = " + sees + "\n");
        return read(tree.path() + "/env");
    };
    const auto base_names = [](const Inventory& inventory) {
        Texts result;
        for (const auto& distribution : inventory.base) {
            result.push_back(distribution.name + ' ' + distribution.version);
        }
        return result;
    };
    add_wheel(tree, "own", "1", "own.py,,\n", "env/" + k_site);
    add_wheel(tree, "both", "2", "both.py,,\n", "env/" + k_site);
    add_wheel(tree, "both", "1", "both.py,,\n", "base/" + k_site);
    add_wheel(tree, "torch", "2.8.0", "torch/a.py,,\n", "base/" + k_site);
    add_wheel(tree, "torch", "2.7.0", "", "base/lib/python3/dist-packages");
    add_wheel(tree, "local", "1", "", "base/local/lib/python3.11/dist-packages");
    add_wheel(tree, "other", "1", "", "base/lib/python3.10/site-packages");
    tree.file("base/" + k_site + "/~orch/x.py", "");
    tree.file("base/" + k_site + "/bare-1.dist-info/RECORD", "");
    const auto inventory = venv("true");
    CHECK(names(inventory) == Texts{"both 2", "own 1"});
    CHECK(inventory.sites == Texts{k_site});
    CHECK(base_names(inventory) == Texts{"local 1", "torch 2.8.0"});
    CHECK(inventory.base_sites == Texts{tree.path() + "/base/local/lib/python3.11/dist-packages",
                                        tree.path() + "/base/" + k_site,
                                        tree.path() + "/base/lib/python3/dist-packages"});
    const auto& torch = inventory.base[1];
    CHECK(torch.metadata == tree.path() + "/base/" + k_site + "/torch-2.8.0.dist-info");
    CHECK(torch.has_record);
    CHECK(torch.files.empty());
    CHECK(inventory.leftovers.empty());
    CHECK(venv("false").base.empty());
}

TEST_CASE("leftovers of an interrupted install or uninstall are listed") {
    const TemporaryTree tree;
    tree.file(k_site + "/~orch/__init__.py", "");
    tree.file(k_site + "/~orch-2.1.dist-info/METADATA", metadata("Torch", "2.1"));
    tree.file(k_site + "/~notes.txt", "");
    tree.file(k_site + "/some-where-1.0.dist-info/RECORD", "a.py,,\n");
    tree.file(k_site + "/bare-2.dist-info/METADATA", metadata("bare", "2"));
    tree.file(k_site + "/_virtualenv.pth", "import _virtualenv");
    tree.file("conda-meta/many-1.0-py_0.json.c~", "{}");
    tree.file("conda-meta/history.c~", "");
    const auto inventory = read(tree.path());
    CHECK(names(inventory) == Texts{"bare 2", "some-where 1.0"});
    CHECK(inventory.distributions[1].written == "some-where");
    CHECK(inventory.distributions[1].files.size() == 1);
    CHECK(inventory.path_files.empty());
    CHECK(inventory.notes.empty());
    REQUIRE(inventory.leftovers.size() == 5);
    CHECK(inventory.leftovers[0].kind == LeftoverKind::InterruptedConda);
    CHECK(inventory.leftovers[0].path == "conda-meta/many-1.0-py_0.json.c~");
    CHECK(inventory.leftovers[0].name == "many");
    CHECK(inventory.leftovers[0].version == "1.0");
    CHECK(inventory.leftovers[1].kind == LeftoverKind::NoRecord);
    CHECK(inventory.leftovers[1].name == "bare");
    CHECK(inventory.leftovers[2].kind == LeftoverKind::NoMetadata);
    CHECK(inventory.leftovers[2].name == "some-where");
    CHECK(inventory.leftovers[3].path == k_site + "/~orch");
    CHECK(inventory.leftovers[3].name.empty());
    CHECK(inventory.leftovers[4].name == "torch");
    CHECK(inventory.leftovers[4].version == "2.1");
}

TEST_CASE("a .pth file that stays within site-packages leads to no source") {
    const TemporaryTree tree;
    tree.file(k_site + "/pywin.pth", "win32\n.\n");
    tree.file(k_site + "/__editable__.a-1.pth", "import __editable___a_1_finder\n");
    tree.file(k_site + "/b.pth", "/home/me/b/src\nwin32\n");
    const auto inventory = read(tree.path());
    REQUIRE(inventory.path_files.size() == 2);
    CHECK(inventory.path_files[0].finders == Texts{"__editable___a_1_finder"});
    CHECK(inventory.path_files[1].directories == Texts{"/home/me/b/src"});
}

TEST_CASE("of a METADATA of 50 MB only the headers are read, however long they are") {
    const TemporaryTree tree;
    const std::string text(50 << 20U, 'x');
    tree.file(k_site + "/big-1.dist-info/METADATA", "Name: big\nVersion: 1\n\n" + text);
    std::string many = "Name: many\nVersion: 1\n";
    for (int number = 0; number < 40'000; ++number) {
        many += "Requires-Dist: p" + std::to_string(number) + "\n";
    }
    tree.file(k_site + "/many-1.dist-info/METADATA", many + "\nbody");
    tree.file(k_site + "/headers-1.dist-info/METADATA", "Name: headers\nVersion: 1\nX: " + text);
    for (const auto* name : {"big", "many", "headers"}) {
        tree.file(k_site + '/' + name + "-1.dist-info/RECORD", "");
    }
    const auto inventory = read(tree.path());
    CHECK(names(inventory) == Texts{"big 1", "headers 1", "many 1"});
    CHECK(inventory.distributions[2].requires_dist.size() == 40'000);
    CHECK(notes(inventory) ==
          Texts{k_site + "/headers-1.dist-info/METADATA: its headers are longer than 4 MiB; those "
                         "beyond are not read"});
}

TEST_CASE("a corrupt RECORD hides no other package and is noted") {
    const TemporaryTree tree;
    add_wheel(tree, "a", "1", std::string("\0\xff\"\n,,,,\nok.py,,\n", 17));
    add_wheel(tree, "b", "1", "b.py,,\n");
    const auto inventory = read(tree.path());
    REQUIRE(inventory.distributions.size() == 2);
    CHECK(inventory.distributions[0].damaged_lines == 2);
    CHECK(inventory.distributions[0].files.size() == 1);
    CHECK(inventory.distributions[1].files.size() == 1);
    CHECK(notes(inventory) ==
          Texts{k_site + "/a-1.dist-info/RECORD: 2 lines are damaged, the first is line 1"});
}

TEST_CASE("a directory or pipe in place of a file neither blocks nor fails the reading") {
    const TemporaryTree tree;
    const auto info = k_site + "/a-1.dist-info";
    tree.directory(info);
    REQUIRE(::mkfifo((tree.path() + '/' + info + "/METADATA").c_str(), 0600) == 0);
    tree.directory(info + "/RECORD");
    tree.link(info + "/INSTALLER", "INSTALLER");
    tree.link(k_site + "/loop-1.dist-info", "loop-1.dist-info");
    tree.link(k_site + "/loop-1.egg-info", "loop-1.egg-info");
    tree.link(k_site + "/gone-1.egg-info", "/nowhere/at/all");
    tree.link(k_site + "/self", ".");
    tree.file(k_site + "/file-1.dist-info", "");
    tree.link("lib64", "lib64");
    const auto inventory = read(tree.path());
    CHECK(names(inventory) == Texts{"a 1", "gone 1", "loop 1", "loop 1"});
    CHECK(notes(inventory) == Texts{
                                  info + "/INSTALLER: its symlinks lead in a circle",
                                  info + "/METADATA: is not a regular file",
                                  info + "/RECORD: is not a regular file",
                                  k_site + "/file-1.dist-info: is not a directory",
                                  k_site + "/gone-1.egg-info: leads nowhere",
                                  k_site + "/loop-1.dist-info: its symlinks lead in a circle",
                                  k_site + "/loop-1.egg-info: its symlinks lead in a circle",
                                  "lib64: its symlinks lead in a circle",
                              });
}

TEST_CASE("names of directories and files that are no UTF-8 stay as they are") {
    const TemporaryTree tree;
    tree.file(k_site + "/caf\xe9-1.dist-info/METADATA", metadata("caf\xe9", "1"));
    tree.file(k_site + "/caf\xe9-1.dist-info/RECORD", "caf\xe9/\xff.py,,\n");
    const auto inventory = read(tree.path());
    REQUIRE(inventory.distributions.size() == 1);
    CHECK(inventory.distributions[0].metadata == k_site + "/caf\xe9-1.dist-info");
    CHECK(inventory.distributions[0].files.path(0) == k_site + "/caf\xe9/\xff.py");
}

TEST_CASE("files that may not be read are noted, and the rest is read") {
    const TemporaryTree tree;
    add_wheel(tree, "a", "1", "a.py,,\n");
    add_wheel(tree, "b", "1", "b.py,,\n");
    add_wheel(tree, "c", "1", "c.py,,\n");
    const auto site = tree.path() + '/' + k_site;
    tree.file("conda-meta/x-1-0.json", "{}", 0);
    REQUIRE(::chmod((site + "/a-1.dist-info/RECORD").c_str(), 0) == 0);
    REQUIRE(::chmod((site + "/b-1.dist-info").c_str(), 0) == 0);
    REQUIRE(::chmod(tree.path().c_str(), 0755) == 0);
    const auto result = test::as_nobody([&] {
        const auto inventory = read_inventory(tree.path());
        if (!inventory) {
            return inventory.error().message;
        }
        std::string text;
        for (const auto& name : names(*inventory)) {
            text += name + '\n';
        }
        for (const auto& note : notes(*inventory)) {
            text += note + '\n';
        }
        return text + inventory->conda.front().name;
    });
    CHECK(::chmod((site + "/b-1.dist-info").c_str(), 0755) == 0);
    CHECK(result == "a 1\nb 1\nc 1\nconda-meta/x-1-0.json: permission denied\n" + k_site +
                        "/a-1.dist-info/RECORD: permission denied\n" + k_site +
                        "/b-1.dist-info: permission denied\nx");
}

TEST_CASE(
    "the prefix is an absolute path that can be opened, whose slashes and dots do not matter") {
    const TemporaryTree tree;
    add_wheel(tree, "a", "1", tree.path() + "/bin/a,,\n");
    CHECK_FALSE(read_inventory("relative"));
    CHECK_FALSE(read_inventory(""));
    CHECK_FALSE(read_inventory("/.//"));
    const auto gone = read_inventory(tree.path() + "/nothing");
    REQUIRE_FALSE(gone);
    CHECK(gone.error().message == "cannot open " + tree.path() + "/nothing: does not exist");
    const auto inventory = read(tree.path() + "/./lib/..//");
    CHECK(inventory.prefix == tree.path());
    CHECK(inventory.distributions.front().files.path(0) == "bin/a");

    const TemporaryTree other;
    other.link("env", tree.path());
    const auto by_link = read(other.path() + "/env");
    CHECK(by_link.prefix == other.path() + "/env");
    CHECK(by_link.sites == Texts{k_site});
    CHECK(by_link.distributions.front().files.path(0) == "bin/a");
}

TEST_CASE("the inventory is the same with one thread and with four") {
    const TemporaryTree tree;
    for (int number = 0; number < 200; ++number) {
        const auto name = "p" + std::to_string(number);
        add_wheel(tree, name, "1", name + "/a.py,,\n,\n");
        tree.file("conda-meta/" + name + "-1-0.json",
                  R"({"name": ")" + name + R"(", "files": ["lib/)" + name + R"("]})");
    }
    const auto one = read(tree.path(), 1);
    const auto four = read(tree.path(), 4);
    REQUIRE(one.distributions.size() == 200);
    CHECK(names(one) == names(four));
    CHECK(notes(one) == notes(four));
    REQUIRE(one.conda.size() == four.conda.size());
    for (std::size_t number = 0; number < one.conda.size(); ++number) {
        CHECK(one.conda[number].name == four.conda[number].name);
        CHECK(one.conda[number].files.path(0) == four.conda[number].files.path(0));
    }
}

} // namespace
} // namespace cudaenv::inventory
