// One question to the daemon: the only place that decides how to reach it and how long to wait.
#pragma once

#include "base/result.hpp"
#include "cli/connection.hpp"
#include "protocol/message.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cudaenv::cli {

// Whether to say on standard error why no daemon answered (-v).
enum class ExplainNoDaemon { No, Yes };

// What this process does after the answer. Execs: it becomes a command of the user's (`run`). A
// daemon started now would be that command's child, so none is started.
enum class Afterwards { Ends, Execs };

// How long an answer may take before the question fails.
std::chrono::seconds deadline_of(std::string_view method, const nlohmann::json& params);

struct AskWishes {
    ExplainNoDaemon explain = ExplainNoDaemon::No;
    Afterwards afterwards = Afterwards::Ends;
    // Called with each progress report during the wait; may be empty.
    std::function<void(const protocol::Progress&)> on_progress = {};
    // Shorter than deadline_of.
    std::optional<std::chrono::milliseconds> deadline = {};
};

// Questions of one method over one connection, one after the other.
class Conversation {
public:
    // Errors: those of Connection.
    static Result<Conversation> open(std::string_view method, const nlohmann::json& params,
                                     const AskWishes& wishes = {});
    Result<protocol::Reply> ask(nlohmann::json params, const protocol::Caller& caller);

private:
    Conversation(std::string_view method, const AskWishes& wishes, Connection connection)
        : m_method(method), m_wishes(wishes), m_connection(std::move(connection)) {}

    std::string m_method;
    AskWishes m_wishes;
    Connection m_connection;
};

// One question. Errors: those of Connection.
Result<protocol::Reply> ask_daemon(std::string_view method, nlohmann::json params,
                                   const protocol::Caller& caller, const AskWishes& wishes = {});

} // namespace cudaenv::cli
