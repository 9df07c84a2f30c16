#include "cli/ask.hpp"

#include "base/text.hpp"
#include "cli/connection.hpp"
#include "cli/report.hpp"
#include "protocol/json_field.hpp"
#include "protocol/patience.hpp"
#include "protocol/wanted_variables.hpp"

#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

namespace cudaenv::cli {

namespace {

constexpr std::chrono::seconds k_deadline{60};
// A first solve may have to read a channel of hundreds of megabytes from a slow disk.
constexpr std::chrono::seconds k_solve_deadline{600};

bool solves(std::string_view method) {
    return method == "resolve" || method == "explain" || method == "pin";
}

// Gigabytes may have to be copied and compared.
bool copies(std::string_view method) {
    return method == "keep" || method == "check.fix";
}

// May take as long as there are gigabytes, and says each second that it goes on.
bool reports_progress(std::string_view method) {
    return method == "check" || copies(method);
}

bool probes(std::string_view method, const nlohmann::json& params) {
    return method == "probe" || (method == "host" && params.value("probe", false));
}

// It happens once, by this process's own child, with this shell's umask and groups.
bool writes(std::string_view method) {
    return method == "pin" || method == "unpin" || method == "config" || copies(method);
}

// Of this process's environment; null where one is not set.
nlohmann::json variables_named(const std::string& names) {
    nlohmann::json variables = nlohmann::json::object();
    for (const std::string_view name : split(names, ' ')) {
        const char* const value = std::getenv(std::string(name).c_str());
        variables[std::string(name)] =
            value == nullptr ? nlohmann::json() : protocol::bytes_to_json(value);
    }
    return variables;
}

} // namespace

std::chrono::seconds deadline_of(std::string_view method, const nlohmann::json& params) {
    return solves(method) || copies(method) ? k_solve_deadline
           : probes(method, params)         ? protocol::k_probe_patience
                                            : k_deadline;
}

Result<protocol::Reply> ask_daemon(std::string_view method, nlohmann::json params,
                                   const protocol::Caller& caller, const AskWishes& wishes) {
    CUDAENV_TRY(auto connection, Connection::open({.daemon = !writes(method),
                                                   .start = wishes.afterwards == Afterwards::Execs
                                                                ? StartDaemon::Never
                                                                : StartDaemon::IfTerminal,
                                                   .on_progress = wishes.on_progress}));
    const auto deadline =
        wishes.deadline.value_or(std::chrono::milliseconds(deadline_of(method, params)));
    if (reports_progress(method) || (wishes.on_progress && probes(method, params))) {
        params["progress"] = true;
    }
    auto reply = connection.ask({0, std::string(method), params, caller}, deadline);
    if (!reply && reply.error().code == protocol::k_wants_variables) {
        params[protocol::k_wanted_variables] = variables_named(reply.error().hint);
        reply = connection.ask({0, std::string(method), std::move(params), caller}, deadline);
    }
    if (wishes.tell == TellWay::Yes && !connection.from_daemon() &&
        !connection.why_no_daemon().empty()) {
        say("answered without the daemon: " + connection.why_no_daemon());
    }
    return reply;
}

} // namespace cudaenv::cli
