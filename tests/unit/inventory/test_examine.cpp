#include "check/inventory/examine.hpp"
#include "check/inventory/sha256_file.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <sys/stat.h>

namespace cudaenv::inventory {
namespace {

namespace fs = std::filesystem;
using facts::ClaimHash;
using facts::ClaimKind;
using facts::Examined;
using facts::FileClaim;
using facts::Fit;
using facts::Lies;
using facts::Sha256Digest;
using test::as_nobody;
using test::TemporaryTree;

constexpr std::int64_t k_never = std::numeric_limits<std::int64_t>::max();

// Of "one\n", "two\n" and "longer\n".
Sha256Digest digest_of(const std::string& content) {
    Sha256Digest digest{};
    const char* text =
        content == "one\n"   ? "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806"
        : content == "two\n" ? "27dd8ed44a83ff94d557f9fd0412ed5a8cbca69ea04922d88c01184a07300a5a"
                             : "e1a95bdfe6ab659614a2c431e89d20efc6f35fa04f61921775ed26802ca91474";
    REQUIRE(decode_hex(text, digest));
    return digest;
}

FileClaim claim(const std::string& content) {
    FileClaim result;
    result.size = content.size();
    result.hash = ClaimHash::Sha256;
    result.sha256 = digest_of(content);
    return result;
}

FileClaim bare(ClaimKind kind = ClaimKind::File) {
    FileClaim result;
    result.kind = kind;
    return result;
}

using Files = std::vector<std::pair<std::string, FileClaim>>;

facts::FileClaims claims_of(const Files& files) {
    facts::FileClaims result;
    for (const auto& [path, file] : files) {
        result.add(path, file);
    }
    return result;
}

facts::CondaPackage conda(const Files& files, std::int64_t laid_down_ns = k_never) {
    facts::CondaPackage package;
    package.files = claims_of(files);
    package.laid_down_ns = laid_down_ns;
    return package;
}

facts::Distribution wheel(const Files& files, std::int64_t laid_down_ns = k_never) {
    facts::Distribution distribution;
    distribution.files = claims_of(files);
    distribution.laid_down_ns = laid_down_ns;
    return distribution;
}

facts::Inventory inventory_of(const std::string& prefix, std::vector<facts::CondaPackage> conda,
                              std::vector<facts::Distribution> distributions = {}) {
    facts::Inventory inventory;
    inventory.prefix = prefix;
    inventory.conda = std::move(conda);
    inventory.distributions = std::move(distributions);
    return inventory;
}

struct Look {
    Examined examined;
    ExaminationCost cost;
};

Look look(const facts::Inventory& inventory, unsigned threads = 0) {
    Look result;
    DigestCache cache;
    result.examined = examine(inventory, facts::Claims(inventory), cache, threads, &result.cost);
    return result;
}

std::vector<std::string> held(const Examined& examined) {
    static const char* const k_names[] = {"missing", "file",       "link",      "directory",
                                          "other",   "redirected", "unreadable"};
    std::vector<std::string> result;
    for (const auto& [path, state] : examined.states()) {
        result.push_back(path + ": " + k_names[static_cast<int>(state.lies)] +
                         (state.sha256 ? " read" : ""));
    }
    return result;
}
using Texts = std::vector<std::string>;

TEST_CASE("what is as its records say is looked at, and neither read nor held") {
    const TemporaryTree tree;
    tree.file("lib/one", "one\n");
    tree.file("two", "two\n");
    tree.link("lib/link", "nowhere");
    tree.directory("empty");
    const auto result =
        look(inventory_of(tree.path(), {conda({{"lib/one", claim("one\n")},
                                               {"two", claim("two\n")},
                                               {"lib/link", bare(ClaimKind::Softlink)},
                                               {"empty", bare(ClaimKind::Directory)}})}));
    CHECK(held(result.examined).empty());
    CHECK(result.cost.looked_at == 4);
    CHECK(result.cost.hashed == 0);
}

TEST_CASE("what is another thing than its record says is held as what it is") {
    const TemporaryTree tree;
    tree.file("size", "longer\n");
    tree.link("link", "size");
    tree.directory("directory");
    tree.file("not-a-directory", "one\n");
    REQUIRE(::mkfifo((tree.path() + "/pipe").c_str(), 0600) == 0);
    const auto one = claim("one\n");
    const auto result =
        look(inventory_of(tree.path(), {conda({{"size", one},
                                               {"link", one},
                                               {"directory", one},
                                               {"pipe", one},
                                               {"gone", one},
                                               {"gone/with/all", one},
                                               {"not-a-directory/file", one},
                                               {"not-a-directory", bare(ClaimKind::Softlink)},
                                               {std::string(300, 'n'), one}})}));
    CHECK(held(result.examined) ==
          Texts{"directory: directory", "gone: missing", "gone/with/all: missing", "link: link",
                std::string(300, 'n') + ": missing", "not-a-directory: file",
                "not-a-directory/file: missing", "pipe: other", "size: file"});
    CHECK(result.cost.hashed == 0);
    CHECK(fit_of(one, result.examined.find("size")) == Fit::Other);
    CHECK(fit_of(one, result.examined.find("directory")) == Fit::Other);
    CHECK(fit_of(one, result.examined.find("link")) == Fit::Unknown);
    CHECK(fit_of(bare(), result.examined.find("directory")) == Fit::Unknown);
    CHECK(fit_of(bare(ClaimKind::Softlink), result.examined.find("directory")) == Fit::Unknown);
}

TEST_CASE("a file that changed after its record was written is read, of any size and time") {
    const TemporaryTree tree;
    tree.file("same", "one\n");
    tree.file("other", "two\n");
    const auto path = tree.path() + "/other";
    const timespec old[2] = {{1, 0}, {1, 0}}; // the time of change remains
    REQUIRE(::utimensat(AT_FDCWD, path.c_str(), old, 0) == 0);
    const Files files{{"same", claim("one\n")}, {"other", claim("one\n")}};
    const auto result = look(inventory_of(tree.path(), {conda(files, 1)}));
    CHECK(held(result.examined) == Texts{"other: file read"});
    CHECK(result.cost.hashed == 2);
    CHECK(result.examined.find("other")->sha256 == digest_of("two\n"));
    CHECK(fit_of(files[1].second, result.examined.find("other")) == Fit::Other);
    // At the very time of the record counts as later.
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    const auto changed =
        std::int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec;
    const Files other{{"other", claim("one\n")}};
    CHECK(look(inventory_of(tree.path(), {conda(other, changed)})).cost.hashed == 1);
    CHECK(look(inventory_of(tree.path(), {conda(other, changed + 1)})).cost.hashed == 0);
    // conda's record is older or younger than the dist-info that came with it: conda's counts.
    const auto hashed = [&](std::int64_t conda_ns, std::int64_t wheel_ns) {
        return look(inventory_of(tree.path(), {conda(other, conda_ns)}, {wheel(other, wheel_ns)}))
            .cost.hashed;
    };
    CHECK(hashed(changed + 1, 1) == 0);
    CHECK(hashed(1, changed + 1) == 1);
    // Of two wheels with the same file the one that came later does not vouch for the other's.
    CHECK(look(inventory_of(tree.path(), {}, {wheel(other, 1), wheel(other, changed + 1)}))
              .cost.hashed == 1);
}

TEST_CASE("where two records disagree the file decides") {
    const TemporaryTree tree;
    tree.file("site/a.py", "two\n");
    tree.file("site/b.py", "one\n");
    tree.file("site/c.py", "longer\n");
    const auto inventory = inventory_of(tree.path(),
                                        {conda({{"site/a.py", claim("one\n")},
                                                {"site/b.py", claim("one\n")},
                                                {"site/c.py", claim("one\n")}})},
                                        {wheel({{"site/a.py", claim("two\n")},
                                                {"site/b.py", claim("one\n")},
                                                {"site/c.py", claim("two\n")}})});
    const auto result = look(inventory);
    // By its size, c.py belongs to no record.
    CHECK(held(result.examined) == Texts{"site/a.py: file read", "site/c.py: file"});
    const auto* a = result.examined.find("site/a.py");
    CHECK(fit_of(claim("one\n"), a) == Fit::Other);
    CHECK(fit_of(claim("two\n"), a) == Fit::Same);
    CHECK(fit_of(claim("two\n"), result.examined.find("site/c.py")) == Fit::Other);
}

TEST_CASE("a record without a digest beside another's with one gets the file's digest") {
    const TemporaryTree tree;
    tree.file("both", "one\n");
    tree.file("own", "one\n");
    tree.file("nobody", "one\n");
    const auto result = look(
        inventory_of(tree.path(), {conda({{"both", claim("one\n")}, {"nobody", bare()}}, k_never)},
                     {wheel({{"both", bare()}, {"nobody", bare()}}),
                      wheel({{"own", claim("one\n")}, {"own", bare()}})}));
    CHECK(held(result.examined) == Texts{"both: file read"});
    CHECK(fit_of(claim("one\n"), result.examined.find("both")) == Fit::Same);
    CHECK(fit_of(bare(), result.examined.find("both")) == Fit::Unknown);
}

TEST_CASE("the size before a prefix was replaced says nothing") {
    const TemporaryTree tree;
    tree.file("bin/tool", "two\n");
    auto replaced = claim("two\n");
    replaced.size = 1000;
    replaced.prefix_replaced = true;
    CHECK(held(look(inventory_of(tree.path(), {conda({{"bin/tool", replaced}}, 1)})).examined)
              .empty());
    replaced.sha256 = digest_of("one\n");
    CHECK(held(look(inventory_of(tree.path(), {conda({{"bin/tool", replaced}}, 1)})).examined) ==
          Texts{"bin/tool: file read"});
}

TEST_CASE("what differs in healthy environments is not looked at") {
    const TemporaryTree tree;
    tree.file("site/a-1.dist-info/INSTALLER", "longer\n");
    const auto result = look(inventory_of(
        tree.path(), {conda({{"site/a-1.dist-info/INSTALLER", claim("one\n")},
                             {"site/__pycache__/a.cpython-311.pyc", claim("one\n")}})}));
    CHECK(held(result.examined).empty());
    CHECK(result.cost.looked_at == 0);
}

TEST_CASE("a package that links to its source is the user's own, a link inside is not") {
    const TemporaryTree tree;
    const auto env = tree.directory("env");
    tree.file("source/a.py", "two\n");
    tree.file("env/lib/real/b.py", "one\n");
    tree.link("env/lib64", "lib");
    tree.link("env/absolute", env + "/lib");
    tree.link("env/lib/pkg", tree.path() + "/source");
    tree.link("env/lib/up", "../../source");
    tree.link("env/lib/unmounted", "/nowhere/at/all");
    tree.link("env/lib/dangling", "real/none");
    tree.link("env/lib/loop", "loop");
    tree.link("env/lib/env2", tree.path() + "/env2"); // begins alike
    tree.file("env2/a.py", "two\n");
    const auto one = claim("one\n");
    const Files files{{"lib64/real/b.py", one},
                      {"absolute/real/b.py", one},
                      {"lib/pkg/a.py", one},
                      {"lib/pkg/deep/down/a.py", one},
                      {"lib/up/a.py", one},
                      {"lib/unmounted/a.py", one},
                      {"lib/dangling/a.py", one},
                      {"lib/loop/a.py", one},
                      {"lib/env2/a.py", one},
                      {"lib/real/b.py", one},
                      {"lib/unmounted/deep/a.py", one}};
    const Texts expected{"lib/dangling/a.py: missing",          "lib/env2/a.py: redirected",
                         "lib/loop/a.py: unreadable",           "lib/pkg/a.py: redirected",
                         "lib/pkg/deep/down/a.py: redirected",  "lib/unmounted/a.py: redirected",
                         "lib/unmounted/deep/a.py: redirected", "lib/up/a.py: redirected"};
    CHECK(held(look(inventory_of(env, {conda(files)})).examined) == expected);
    // Also by another name of the environment.
    tree.link("name", "env");
    CHECK(held(look(inventory_of(tree.path() + "/name", {conda(files)})).examined) == expected);
    CHECK(fit_of(one, look(inventory_of(env, {conda(files)})).examined.find("lib/pkg/a.py")) ==
          Fit::Unknown);
}

TEST_CASE("what a record has outside of the environment is looked at there") {
    const TemporaryTree tree;
    const auto env = tree.directory("env");
    const auto outside = tree.file("share/one", "one\n");
    const auto one = claim("one\n");
    const auto result = look(inventory_of(env, {},
                                          {wheel({{outside, one},
                                                  {tree.path() + "/share/gone", one},
                                                  {"/nowhere/at/all", one},
                                                  {"/gone", one},
                                                  {"", one}})}));
    CHECK(held(result.examined) == Texts{"/gone: missing", "/nowhere/at/all: missing",
                                         tree.path() + "/share/gone: missing"});
}

TEST_CASE("what may not be read is unreadable, not wrong") {
    const TemporaryTree tree;
    tree.file("closed/a", "one\n");
    tree.file("secret", "one\n");
    tree.file("short", "longer\n");
    const auto result = as_nobody([&] {
        const auto one = claim("one\n");
        const auto examined =
            look(inventory_of(
                     tree.path(),
                     {conda(
                         {{"closed/a", one}, {"secret", one}, {"short", one}, {"closed/b/c", one}},
                         1)}))
                .examined;
        std::string text;
        for (const auto& line : held(examined)) {
            text += line + '\n';
        }
        return text;
    });
    CHECK(result == "closed/b/c: missing\nshort: file\n");
    fs::permissions(tree.path() + "/closed", fs::perms::none);
    fs::permissions(tree.path() + "/secret", fs::perms::none);
    fs::permissions(tree.path() + "/short", fs::perms::none);
    const auto closed = as_nobody([&] {
        const auto one = claim("one\n");
        std::string text;
        for (const auto& line : held(look(inventory_of(tree.path(), {conda({{"closed/a", one},
                                                                            {"secret", one},
                                                                            {"short", one},
                                                                            {"closed/b/c", one}},
                                                                           1)}))
                                         .examined)) {
            text += line + '\n';
        }
        return text;
    });
    fs::permissions(tree.path() + "/closed", fs::perms::owner_all);
    CHECK(closed ==
          "closed/a: unreadable\nclosed/b/c: unreadable\nsecret: unreadable\nshort: file\n");
}

TEST_CASE("an environment that is gone holds all as missing") {
    const TemporaryTree tree;
    const auto result = look(
        inventory_of(tree.path() + "/gone", {conda({{"a", claim("one\n")}, {"b/c", bare()}})}));
    CHECK(held(result.examined) == Texts{"a: missing", "b/c: missing"});
}

TEST_CASE("names are bytes, and the result is the same for any number of threads") {
    const TemporaryTree tree;
    Files files;
    for (int number = 0; number < 3000; ++number) {
        const auto path =
            "d\n " + std::to_string(number % 500) + "/caf\xe9 " + std::to_string(number);
        if (number % 7 != 0) {
            tree.file(path, number % 5 == 0 ? "two\n" : "one\n");
        }
        files.emplace_back(path, claim("one\n"));
    }
    const auto inventory = inventory_of(tree.path(), {conda(files, 1)});
    const auto one = look(inventory, 1);
    CHECK(one.examined.states().size() == 429 + 514);
    CHECK(held(look(inventory, 4).examined) == held(one.examined));
    CHECK(held(look(inventory, 64).examined) == held(one.examined));
}

TEST_CASE("what was read once is taken from the cache until it changes") {
    const TemporaryTree tree;
    const auto path = tree.file("a", "one\n");
    const auto inventory = inventory_of(tree.path(), {conda({{"a", claim("one\n")}}, 1)});
    const facts::Claims claims(inventory);
    DigestCache cache;
    ExaminationCost cost;
    // The first looks may come within the tick of the clock in which the file was made.
    while (cost.from_cache == 0) {
        cost = {};
        CHECK(examine(inventory, claims, cache, 0, &cost).states().empty());
    }
    CHECK(cost.hashed == 0);
    struct stat before {};
    REQUIRE(::stat(path.c_str(), &before) == 0);
    tree.file("a", "two\n");
    const timespec times[2] = {before.st_atim, before.st_mtim};
    REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
    cost = {};
    CHECK(held(examine(inventory, claims, cache, 0, &cost)) == Texts{"a: file read"});
    CHECK(cost.hashed == 1);
}

TEST_CASE("a file that is another one than was looked at has no digest") {
    const TemporaryTree tree;
    const auto path = tree.file("a", "one\n");
    const auto directory = ::open(tree.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    FileHasher hasher;
    auto expected = FileIdentity::of(status);
    CHECK(hasher.hash(directory, "a", expected).value() == digest_of("one\n"));
    CHECK(hasher.hash(directory, "a", expected).value() == digest_of("one\n"));
    CHECK(hasher.hash(directory, "a", expected, [] { return false; }).error().code == k_stopped);
    ++expected.inode;
    CHECK(hasher.hash(directory, "a", expected).error().code == "changed");
    CHECK(hasher.hash(directory, "b", expected).error().code == "not-found");
    tree.link("link", "a");
    CHECK_FALSE(hasher.hash(directory, "link", expected));
    REQUIRE(::mkfifo((tree.path() + "/pipe").c_str(), 0600) == 0);
    CHECK(hasher.hash(directory, "pipe", expected).error().code == "not-a-file");
    ::close(directory);
}

} // namespace
} // namespace cudaenv::inventory
