#include "cli/start_rules.hpp"

#include <catch2/catch_test_macros.hpp>

#include <map>
#include <set>
#include <string>

using namespace cudaenv::cli;

namespace {

struct World {
    std::map<std::string, std::string> variables;
    std::set<std::string> files;
    bool terminal = true;
    unsigned uid = 1000;

    [[nodiscard]] StartSituation situation() const {
        return {uid,
                [this](const char* name) {
                    const auto found = variables.find(name);
                    return found == variables.end() ? nullptr : found->second.c_str();
                },
                [this] { return terminal; },
                [this](const char* path) { return files.contains(path); }};
    }
    [[nodiscard]] std::string why_not(StartDaemon wish = StartDaemon::IfTerminal) const {
        return why_not_start(wish, situation());
    }
};

} // namespace

TEST_CASE("an ordinary user's interactive shell leaves a daemon, a script does not") {
    World world;
    CHECK(world.why_not().empty());
    CHECK(world.why_not(StartDaemon::Interactive).empty());
    CHECK(world.why_not(StartDaemon::Never) == "the shell is not interactive");
    world.terminal = false;
    CHECK(world.why_not() == "the shell is not interactive");
    CHECK(world.why_not(StartDaemon::Interactive).empty()); // the hook knows better
}

TEST_CASE("root, CI, batch jobs and containers leave none by themselves, but when asked") {
    for (const auto& [name, value] : std::map<std::string, std::string>{{"CI", "true"},
                                                                        {"SLURM_JOB_ID", "7"},
                                                                        {"container", "podman"},
                                                                        {"JENKINS_URL", "u"}}) {
        const World world{{{name, value}}, {}, true, 1000};
        INFO(name);
        CHECK(world.why_not().ends_with(name + " is set"));
        CHECK(world.why_not(StartDaemon::Asked).empty());
    }
    const World docker{{}, {"/.dockerenv"}, true, 1000};
    CHECK(docker.why_not() == "this is a container: /.dockerenv exists");
    const World root{{}, {}, true, 0};
    CHECK(root.why_not() == "no daemon is started for root");
    CHECK(root.why_not(StartDaemon::Asked).empty());
}

TEST_CASE("CI=false or an empty CI variable does not mean a CI job") {
    CHECK(World{{{"CI", "false"}, {"SLURM_JOB_ID", ""}}, {}, true, 1000}.why_not().empty());
}

TEST_CASE("CUDAENV_START_DAEMON is the user's word for a container, not for a script") {
    World world{{{"CUDAENV_START_DAEMON", "1"}}, {"/.dockerenv"}, true, 0};
    CHECK(world.why_not().empty());
    world.terminal = false;
    CHECK_FALSE(world.why_not().empty());
}

TEST_CASE("CUDAENV_NO_DAEMON, not empty, wants none at all") {
    const World none{{{"CUDAENV_NO_DAEMON", "1"}}, {}, true, 1000};
    CHECK(daemon_is_unwanted(none.situation().variable));
    const World empty{{{"CUDAENV_NO_DAEMON", ""}}, {}, true, 1000};
    CHECK_FALSE(daemon_is_unwanted(empty.situation().variable));
}
