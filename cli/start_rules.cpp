#include "cli/start_rules.hpp"

#include <array>
#include <string_view>
#include <sys/auxv.h>
#include <termios.h>
#include <unistd.h>

namespace cudaenv::cli {

namespace {

// Set by the systems themselves, as their documentation says.
constexpr auto k_batch_systems = std::to_array<const char*>(
    {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "SGE_TASK_ID", "COBALT_JOBID", "FLUX_JOB_ID",
     "OAR_JOB_ID", "PJM_JOBID", "LOADL_STEP_ID", "_CONDOR_SCRATCH_DIR"});
constexpr auto k_ci_systems =
    std::to_array<const char*>({"CI", "GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL", "TF_BUILD",
                                "TEAMCITY_VERSION", "BUILDKITE"});
constexpr auto k_container_variables = std::to_array<const char*>(
    {"container", "APPTAINER_CONTAINER", "SINGULARITY_CONTAINER", "KUBERNETES_SERVICE_HOST"});
constexpr auto k_container_files =
    std::to_array<const char*>({"/.dockerenv", "/run/.containerenv"});

bool is_set(const StartSituation& situation, const char* name) {
    const char* value = situation.variable(name);
    return value != nullptr && *value != '\0';
}

// CI=false and CI=0 switch it off.
bool is_true(const StartSituation& situation, const char* name) {
    const char* value = situation.variable(name);
    const std::string_view text = value == nullptr ? "" : value;
    return !text.empty() && text != "0" && text != "false";
}

} // namespace

StartSituation start_situation() {
    return {static_cast<unsigned>(::getauxval(AT_EUID)), ::getenv,
            [] {
                termios ignored{};
                return ::tcgetattr(STDIN_FILENO, &ignored) == 0 &&
                       ::tcgetattr(STDERR_FILENO, &ignored) == 0;
            },
            [](const char* path) { return ::access(path, F_OK) == 0; }};
}

bool daemon_is_unwanted(const std::function<const char*(const char* name)>& variable) {
    const char* value = variable("CUDAENV_NO_DAEMON");
    return value != nullptr && *value != '\0';
}

std::string why_not_start(StartDaemon wish, const StartSituation& situation) {
    if (wish == StartDaemon::Asked) {
        return {};
    }
    if (wish == StartDaemon::Never ||
        (wish == StartDaemon::IfTerminal && !situation.at_terminal())) {
        return "the shell is not interactive";
    }
    if (is_set(situation, "CUDAENV_START_DAEMON")) {
        return {};
    }
    if (situation.uid == 0) {
        return "no daemon is started for root";
    }
    for (const char* name : k_ci_systems) {
        if (is_true(situation, name)) {
            return std::string("this is a CI job: ") + name + " is set";
        }
    }
    for (const char* name : k_batch_systems) {
        if (is_set(situation, name)) {
            return std::string("this is a batch job: ") + name + " is set";
        }
    }
    for (const char* name : k_container_variables) {
        if (is_set(situation, name)) {
            return std::string("this is a container: ") + name + " is set";
        }
    }
    for (const char* path : k_container_files) {
        if (situation.exists(path)) {
            return std::string("this is a container: ") + path + " exists";
        }
    }
    return {};
}

} // namespace cudaenv::cli
