// Real answers of the real methods against the schemas that `cudaenv schema` prints.
#include "daemon/schemas/schemas.hpp"
#include "daemon/service.hpp"
#include "schema_checker.hpp"
#include "solver/facts/probe.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <unistd.h>

using namespace cudaenv;

namespace {

namespace fs = std::filesystem;

nlohmann::json schema_named(std::string_view name) {
    for (const daemon::Schema& schema : daemon::schemas()) {
        if (schema.name == name) {
            return nlohmann::json::parse(schema.text);
        }
    }
    FAIL("no schema " << name);
    return {};
}

// A home and a project of their own, gone afterwards.
class Scratch {
public:
    Scratch() {
        std::string pattern = (fs::temp_directory_path() / "cudaenv-schemas-XXXXXX").string();
        REQUIRE(::mkdtemp(pattern.data()) != nullptr);
        m_path = fs::canonical(pattern).string();
    }
    ~Scratch() {
        std::error_code ignored; // a leftover in the temporary directory is harmless
        fs::remove_all(m_path, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    // With a leftover of an uninstall, and a name that is no UTF-8.
    [[nodiscard]] std::string environment_with_a_leftover() const {
        const fs::path prefix = fs::path(m_path) / "env";
        const fs::path site = prefix / "lib/python3.11/site-packages";
        fs::create_directories(prefix / "conda-meta");
        fs::create_directories(site / "~ame-1.0.dist-info");
        fs::create_directories(site / "~\xff");
        std::ofstream(site / "~ame-1.0.dist-info/METADATA") << "Name: name\nVersion: 1.0\n";
        return prefix.string();
    }

    nlohmann::json ask(const std::string& method, nlohmann::json params) const {
        protocol::Caller caller;
        caller.cwd = m_path;
        caller.environment = {{"HOME", m_path}, {"PATH", "/usr/bin:/bin"}};
        caller.uid = ::geteuid();
        static const daemon::Service k_service = daemon::make_service();
        const auto response = k_service.answer({1, method, std::move(params), caller});
        if (!response.result) {
            FAIL(method << ": " << response.result.error().message);
        }
        return response.result->at("object");
    }

private:
    std::string m_path;
};

void check_fits(const nlohmann::json& object) {
    const auto schema_id = object.at("schema").get<std::string>(); // cudaenv.host/1
    const std::string name = schema_id.substr(8, schema_id.find('/') - 8);
    const auto wrong = test::violations(schema_named(name), object);
    for (const std::string& one : wrong) {
        UNSCOPED_INFO(one);
    }
    INFO(object.dump(1));
    CHECK(wrong.empty());
}

} // namespace

TEST_CASE("the schema of a probe admits the word of every rung") {
    const std::regex pattern(
        schema_named("probe")
            .at(nlohmann::json::json_pointer("/properties/steps/items/properties/name/pattern"))
            .get<std::string>());
    for (const facts::RungRow& rung : facts::k_rungs) {
        CHECK(std::regex_search(std::string(rung.word), pattern));
    }
}

TEST_CASE("what each method answers is what its schema says") {
    const Scratch scratch;
    check_fits(scratch.ask("host", {}));
    check_fits(scratch.ask("host", {{"driver", "470.199.02"}, {"gpu", {"8.6"}}}));
    check_fits(scratch.ask("toolkits", {}));
    check_fits(scratch.ask("status", {}));
    check_fits(scratch.ask("activate", nlohmann::json::object()));
    check_fits(scratch.ask("activate", {{"cuda", "11.3"}, {"shell", "bash"}, {"watch", true}}));
    check_fits(
        scratch.ask("pin", {{"arguments", {"11.3", "torch=1.12"}}, {"driver", "470.199.02"}}));
    check_fits(scratch.ask("pin", nlohmann::json::object()));
    check_fits(scratch.ask("status", {{"driver", "470.199.02"}}));
    check_fits(scratch.ask("unpin", {{"arguments", {"torch"}}}));
    check_fits(scratch.ask("config", {{"arguments", {"list"}}}));
    check_fits(scratch.ask("config", {{"arguments", {"set", "resolve.for", "build"}}}));
    check_fits(scratch.ask("config", {{"arguments", {"path"}}}));
    const std::string prefix = scratch.environment_with_a_leftover();
    const auto checked = scratch.ask("check", {{"prefix", prefix}, {"ignore", {"CE150"}}});
    check_fits(checked);
    CHECK_FALSE(checked["findings"].empty());
}

TEST_CASE("a solved resolution, a conflict and their findings fit the schema") {
    const Scratch scratch;
    const auto solved = scratch.ask("resolve", {{"arguments", {"torch", "torchvision"}},
                                                {"cuda", "11.3"},
                                                {"python", "3.9"},
                                                {"driver", "470.199.02"},
                                                {"gpu", {"8.6"}}});
    check_fits(solved);
    CHECK(solved["status"] == "solved");
    const auto assumed = scratch.ask(
        "resolve",
        {{"arguments", {"torch"}}, {"cuda", "11.3"}, {"driver", "none"}, {"for", "run"}});
    check_fits(assumed);
    REQUIRE_FALSE(assumed["warnings"].empty());
    const auto finding = test::violations(schema_named("finding"), assumed["warnings"][0]);
    CHECK(finding.empty());
    const auto conflict = scratch.ask("explain", {{"arguments", {"torch==2.4"}},
                                                  {"cuda", "12.1"},
                                                  {"driver", "470.199.02"},
                                                  {"gpu", {"8.6"}}});
    check_fits(conflict);
    CHECK(conflict["status"] == "conflict");
    CHECK_FALSE(conflict["conflict"]["fixes"].empty());
}

TEST_CASE("a value that a schema does not allow is found") {
    const auto schema = schema_named("resolve");
    const Scratch scratch;
    auto object = scratch.ask("resolve", {{"arguments", {"torch"}}, {"driver", "580.95.05"}});
    CHECK(test::violations(schema, object).empty());
    object["status"] = "perhaps";
    object["packages"][0]["manager"] = "apt";
    object.erase("commands");
    CHECK(test::violations(schema, object).size() == 3);
}

TEST_CASE("every schema names itself and is what the client offers") {
    REQUIRE(daemon::schemas().size() == 16);
    for (const daemon::Schema& schema : daemon::schemas()) {
        CHECK(nlohmann::json::parse(schema.text)["title"] ==
              "cudaenv." + std::string(schema.name) + "/1");
    }
}
