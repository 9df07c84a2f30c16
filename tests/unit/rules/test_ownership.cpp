#include "tests/unit/rules/context_builder.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::rules::testing {
namespace {

using facts::Sha256Digest;

// Of the environment's only distribution.
Owned owned(ContextBuilder& env, std::uint32_t distribution = 0) {
    return env.context().ownership.of(distribution);
}

TEST_CASE("the tests' SHA-256 is that of the standard's example") {
    const auto digest = cudaenv::testing::sha256("abc");
    CHECK(digest[0] == 0xba);
    CHECK(digest[1] == 0x78);
    CHECK(digest[31] == 0xad);
}

TEST_CASE("the digests of what installers write are those of their words") {
    for (const std::string word : {"pip", "uv", "conda", "conda-pypi", "uv-pixi"}) {
        CHECK(installer_of(cudaenv::testing::sha256(word)) == word);
        CHECK(installer_of(cudaenv::testing::sha256(word + '\n')) == word);
    }
    CHECK(installer_of(cudaenv::testing::sha256("poetry\n")).empty());
    CHECK(installer_of(Sha256Digest{}).empty());
}

TEST_CASE("an environment of conda's and pip's packages side by side has no finding") {
    ContextBuilder env;
    auto [package, distribution] = env.conda_python("numpy", "1.26.4");
    env.file(package, env.site() + "/numpy/core.py", "conda's");
    env.claim(distribution, env.site() + "/numpy/core.py", "conda's");
    env.file(env.pip("six", "1.16.0"), env.site() + "/six.py", "six");
    CHECK(env.codes().empty());
    CHECK(env.codes(CheckDepth::Records).empty());
    CHECK(owned(env, 0).owner == Owner::Conda);
    CHECK(owned(env, 0).conda == 0);
    CHECK(owned(env, 1).owner == Owner::Pip);
    CHECK_FALSE(owned(env, 1).conda);
}

TEST_CASE("a dist-info whose INSTALLER pip rewrote is pip's, and conda's package is named") {
    for (const std::string installer : {"pip", "uv", "poetry 1.8.3"}) {
        ContextBuilder env;
        env.conda("python", "3.11.9");
        auto [package, distribution] = env.conda_python("pytorch", "2.4.1", "torch");
        distribution.installer = installer;
        const auto found = owned(env);
        CHECK(found.owner == Owner::Pip);
        CHECK(found.conda == 1);
        CHECK(found.took_over);
    }
}

TEST_CASE("a conda package that shipped INSTALLER with pip in it is conda's own") {
    ContextBuilder env;
    auto& package = env.conda("six", "1.16.0");
    auto& distribution = env.pip("six", "1.16.0");
    for (const auto* name : {"METADATA", "WHEEL", "INSTALLER", "RECORD"}) {
        const auto path = distribution.metadata + '/' + name;
        env.claim(package, path, env.disk[path]);
    }
    CHECK(owned(env).owner == Owner::Conda);

    SECTION("and is pip's as soon as uv has written it") {
        distribution.installer = "uv";
        CHECK(owned(env).owner == Owner::Pip);
    }
    SECTION("and stays conda's where INSTALLER names an unknown installer") {
        env.inventory.conda[0].files = {};
        env.claim(package, distribution.metadata + "/METADATA", "x");
        env.claim(package, distribution.metadata + "/INSTALLER", "a feedstock's own\n");
        distribution.installer = "a feedstock's own";
        CHECK(owned(env).owner == Owner::Conda);
    }
    SECTION("and stays conda's where conda's record has no digest") {
        env.inventory.conda[0].files = {};
        package.files.add(distribution.metadata + "/METADATA", {});
        package.files.add(distribution.metadata + "/INSTALLER", {});
        CHECK(owned(env).owner == Owner::Conda);
    }
}

TEST_CASE("an INSTALLER that conda's package did not contain is that of the new owner") {
    ContextBuilder env;
    auto& package = env.conda("six", "1.16.0");
    auto& distribution = env.pip("six", "1.16.0");
    env.claim(package, distribution.metadata + "/METADATA", "x");
    CHECK(owned(env).owner == Owner::Pip);
    CHECK(owned(env).took_over);
    distribution.installer.clear();
    CHECK(owned(env).owner == Owner::Conda);
}

TEST_CASE("another version of pip's is joined with conda's package by the name of its metadata") {
    ContextBuilder env;
    auto [package, distribution] = env.conda_python("pytorch", "2.4.1", "torch");
    static_cast<void>(package);
    env.pip("torch", "2.5.0");
    CHECK(owned(env, 0).owner == Owner::Conda);
    CHECK(owned(env, 1).owner == Owner::Pip);
    CHECK(owned(env, 1).conda == 0);
    CHECK_FALSE(owned(env, 1).took_over); // conda's is still there

    env.uninstall(0);
    CHECK(owned(env, 0).conda == 0);
    CHECK(owned(env, 0).took_over);
    const auto& shipped = env.context().ownership.shipped();
    REQUIRE(shipped.size() == 1);
    CHECK(shipped[0].name == "torch");
    CHECK(shipped[0].version == "2.4.1");
    CHECK(shipped[0].gone);
    static_cast<void>(distribution);
}

TEST_CASE("metadata that could not be read is not gone") {
    ContextBuilder env;
    env.conda_python("six", "1.16.0");
    env.uninstall(0);
    env.inventory.notes.push_back({env.site(), "permission denied"});
    CHECK_FALSE(env.context().ownership.shipped().at(0).gone);
}

TEST_CASE("what a conda package carries of others in a directory of its own is not its name") {
    ContextBuilder env;
    auto& package = env.conda("setuptools", "75.0");
    env.file(package, env.site() + "/setuptools/_vendor/wheel-0.43.dist-info/METADATA", "x");
    env.file(package, "lib/python3.9/site-packages/six-1.15.dist-info/METADATA", "x");
    env.pip("wheel", "0.44");
    env.pip("six", "1.16.0");
    CHECK_FALSE(owned(env, 0).conda);
    CHECK_FALSE(owned(env, 1).conda);
}

TEST_CASE("egg-infos of conda's are joined by name as well") {
    ContextBuilder env;
    auto& package = env.conda("pytorch", "1.12.1");
    env.claim(package, env.site() + "/torch-1.12.1-py3.11.egg-info/PKG-INFO", "x");
    env.claim(package, env.site() + "/PyYAML-6.0-py3.11.egg-info", "x");
    env.pip("torch", "2.0");
    env.pip("pyyaml", "6.1");
    CHECK(owned(env, 0).conda == 0);
    CHECK(owned(env, 1).conda == 0);
    CHECK(env.context().ownership.shipped()[1].version == "6.0");
}

TEST_CASE(
    "without INSTALLER in dist-packages or /usr, or with the system's own, it is the system's") {
    ContextBuilder env;
    env.inventory.sites = {"lib/python3/dist-packages"};
    env.bare("requests", "2.28.1", "");
    CHECK(owned(env).owner == Owner::System);
    env.inventory.distributions[0].installer = "pip";
    CHECK(owned(env).owner == Owner::Pip);
    env.inventory.distributions[0].installer = "debian";
    CHECK(owned(env).owner == Owner::System);
    env.inventory.distributions[0].installer = "rpm";
    env.inventory.distributions[0].site = "lib/python3.11/site-packages";
    CHECK(owned(env).owner == Owner::System);
    env.inventory.distributions[0].installer.clear();
    CHECK(owned(env).owner == Owner::Pip);
    env.inventory.prefix = "/usr";
    CHECK(owned(env).owner == Owner::System);
}

TEST_CASE("an egg is conda's where its package has it, and beside conda's package it is apart") {
    ContextBuilder env;
    env.conda_python("six", "1.16.0");
    auto& egg = env.pip("six", "1.17.0");
    egg.kind = facts::DistributionKind::EggDirectory;
    egg.metadata = egg.site = env.site() + "/six-1.17.0-py3.11.egg";
    egg.installer.clear();
    egg.has_record = false;
    egg.files = {};
    CHECK(owned(env, 1).owner == Owner::Pip);
    CHECK_FALSE(owned(env, 1).conda);
    CHECK(env.codes(CheckDepth::Records).empty());
    env.file(env.conda("old-six", "1.17.0"), egg.metadata + "/EGG-INFO/PKG-INFO", "Name: six\n");
    CHECK(owned(env, 1).owner == Owner::Conda);
}

TEST_CASE("files that installers rewrite and compiled Python differ ordinarily, scripts and code "
          "do not") {
    for (const auto* path :
         {"lib/python3.11/site-packages/a-1.dist-info/INSTALLER",
          "lib/python3.11/site-packages/a-1.dist-info/RECORD",
          "lib/python3.11/site-packages/a-1.dist-info/REQUESTED",
          "lib/python3.11/site-packages/a-1.dist-info/direct_url.json",
          "lib/python3.11/site-packages/a-1.dist-info/uv_cache.json", "a/b.pyc",
          "a/__pycache__/b.cpython-311.pyc", "a/__pycache__", "__pycache__/six.cpython-311.pyc"}) {
        CHECK(is_ordinary_difference(path));
    }
    for (const auto* path :
         {"lib/python3.11/site-packages/a-1.dist-info/METADATA", "bin/a", "a/RECORD", "RECORD",
          "a/INSTALLER", "a/b.py", "a/b__pycache__c/d.py", ""}) {
        CHECK_FALSE(is_ordinary_difference(path));
    }
}

} // namespace
} // namespace cudaenv::rules::testing
