// The resolver against py-rattler's recorded answers over the real channel slices, and each of its
// answers proved by the independent checker.
#include "host/channels/channel_source.hpp"
#include "solver/resolve/resolve.hpp"
#include "solver/specs/match_spec.hpp"
#include "tests/support/checker.hpp"
#include "tests/support/places.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <unistd.h>

namespace cudaenv {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

fs::path slices() {
    return test::shared_path("repodata/slice");
}

json peer_file(const char* name) {
    std::ifstream file(test::source_directory() / "tests/integration/peer" / name);
    return json::parse(file);
}

// A machine of which only is known what conda's virtual packages know.
facts::Host host_of(const json& cuda) {
    facts::Host host;
    host.machine = "x86_64";
    host.kernel = "6.1";
    host.glibc = DottedVersion::of("2.36");
    if (cuda.is_string()) {
        facts::Driver driver;
        driver.cuda = DottedVersion::of(cuda.get<std::string>());
        driver.source = "the case";
        host.driver = driver;
    } else {
        host.driver_absent = "the case has no driver";
    }
    return host;
}

class Channels {
public:
    const resolve::Channel* get(const std::string& name) {
        auto& channel = m_open[name];
        if (!channel) {
            auto opened = channels::open_channel((slices() / name).string(), {});
            INFO(name);
            REQUIRE(opened);
            channel = std::move(*opened);
        }
        return channel.get();
    }

private:
    std::map<std::string, std::unique_ptr<resolve::Channel>> m_open;
};

resolve::Request request_of(const json& test_case) {
    resolve::Request request;
    request.manager = resolve::ManagerChoice::Conda;
    for (const json& spec : test_case.at("specs")) {
        request.specs.push_back({spec.get<std::string>(), "argument"});
    }
    if (test_case.contains("pins")) {
        for (const auto& [name, version] : test_case["pins"].items()) {
            request.pins.push_back({name, version.get<std::string>(), "cudaenv.toml"});
        }
    }
    return request;
}

// What is compared, in the form of peer_answers.json.
json answer_of(const Result<resolve::Outcome>& outcome, const json& test_case) {
    json out{{"solved", outcome && outcome->solved()}};
    if (!out["solved"].get<bool>()) {
        out["reason"] = !outcome                             ? outcome.error().message
                        : outcome->conflict->reasons.empty() ? "no reason"
                                                             : outcome->conflict->reasons[0].text;
        return out;
    }
    out["asked"] = json::object();
    for (const json& spec : test_case.at("specs")) {
        const std::string name = specs::MatchSpec::parse(spec.get<std::string>())->name();
        for (const resolve::ChosenPackage& package : outcome->packages) {
            if (package.name == name) {
                out["asked"][name] = {package.version, package.build};
            }
        }
    }
    return out;
}

bool same(const json& a, const json& b) {
    return a.at("solved") == b.at("solved") &&
           (!a.at("solved").get<bool>() || a.at("asked") == b.at("asked"));
}

std::vector<std::string> proof_faults(const resolve::Outcome& outcome, const json& test_case,
                                      const std::vector<const resolve::Channel*>& channels) {
    test::Claim claim;
    std::vector<std::string> faults;
    for (const resolve::ChosenPackage& package : outcome.packages) {
        specs::PackageRecord record;
        if (!test::find_record(channels, package.name, package.version, package.build, record)) {
            faults.push_back(package.name + " " + package.version + " " + package.build +
                             " is in no channel that may give it");
            continue;
        }
        claim.chosen.push_back(std::move(record));
    }
    for (const json& spec : test_case.at("specs")) {
        claim.specs.push_back(spec.get<std::string>());
    }
    // With no driver and CUDA in the answer the driver is assumed: then any will do.
    const std::string cuda = test_case.at("cuda").is_string()
                                 ? test_case["cuda"].get<std::string>()
                                 : std::string(outcome.driver_assumed ? "99" : "");
    claim.virtual_packages = test::virtual_packages_of(cuda);
    for (std::string& fault : test::violations(claim)) {
        faults.push_back(std::move(fault));
    }
    for (std::string& fault : test::priority_violations(claim.chosen, channels)) {
        faults.push_back(std::move(fault));
    }
    return faults;
}

// The answers are the same under a sanitizer and take twenty times as long: there one case of eight
// is enough to walk the code.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t k_one_of = 8;
#else
constexpr std::size_t k_one_of = 1;
#endif

TEST_CASE(
    "cudaenv and py-rattler agree, but for the differences written down, and every answer holds") {
    const json answers = peer_file("peer_answers.json").at("answers");
    const json known = peer_file("known_differences.json").at("differences");
    const char* only = std::getenv("CUDAENV_PEER_ONLY");   // one case by name, while working on it
    const char* write = std::getenv("CUDAENV_PEER_WRITE"); // a file that gets all our answers
    json all = json::object();
    Channels open;
    std::size_t agreed = 0;
    const json cases = peer_file("peer_cases.json").at("cases");
    std::size_t number = 0;
    for (const json& test_case : cases) {
        const auto name = test_case.at("name").get<std::string>();
        if (only != nullptr ? name != only : number++ % k_one_of != 0) {
            continue;
        }
        std::vector<const resolve::Channel*> channels;
        for (const json& channel : test_case.at("channels")) {
            channels.push_back(open.get(channel.get<std::string>()));
        }
        const auto outcome =
            resolve::resolve(request_of(test_case), host_of(test_case.at("cuda")), channels);
        const json ours = answer_of(outcome, test_case);
        const json& theirs = answers.at(name);
        all[name] = ours;
        CAPTURE(name);
        if (outcome && outcome->solved()) {
            CHECK(proof_faults(*outcome, test_case, channels) == std::vector<std::string>{});
        }
        const bool equal = same(ours, theirs);
        agreed += equal ? 1 : 0;
        if (known.contains(name)) {
            INFO("cudaenv: " << ours.dump() << "\nwritten down: " << known.at(name).dump());
            CHECK_FALSE(equal); // else the entry is out of date
            CHECK(same(ours, known.at(name).at("cudaenv")));
        } else {
            INFO("cudaenv: " << ours.dump() << "\npeer:    " << theirs.dump());
            CHECK(equal);
        }
    }
    if (write != nullptr) {
        std::ofstream(write) << all.dump(1) << '\n';
    }
    std::cerr << agreed << " cases answered as the peer does, " << known.size()
              << " differences written down\n";
    if (only == nullptr) {
        CHECK(agreed >= 120 / k_one_of);
    }
}

TEST_CASE("every difference that is written down is a case and has its reason") {
    const json known = peer_file("known_differences.json").at("differences");
    const json answers = peer_file("peer_answers.json").at("answers");
    for (const auto& [name, difference] : known.items()) {
        CAPTURE(name);
        CHECK(answers.contains(name));
        CHECK(difference.at("reason").get<std::string>().size() > 20);
    }
    CHECK(answers.size() == peer_file("peer_cases.json").at("cases").size());
}

} // namespace
} // namespace cudaenv
